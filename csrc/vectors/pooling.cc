#include "vectors/pooling.h"

#include <algorithm>
#include <cmath>

#include "vectors/similarity.h"

namespace pychunk {

template <typename T>
void pool(const T* states, int64_t width, int64_t dim, std::span<const int64_t> chosen,
          std::span<const int64_t> lengths, Pooling pooling, bool unit, float* out) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    const T* state = states + static_cast<int64_t>(i) * width * dim;
    const int64_t tokens = pooling == Pooling::kCls ? 1 : lengths[static_cast<size_t>(chosen[i])];
    float* vector = out + chosen[i] * dim;
    std::fill(vector, vector + dim, 0.0f);
    for (int64_t t = 0; t < tokens; ++t, state += dim)
      for (int64_t d = 0; d < dim; ++d) vector[d] += to_float(state[d]);
    if (unit) {
      normalize(vector, dim);
    } else if (tokens > 1) {
      for (int64_t d = 0; d < dim; ++d) vector[d] /= static_cast<float>(tokens);
    }
  }
}

template void pool<float>(const float*, int64_t, int64_t, std::span<const int64_t>, std::span<const int64_t>, Pooling,
                          bool, float*);
template void pool<Half>(const Half*, int64_t, int64_t, std::span<const int64_t>, std::span<const int64_t>, Pooling,
                         bool, float*);

template <typename T>
void class_probability(const T* logits, int64_t classes, int64_t wanted, std::span<const int64_t> chosen, float* out) {
  for (size_t i = 0; i < chosen.size(); ++i) {
    const T* own = logits + static_cast<int64_t>(i) * classes;
    double others = 0.0;
    for (int64_t c = 0; c < classes; ++c)
      others += std::exp(static_cast<double>(to_float(own[c])) - static_cast<double>(to_float(own[wanted])));
    out[chosen[i]] = static_cast<float>(1.0 / others);
  }
}

template void class_probability<float>(const float*, int64_t, int64_t, std::span<const int64_t>, float*);
template void class_probability<Half>(const Half*, int64_t, int64_t, std::span<const int64_t>, float*);

}  // namespace pychunk
