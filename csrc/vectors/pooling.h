// The reduction of a transformer's output: from hidden states to one vector per sentence, and from logits to one
// probability per pair.
#pragma once
#include <cstdint>
#include <span>

#include "common/arithmetic.h"
#include "common/view.h"

namespace pychunk {

enum class Pooling : uint8_t { kMean, kCls };

// Pools the hidden states of a batch, [rows, width, dim], to one vector for each row. The vector of row i goes to row
// chosen[i] of `out`, [n, dim]. It is the state of the first token, or the mean of the first lengths[chosen[i]] states.
// Special tokens count, as in sentence-transformers. The vector is scaled to unit length if requested.
//
// Tokens are added in order, in float32, so a row's vector does not depend on the rest of the batch. Each state is read
// once. This takes 4 bytes and an addition per value, under 0.1 % of the arithmetic of a six-layer encoder.
template <typename T>
void pool(const T* states, int64_t width, int64_t dim, std::span<const int64_t> chosen,
          std::span<const int64_t> lengths, Pooling pooling, bool unit, float* out);

// Writes the probability of class `wanted` to out[chosen[i]], by the softmax of row i of the logits [rows, classes]. It
// computes in double precision and rounds the result.
template <typename T>
void class_probability(const T* logits, int64_t classes, int64_t wanted, std::span<const int64_t> chosen, float* out);

}  // namespace pychunk
