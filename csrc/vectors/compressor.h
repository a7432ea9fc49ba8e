// The compression encoder: vectors of spans of sentences by learned attention and a low-rank map. Trained by
// training/compressor.py on leads of articles, from what comes after them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"
#include "vectors/level_spans.h"

namespace pychunk {

// What attention knows of the place of sentence i of n, of t tokens: l = log2(1 + t) / 4, l^2, i / n, (i / n)^2 and
// 1 / (1 + i). log2 is on a line between powers of two.
constexpr int64_t kPlaceFeatures = 5;

// With x_i the sentences' vectors, f_i those features and s = log2(1 + n) / 4, by which a node's level is known:
//   score_h,i = x_i . queries_h + f_i . (places_h + s places'_h)
//   w_i = sum over h of mix_h exp(score_h,i) / (sum over j of exp(score_h,j))
//   m = (sum over i of w_i x_i), of unit length
//   y = (m + bias + s bias' + (m down) up), of unit length
// A node whose m is zero stays zero.
struct Compressor {
  Matrix<const float> queries;  // [heads, dim]
  Matrix<const float> places;   // [2 * kPlaceFeatures, heads]
  std::span<const float> mix;   // [heads]
  Matrix<const float> down;     // [dim, rank], rank a multiple of 16
  Matrix<const float> up;       // [rank, dim], dim a multiple of 16
  Matrix<const float> bias;     // [2, dim]
};

// One array [nodes, dim] a level; arguments as for span_vectors, but that no node crosses a document. The same bits
// everywhere: exp is a fixed sequence of IEEE operations.
// Floor: that of span_vectors, `heads` products with each sentence's vector, and 4 * dim * rank operations a node.
std::vector<Buffer<float>> compressed_vectors(const Compressor& model, const Matrix<const float>& vectors,
                                              std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                              const std::vector<Spans>& levels, int threads);

}  // namespace pychunk
