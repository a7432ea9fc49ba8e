// The compression encoder, which computes vectors of spans of sentences by learned attention and a low-rank map. It is
// trained by training/compressor.py on the leads of articles, to predict the text after them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"
#include "vectors/level_spans.h"

namespace pychunk {

// The number of features for the place of sentence i among the n sentences of a node, if the sentence has t tokens: l =
// log2(1 + t) / 4, l^2, i / n, (i / n)^2 and 1 / (1 + i). log2 is linear between powers of two.
constexpr int64_t kPlaceFeatures = 5;

// The encoder's weights. Let x_i be the sentences' vectors, f_i those features, and s = log2(1 + n) / 4, which reflects
// a node's level. Then
//   score_h,i = x_i . queries_h + f_i . (places_h + s places'_h)
//   w_i = sum over h of mix_h exp(score_h,i) / (sum over j of exp(score_h,j))
//   m = (sum over i of w_i x_i), scaled to unit length
//   y = (m + bias + s bias' + (m down) up), scaled to unit length
// A node whose m is zero stays zero.
struct Compressor {
  Matrix<const float> queries;  // [heads, dim]
  Matrix<const float> places;   // [2 * kPlaceFeatures, heads]
  std::span<const float> mix;   // [heads]
  Matrix<const float> down;     // [dim, rank]; rank is a multiple of 16
  Matrix<const float> up;       // [rank, dim]; dim is a multiple of 16
  Matrix<const float> bias;     // [2, dim]
};

// Returns one array [nodes, dim] per level. The arguments are those of span_vectors, but no node may cross a document
// boundary. The result has the same bits everywhere, since exp is a fixed sequence of IEEE operations.
//
// Lower bound on the cost: that of span_vectors, `heads` products with each sentence's vector, and 4 * dim * rank
// operations per node.
std::vector<Buffer<float>> compressed_vectors(const Compressor& model, const Matrix<const float>& vectors,
                                              std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                              const std::vector<Spans>& levels, int threads);

}  // namespace pychunk
