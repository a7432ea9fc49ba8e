// The probability that one sentence follows another, from their static vectors alone, computed by a small network.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/rows.h"
#include "common/view.h"

namespace pychunk {

// The network: logit = out . max(0, first u + second v + product (u * v) + bias) + out_bias, for unit vectors u and v.
struct PairHead {
  Matrix<const float> first, second, product;  // [hidden, dim]
  std::span<const float> bias, out;            // [hidden]
  float out_bias = 0.0f;
};

// Computes for every sentence s but the last the probability that sentence s + 1 follows it. Each probability takes 3 *
// hidden * dim multiplications and as many additions. With hidden 32 and dim 256 these are 25,000, about half the cost
// of tokenizing a sentence of 25 tokens.
void next_probabilities(const PairHead& head, const Rows& vectors, std::vector<float>& out);

}  // namespace pychunk
