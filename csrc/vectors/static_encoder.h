// Vectors by the static encoder: of token ids, of a text, of many texts.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/buffer.h"
#include "common/view.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// One unit vector, table.cols values, for each run of ids [offsets[i], offsets[i + 1]): the sum of their rows, exact,
// then scaled. Ids behind the last run are only asked for early, as those of the next call may be.
void embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids, std::span<const int64_t> offsets,
                    float* out);

// The unit vector of a text.
void encode_static(std::string_view text, const WordPiece& tokenizer, const Matrix<const int8_t>& table, float* out);

// The same of many runs, on `threads` threads.
Buffer<float> embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids,
                             std::span<const int64_t> offsets, int threads);

// Unit vectors of texts, rows x table.cols.
Buffer<float> encode_static(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                            int threads);

}  // namespace pychunk
