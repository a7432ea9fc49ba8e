// WordPiece ids of many spans on many threads: what a transformer, or a GPU, is given.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/buffer.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// As WordPiece::encode() of all spans [bounds[i], bounds[i + 1]) of the text; the same for any number of threads.
struct Tokens {
  Buffer<int32_t> ids;
  Buffer<int64_t> offsets;     // one more than there are spans
  Buffer<int64_t> counts;      // of each span, as budgets count them
  Buffer<int64_t> byte_spans;  // two a token, if wanted
};
Tokens tokenize(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> bounds, bool byte_spans,
                int threads);

}  // namespace pychunk
