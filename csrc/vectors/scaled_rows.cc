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

// The number of rows that are read at a time. At 1,024 dimensions they take 32 kB, which the first-level cache holds.
constexpr int64_t kRowsAtOnce = 8;

}  // namespace

const float* RawRows::get(int64_t begin, int64_t end, float* room, size_t& apart) const {
  const char* const first = data + begin * row_stride;
  const int64_t size = half ? 2 : 4;
  const bool aligned = reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(size) == 0 && row_stride % size == 0;
  const bool contiguous = aligned && col_stride == size;
  if (contiguous && !half && row_stride >= 0) {
    apart = static_cast<size_t>(row_stride / size);
    return reinterpret_cast<const float*>(first);
  }
  apart = static_cast<size_t>(cols);
  float* out = room;
  for (int64_t i = begin; i < end; ++i, out += cols) {
    const char* const from = data + i * row_stride;
    if (contiguous && half) {
      kernels().widen_halves(reinterpret_cast<const uint16_t*>(from), apart, out);
      continue;
    }
    for (int64_t j = 0; j < cols; ++j) {
      Half number;
      if (half) memcpy(&number, from + j * col_stride, sizeof(number)), out[j] = to_float(number);
      if (!half) memcpy(out + j, from + j * col_stride, sizeof(float));
    }
  }
  return room;
}

bool ScaledRows::find_scales(const float* rows, size_t apart, int64_t begin, int64_t end, int64_t& bad) {
  const auto dim = static_cast<size_t>(raw_.cols);
  float* const scales = scales_.data() + begin;
  for (int64_t i = 0; i < end - begin; ++i) {
    const float* const row = rows + static_cast<size_t>(i) * apart;
    const float squares = kernels().dot(row, row, dim);
    if (pychunk::is_plain(squares)) {
      scales[i] = unit_scale(static_cast<double>(squares));
      continue;
    }
    if (!std::all_of(row, row + dim, [](float x) { return std::isfinite(x); })) return bad = begin + i, false;
    plain_ &= std::all_of(row, row + dim, [](float x) { return x == 0.0f; });
    scales[i] = 1.0f;
  }
  return true;
}

int64_t ScaledRows::open(const RawRows& raw, bool sums) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(raw.cols);
  raw_ = raw, plain_ = true;
  scales_.resize(static_cast<size_t>(raw.rows)), room_.resize(dim * static_cast<size_t>(kRowsAtOnce));
  sum_.assign(sums ? dim : 0, 0.0f);
  int64_t bad = -1;
  for (int64_t first = 0; first < raw.rows; first += kSumRows) {
    if (first > 0) checkpoint();
    const int64_t last = std::min(first + kSumRows, raw.rows);
    partial_.assign(dim, 0.0f);
    for (int64_t i = first; i < last; i += kRowsAtOnce) {
      const int64_t end = std::min(i + kRowsAtOnce, last);
      size_t apart = 0;
      const float* const rows = raw.get(i, end, room_.data(), apart);
      if (!find_scales(rows, apart, i, end, bad)) return bad;
      if (sums)
        run.add_scaled_rows(rows, apart, static_cast<size_t>(end - i), dim, scales_.data() + i, partial_.data());
    }
    if (sums) run.add_scaled(partial_.data(), dim, 1.0f, sum_.data());
  }
  if (!plain_) sum_.clear();
  return -1;
}

void ScaledRows::close() { forget_if_huge(scales_); }

void ScaledRows::cosines(const float* v, float* out) {
  for (int64_t i = 0; i < raw_.rows; i += kRowsAtOnce) {
    checkpoint_each(i / kRowsAtOnce, 512);
    const int64_t end = std::min(i + kRowsAtOnce, raw_.rows);
    size_t apart = 0;
    const float* const rows = raw_.get(i, end, room_.data(), apart);
    kernels().dot_scaled_rows(rows, apart, static_cast<size_t>(end - i), static_cast<size_t>(raw_.cols),
                              scales_.data() + i, v, out + i);
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
