#include "vectors/int8_rows.h"

#include <algorithm>
#include <vector>

#include "common/dispatch.h"
#include "common/parallel.h"
#include "vectors/similarity.h"

namespace pychunk {

void pack_rows(const UnitSums& sums, int8_t* out, int threads) {
  constexpr int64_t kRowsAtOnce = 1024;
  const int64_t width = sums.cols() + static_cast<int64_t>(sizeof(float));
  parallel_for((sums.rows() + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](int64_t block) {
    std::vector<float> room(static_cast<size_t>(sums.cols()));
    const int64_t end = std::min(sums.rows(), (block + 1) * kRowsAtOnce);
    for (int64_t r = block * kRowsAtOnce; r < end; ++r)
      kernels().pack_row(sums.row(r, room.data()), room.size(), out + r * width);
  });
}

}  // namespace pychunk
