// The rows of one document's chunks: spans in characters, scores, kinds, pages, vectors.
#pragma once
#include "chunker.h"
#include "document.h"
#include "inputs.h"
#include "table.h"

namespace pychunk {

// Appends them to `out`.
void write_rows(const Inputs& inputs, Document& document, const Chunking& chunking, Slabs& slabs, ChunkBlock& out);

}  // namespace pychunk
