#include "vectors/int8_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr float kMostByte = 127;
// Adding and subtracting this constant rounds a number below 2^22 to the nearest integer, halves to the even one.
// std::nearbyint does the same with a call for each number.
constexpr float kRounding = 12582912.0f;
constexpr int64_t kLanes = 8;  // the number of columns whose maxima are computed at once
constexpr int64_t kRowsAtOnce = 1024;

void pack_row(const float* row, int64_t size, int8_t* out) {
  std::array<float, kLanes> lanes{};
  int64_t at = 0;
  for (; at + kLanes <= size; at += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = std::max(lanes[lane], std::abs(row[at + static_cast<int64_t>(lane)]));
  float most = *std::max_element(lanes.begin(), lanes.end());
  for (; at < size; ++at) most = std::max(most, std::abs(row[at]));
  const float scale = most / kMostByte;
  const float by = scale > 0 ? scale : 1.0f;
  for (int64_t i = 0; i < size; ++i) {
    const float rounded = (row[i] / by + kRounding) - kRounding;
    const float kept = std::min(std::max(rounded, -kMostByte), kMostByte);
    out[i] = static_cast<int8_t>(kept == kept ? kept : 0.0f);
  }
  std::memcpy(out + size, &scale, sizeof(scale));
}

}  // namespace

void pack_rows(Matrix<const float> rows, int8_t* out, int threads) {
  const int64_t width = rows.cols + static_cast<int64_t>(sizeof(float));
  parallel_for((rows.rows + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](int64_t block) {
    const int64_t end = std::min(rows.rows, (block + 1) * kRowsAtOnce);
    for (int64_t r = block * kRowsAtOnce; r < end; ++r) pack_row(rows.data + r * rows.cols, rows.cols, out + r * width);
  });
}

}  // namespace pychunk
