#include "vectors/int8_rows.h"

#include <algorithm>
#include <vector>

#include "common/dispatch.h"
#include "common/parallel.h"
#include "vectors/similarity.h"

namespace pychunk {

void pack_rows(const UnitSums& sums, int8_t* out, int threads) {
  constexpr int64_t kRowsAtOnce = 1024;
  const auto size = static_cast<size_t>(sums.cols());
  const size_t width = size + sizeof(float);
  parallel_for((sums.rows() + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](int64_t block) {
    std::vector<float> rooms[2]{std::vector<float>(size), std::vector<float>(size)};
    const int64_t begin = block * kRowsAtOnce, end = std::min(sums.rows(), begin + kRowsAtOnce);
    // A sum is computed while the row before is packed, which does not depend on it.
    UnitSums::Sum next = sums.row(begin, rooms[0].data());
    for (int64_t r = begin; r < end; ++r) {
      const auto [values, scale] = next;
      if (r + 1 < end) next = sums.row(r + 1, rooms[(r + 1 - begin) % 2].data());
      kernels().pack_row(values, size, scale, out + static_cast<size_t>(r) * width);
    }
  });
}

}  // namespace pychunk
