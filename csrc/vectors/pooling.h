// What comes out of a transformer: hidden states to one vector a sentence, logits to one probability a pair.
#pragma once
#include <cstdint>
#include <span>

#include "common/arithmetic.h"
#include "common/view.h"

namespace pychunk {

enum class Pooling : uint8_t { kMean, kCls };

// Rows of a batch, [rows, width, dim], to rows chosen[i] of `out`, [n, dim]: the first token's state, or the mean of
// the first lengths[chosen[i]] ones (special tokens count, as in sentence-transformers), scaled to unit length if asked
// for. Tokens are added in their order, in float32, so a row's vector depends on nothing else in the batch. Reads each
// state once: 4 bytes and an addition a value, under 0.1 % of a six-layer encoder's arithmetic.
template <typename T>
void pool(const T* states, int64_t width, int64_t dim, std::span<const int64_t> chosen,
          std::span<const int64_t> lengths, Pooling pooling, bool unit, float* out);

// Softmax of logits [rows, classes] at class `wanted`, to out[chosen[i]]; in double precision, then rounded.
template <typename T>
void class_probability(const T* logits, int64_t classes, int64_t wanted, std::span<const int64_t> chosen, float* out);

}  // namespace pychunk
