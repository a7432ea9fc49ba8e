#include "vectors/scaled_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "common/arithmetic.h"
#include "common/buffer.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "vectors/similarity.h"

namespace pychunk {

namespace {

// The bytes of float32 that are read at a time. The first-level cache holds them until they are added to the sum.
constexpr int64_t kBytesAtOnce = 16 << 10;
// The fewest rows that are read at a time: as many as add_scaled_rows adds together.
constexpr int64_t kFewestRows = 4;

}  // namespace

bool RawRows::is_contiguous() const {
  const int64_t size = half ? 2 : 4;
  return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(size) == 0 && row_stride % size == 0 &&
         row_stride >= 0 && col_stride == size;
}

const float* RawRows::get(int64_t begin, int64_t end, float* room, size_t& apart) const {
  const char* const first = data + begin * row_stride;
  if (!half && is_contiguous()) return apart = numbers_apart(), reinterpret_cast<const float*>(first);
  apart = static_cast<size_t>(cols);
  float* out = room;
  for (int64_t i = begin; i < end; ++i, out += cols) {
    const char* const from = data + i * row_stride;
    for (int64_t j = 0; j < cols; ++j) {
      Half number;
      if (half) memcpy(&number, from + j * col_stride, sizeof(number)), out[j] = to_float(number);
      if (!half) memcpy(out + j, from + j * col_stride, sizeof(float));
    }
  }
  return room;
}

const float* ScaledRows::squares(int64_t begin, int64_t end, size_t& apart, float* out) {
  const auto n = static_cast<size_t>(end - begin), dim = static_cast<size_t>(raw_.cols);
  if (reads_halves_) {
    apart = dim;
    kernels().squares_of_halves(raw_.halves(begin), raw_.numbers_apart(), n, dim, room_.data(), out);
    return room_.data();
  }
  const float* const rows = raw_.get(begin, end, room_.data(), apart);
  kernels().squares_of_rows(rows, apart, n, dim, out);
  return rows;
}

bool ScaledRows::find_scales(const float* rows, size_t apart, int64_t begin, int64_t end, int64_t& bad) {
  const auto dim = static_cast<size_t>(raw_.cols);
  float* const scales = scales_.data();
  bool plain = true;
  for (int64_t i = begin; i < end; ++i) plain &= pychunk::is_plain(scales[i]);
  if (plain) {
    for (int64_t i = begin; i < end; ++i) scales[i] = unit_scale(static_cast<double>(scales[i]));
    return true;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (pychunk::is_plain(scales[i])) {
      scales[i] = unit_scale(static_cast<double>(scales[i]));
      continue;
    }
    const float* const row = rows + static_cast<size_t>(i - begin) * apart;
    if (!std::all_of(row, row + dim, [](float x) { return std::isfinite(x); })) return bad = i, false;
    plain_ &= std::all_of(row, row + dim, [](float x) { return x == 0.0f; });
    scales[i] = 1.0f;
  }
  return true;
}

int64_t ScaledRows::open(const RawRows& raw, const char* next, bool sums) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(raw.cols);
  raw_ = raw, plain_ = true, reads_halves_ = raw.half && raw.is_contiguous();
  ahead_ = next == nullptr
               ? 0
               : static_cast<ptrdiff_t>(reinterpret_cast<intptr_t>(next) - reinterpret_cast<intptr_t>(raw.data));
  const int64_t fit = kBytesAtOnce / (4 * std::max<int64_t>(raw.cols, 1)) / kFewestRows * kFewestRows;
  rows_at_once_ = std::clamp(fit, kFewestRows, kSumRows);
  scales_.resize(static_cast<size_t>(raw.rows)), room_.resize(dim * static_cast<size_t>(rows_at_once_ + 1));
  sum_.assign(sums ? dim : 0, 0.0f);
  int64_t bad = -1;
  for (int64_t first = 0; first < raw.rows; first += kSumRows) {
    if (first > 0) checkpoint();
    const int64_t last = std::min(first + kSumRows, raw.rows);
    partial_.assign(dim, 0.0f);
    for (int64_t i = first; i < last; i += rows_at_once_) {
      const int64_t end = std::min(i + rows_at_once_, last);
      size_t apart = 0;
      float* const scales = scales_.data() + i;
      const float* const rows = squares(i, end, apart, scales);
      if (!find_scales(rows, apart, i, end, bad)) return bad;
      if (sums) run.add_scaled_rows(rows, apart, static_cast<size_t>(end - i), dim, scales, partial_.data());
    }
    if (sums) run.add_scaled(partial_.data(), dim, 1.0f, sum_.data());
  }
  if (!plain_) sum_.clear();
  return -1;
}

void ScaledRows::close() { forget_if_huge(scales_); }

void ScaledRows::cosines(const float* v, float* out) {
  const auto dim = static_cast<size_t>(raw_.cols);
  for (int64_t i = 0; i < raw_.rows; i += rows_at_once_) {
    checkpoint_each(i / rows_at_once_, 512);
    const int64_t end = std::min(i + rows_at_once_, raw_.rows);
    const auto n = static_cast<size_t>(end - i);
    const float* const scales = scales_.data() + i;
    if (reads_halves_) {
      kernels().dot_scaled_halves(raw_.halves(i), raw_.numbers_apart(), n, dim, scales, v, ahead_, out + i);
      continue;
    }
    size_t apart = 0;
    const float* const rows = raw_.get(i, end, room_.data(), apart);
    kernels().dot_scaled_rows(rows, apart, n, dim, scales, v, ahead_, out + i);
  }
}

void ScaledRows::adjacent_cosines(float* out) {
  const auto dim = static_cast<size_t>(raw_.cols);
  for (int64_t i = 0; i + 1 < raw_.rows; i += rows_at_once_) {
    checkpoint_each(i / rows_at_once_, 512);
    const int64_t end = std::min(i + rows_at_once_, raw_.rows - 1);
    const auto n = static_cast<size_t>(end - i);
    const float* const scales = scales_.data() + i;
    if (reads_halves_) {
      kernels().dot_half_pairs(raw_.halves(i), raw_.numbers_apart(), n, dim, scales, out + i);
      continue;
    }
    size_t apart = 0;
    const float* const rows = raw_.get(i, end + 1, room_.data(), apart);
    kernels().dot_scaled_pairs(rows, apart, n, dim, scales, out + i);
  }
}

void ScaledRows::make_rows(int64_t begin, int64_t end, float* out) {
  for (int64_t i = begin; i < end; ++i, out += raw_.cols) {
    size_t apart = 0;
    const float* const row = raw_.get(i, i + 1, room_.data(), apart);
    const float scale = plain_ ? scales_[static_cast<size_t>(i)] : 1.0f;
    for (int64_t j = 0; j < raw_.cols; ++j) out[j] = row[j] * scale;
    if (!plain_) normalize(out, raw_.cols);
  }
}

}  // namespace pychunk
