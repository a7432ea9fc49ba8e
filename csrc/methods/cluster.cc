#include "methods/cluster.h"

#include <algorithm>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "methods/threshold.h"

namespace pychunk {
namespace {

// The largest number of pair scores that are kept between the two passes. If there are more, they are computed again.
constexpr int64_t kKeptPairs = int64_t{1} << 24;  // 64 MiB of float32

}  // namespace

void optimal_partition(const Rows& vectors, std::span<const int64_t> before, int64_t most,
                       std::vector<int32_t>& first) {
  const Kernels& run = kernels();
  const int64_t n = vectors.rows;
  const auto dim = static_cast<size_t>(vectors.cols);
  first.clear();
  if (n == 0) return;

  // earliest[j] is the first sentence that fits into one chunk together with sentence j.
  std::vector<int64_t> earliest(static_cast<size_t>(n));
  std::vector<int64_t> row(static_cast<size_t>(n) + 1);  // row[j]: where the scores of the pairs (i, j) begin
  for (int64_t j = 0, i = 0; j < n; ++j) {
    if (most > 0)
      while (i < j && before[j + 1] - before[i] > most) ++i;
    earliest[j] = i;
    row[j + 1] = row[j] + (j - i);
  }
  const int64_t pairs = row[n];
  const bool keep = pairs <= kKeptPairs;
  std::vector<float> scores(static_cast<size_t>(keep ? pairs : n));
  const auto score_row = [&](int64_t j) {  // s_ij for i in [earliest[j], j)
    checkpoint_each(j, j - earliest[j] < 256 ? 64 : 1);
    float* out = scores.data() + (keep ? row[j] : 0);
    const int64_t begin = earliest[j];
    const Matrix<const float> rows = vectors.get(begin, j + 1);
    run.dot_rows(rows.data, static_cast<size_t>(j - begin), dim, rows.row(j - begin), out);
    return out;
  };

  __int128 total = 0;
  for (int64_t j = 0; j < n; ++j) {
    const float* s = score_row(j);
    for (int64_t i = 0; i < j - earliest[j]; ++i) total += fixed_point(s[i]);
  }

  // inside[i] is the reward of chunk [i, j] times `pairs`, the number of all pairs. That is an integer: pairs * (sum of
  // the chunk's scores) - (number of the chunk's pairs) * total, where `total` is the sum of all scores.
  std::vector<__int128> inside(static_cast<size_t>(n), 0), best(static_cast<size_t>(n) + 1, 0);
  std::vector<int64_t> from(static_cast<size_t>(n));
  for (int64_t j = 0; j < n; ++j) {
    const float* s = keep ? scores.data() + row[j] : score_row(j);
    checkpoint_each(j, j - earliest[j] < 256 ? 64 : 1);
    __int128 column = 0;  // rewards of pairs (i .. j - 1, j)
    from[j] = j, best[j + 1] = best[j];
    inside[j] = 0;
    for (int64_t i = j - 1; i >= earliest[j]; --i) {
      column += static_cast<__int128>(fixed_point(s[i - earliest[j]])) * pairs - total;
      inside[i] += column;
      if (best[i] + inside[i] >= best[j + 1]) best[j + 1] = best[i] + inside[i], from[j] = i;
    }
  }
  for (int64_t j = n - 1; j >= 0; j = from[j] - 1) first.push_back(static_cast<int32_t>(from[j]));
  std::reverse(first.begin(), first.end());
}

}  // namespace pychunk
