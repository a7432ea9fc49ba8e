// The rows of one document's chunks: spans in characters, scores, kinds, pages and vectors.
#pragma once
#include "document/document.h"
#include "document/inputs.h"
#include "segment/chunker.h"
#include "segment/table.h"

namespace pychunk {

// Append the rows to `out`.
void write_rows(const Inputs& inputs, Document& document, const Chunking& chunking, Slabs& slabs, ChunkBlock& out);

}  // namespace pychunk
