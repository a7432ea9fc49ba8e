// Sentences of a batch, for what looks at them from outside the engine.
#pragma once
#include <cstdint>

#include "common/buffer.h"
#include "document/inputs.h"

namespace pychunk {

// Sentences of all documents, given ones and borders of given pages respected: where they begin in their document
// (they tile it), their SentenceFlags, and doc_offsets, one more than documents.
struct SentenceTable {
  Buffer<int64_t> starts;
  Buffer<int64_t> doc_offsets;
  Buffer<uint8_t> flags;
};
SentenceTable split(const Inputs& inputs);

// Positions in characters, rising in each document, as bytes of the document. Throws std::invalid_argument, naming
// `what` and the document, for one that is negative, no more than the one before it, or beyond the text.
Buffer<int64_t> bytes_of_characters(const Texts& texts, const Ragged<int64_t>& characters, const char* what,
                                    int64_t first_row, int threads);

}  // namespace pychunk
