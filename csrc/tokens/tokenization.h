// The WordPiece ids of many spans, computed on many threads. They are the input of a transformer or of a GPU.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/buffer.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// The result of WordPiece::encode() for all spans [bounds[i], bounds[i + 1]) of the text. It is the same for any number
// of threads.
struct Tokens {
  Buffer<int32_t> ids;
  Buffer<int64_t> offsets;     // one more than there are spans
  Buffer<int64_t> counts;      // of each span, as budgets count them
  Buffer<int64_t> byte_spans;  // two per token, if requested
};
Tokens tokenize(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> bounds, bool byte_spans,
                int threads);

}  // namespace pychunk
