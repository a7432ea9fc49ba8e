#include "vectors/nsp_head.h"

#include <algorithm>
#include <cmath>

#include "common/dispatch.h"
#include "common/interrupt.h"

namespace pychunk {

void next_probabilities(const PairHead& head, const Rows& vectors, std::vector<float>& out) {
  const auto hidden = static_cast<size_t>(head.first.rows), dim = static_cast<size_t>(head.first.cols);
  const Kernels& run = kernels();
  std::vector<float> from(hidden), to(hidden), both(hidden), product(dim);
  out.clear();
  for (int64_t s = 0; s + 1 < vectors.rows; ++s) {
    checkpoint_each(s, 64);
    const Matrix<const float> pair = vectors.get(s, s + 2);
    const float *u = pair.row(0), *v = pair.row(1);
    for (size_t d = 0; d < dim; ++d) product[d] = u[d] * v[d];
    run.dot_rows(head.first.data, hidden, dim, u, from.data());
    run.dot_rows(head.second.data, hidden, dim, v, to.data());
    run.dot_rows(head.product.data, hidden, dim, product.data(), both.data());
    for (size_t h = 0; h < hidden; ++h) from[h] = std::max(0.0f, from[h] + to[h] + both[h] + head.bias[h]);
    const double logit = static_cast<double>(run.dot(from.data(), head.out.data(), hidden) + head.out_bias);
    out.push_back(static_cast<float>(1.0 / (1.0 + std::exp(-logit))));
  }
}

}  // namespace pychunk
