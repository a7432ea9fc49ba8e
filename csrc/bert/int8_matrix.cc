#include "bert/int8_matrix.h"

#include <algorithm>
#include <cmath>

#include "common/dispatch.h"

namespace pychunk {

// With `factors`, row c of the weights is multiplied by factors[c]: the numbers that it multiplies were divided by it.
Int8Matrix::Int8Matrix(const float* weights, const float* bias, size_t in, size_t outs, const float* factors)
    : in(in), outs((outs + kPanelColumns - 1) / kPanelColumns * kPanelColumns) {
  packed.resize(in * this->outs);
  const size_t groups = (in + kGroupBytes - 1) / kGroupBytes;
  scales.resize(groups * this->outs, 1.0f);
  this->bias.assign(bias, bias + outs);
  this->bias.resize(this->outs, 0.0f);
  std::vector<int8_t> bytes(this->outs * in, 0);
  std::vector<float> highest(outs);
  for (size_t group = 0; group < groups; ++group) {
    const size_t begin = group * kGroupBytes, end = std::min(in, begin + kGroupBytes);
    const auto weight = [&](size_t c, size_t o) {
      return factors == nullptr ? weights[c * outs + o] : weights[c * outs + o] * factors[c];
    };
    std::ranges::fill(highest, 0.0f);
    for (size_t c = begin; c < end; ++c)
      for (size_t o = 0; o < outs; ++o) highest[o] = std::max(highest[o], std::fabs(weight(c, o)));
    float* const own = scales.data() + group * this->outs;
    for (size_t o = 0; o < outs; ++o)
      if (highest[o] > 1e-30f) own[o] = highest[o] / 127.0f;
    for (size_t o = 0; o < outs; ++o)
      for (size_t c = begin; c < end; ++c)
        bytes[o * in + c] = static_cast<int8_t>(std::clamp(std::nearbyintf(weight(c, o) / own[o]), -127.0f, 127.0f));
  }
  kernels().pack_columns(bytes.data(), this->outs, in, packed.data());
}

}  // namespace pychunk
