// The sentences of a batch, for callers outside the engine.
#pragma once
#include <cstdint>

#include "common/buffer.h"
#include "document/inputs.h"

namespace pychunk {

// The sentences of all documents, which tile them. Sentences and page boundaries that the caller passed are kept.
// `starts` counts from the start of each document, `flags` holds SentenceFlags, and `doc_offsets` has one entry more
// than there are documents.
struct SentenceTable {
  Buffer<int64_t> starts;
  Buffer<int64_t> doc_offsets;
  Buffer<uint8_t> flags;
};
SentenceTable split(const Inputs& inputs);

// Convert positions in characters, which must rise within each document, to bytes of the document. Throw
// std::invalid_argument, which names `what` and the document, for a position that is negative, not above the previous
// one, or beyond the text.
Buffer<int64_t> bytes_of_characters(const Texts& texts, const Ragged<int64_t>& characters, const char* what,
                                    int64_t first_row, int threads);

}  // namespace pychunk
