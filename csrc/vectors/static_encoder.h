// The static encoder's vectors for token ids, for a text, and for many texts.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/buffer.h"
#include "common/view.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// Writes one unit vector of table.cols values for each run of ids [offsets[i], offsets[i + 1]): the exact sum of their
// rows, scaled. Ids after the last run are only prefetched, as they may belong to the next call.
void embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids, std::span<const int64_t> offsets,
                    float* out);

// Writes the unit vector of a text.
void encode_static(std::string_view text, const WordPiece& tokenizer, const Matrix<const int8_t>& table, float* out);

// Returns the unit vectors of many runs of ids, float[runs, table.cols], computed on `threads` threads.
Buffer<float> embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids,
                             std::span<const int64_t> offsets, int threads);

// Returns the unit vectors of many runs of rows of a table: their sums, each row times its weight, in their order.
//
// 24,500 sentences of 3 MB have 663,000 tokens. Their rows of 256 int16 are 340 MB, 8 ms from the second-level cache;
// the output of 25 MB is 6 ms, most of it first touches of its pages. That, and 11 ms for the tokens, are 120 MB/s.
// model2vec has 2 MB/s, so 100 times its rate is more than the tokenizer alone has.
Buffer<float> weighted_bags(const Matrix<const int16_t>& table, std::span<const int32_t> rows,
                            std::span<const float> weights, std::span<const int64_t> offsets, int threads);

// Returns the unit vectors of texts, float[texts, table.cols].
Buffer<float> encode_static(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                            int threads);

// Returns the same for texts, each encoded as a chunk with this text: the unit vector of the sum of its sentences'
// vectors, each times its number of tokens, or once if there are no tokens. Of 2,332 paths of headings, each took 0.7
// us. As chunks of segment(), which also makes the rows of a chunk table, each took 1.8 us.
Buffer<float> encode_passages(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                              int threads);

}  // namespace pychunk
