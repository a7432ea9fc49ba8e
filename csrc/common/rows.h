// The rows of a matrix that need not be in memory all at once. A document of 4 million sentences has 4.5 GB of vectors.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "common/view.h"

namespace pychunk {

// A source of rows that computes them on request. The same request always gives the same rows.
class RowMaker {
 public:
  virtual ~RowMaker() = default;
  virtual void make_rows(int64_t begin, int64_t end, float* out) = 0;
};

// Rows [from, from + count) of a matrix that become rows [to, to + count).
struct RowRun {
  int64_t from = 0, to = 0, count = 0;
};

// Calls each(begin, end) for the rows of [0, rows) that no run fills. The runs are in order.
template <typename Each>
void for_each_gap(std::span<const RowRun> runs, int64_t rows, Each each) {
  int64_t done = 0;
  for (const RowRun& run : runs) {
    if (run.to > done) each(done, run.to);
    done = run.to + run.count;
  }
  if (rows > done) each(done, rows);
}

// An allocator whose vector leaves new numbers uninitialised. RowMakers write all of them, so clearing them first would
// be another pass over the memory.
template <typename T>
struct UnclearedAllocator : std::allocator<T> {
  template <typename U>
  struct rebind {
    using other = UnclearedAllocator<U>;
  };
  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... From>
  void construct(U* at, From&&... from) {
    ::new (static_cast<void*>(at)) U(std::forward<From>(from)...);
  }
};

// The rows that a RowMaker made: all of them if they take at most kKeptBytes, else only the last ones requested.
class RowWindow {
 public:
  static constexpr int64_t kKeptBytes = int64_t{64} << 20;
  // The number of rows to make at a time if the matrix is not kept. At 256 columns they take 1 MB, which stays in a
  // core's cache.
  static constexpr int64_t kAhead = 1024;

  void begin(int64_t rows, int64_t cols) {
    rows_ = rows, cols_ = cols, first_ = last_ = 0;
    // Release the memory of a request for more than kKeptBytes, which would otherwise stay with the thread.
    if (values_.capacity() * sizeof(float) > static_cast<size_t>(kKeptBytes))
      std::vector<float, UnclearedAllocator<float>>().swap(values_);
  }

  // Begins a matrix that takes rows over from the current one, and makes the others. Returns false, and begins nothing,
  // if not all rows of both matrices are kept in memory.
  bool take_over(std::span<const RowRun> runs, int64_t rows, int64_t cols, RowMaker& maker) {
    const auto bytes = std::max(rows, rows_) * cols * static_cast<int64_t>(sizeof(float));
    if (first_ != 0 || last_ != rows_ || cols_ != cols || bytes > kKeptBytes) return false;
    values_.resize(static_cast<size_t>(std::max(rows, rows_) * cols));
    const auto move = [&](const RowRun& run) {
      float* const from = values_.data() + run.from * cols;
      std::memmove(values_.data() + run.to * cols, from, static_cast<size_t>(run.count * cols) * sizeof(float));
    };
    // Runs that move to the front come first and in order, and the others in reverse order, so that no run overwrites
    // one that has yet to move.
    for (const RowRun& run : runs)
      if (run.to < run.from) move(run);
    for (size_t i = runs.size(); i-- > 0;)
      if (runs[i].to > runs[i].from) move(runs[i]);
    values_.resize(static_cast<size_t>(rows * cols));
    rows_ = last_ = rows;
    for_each_gap(runs, rows,
                 [&](int64_t begin, int64_t end) { maker.make_rows(begin, end, values_.data() + begin * cols); });
    return true;
  }

  // Returns rows [begin, end). They stay valid until the next request.
  Matrix<const float> get(int64_t begin, int64_t end, RowMaker& maker) {
    if (begin < first_ || end > last_) {
      const bool keep = rows_ * cols_ * static_cast<int64_t>(sizeof(float)) <= kKeptBytes;
      const int64_t ahead = end - begin > kAhead ? end + kAhead : begin + kAhead;
      const int64_t from = keep ? 0 : begin, to = keep ? rows_ : std::min(rows_, ahead);
      move_to(from, to);
      const int64_t made = std::max(from, last_);
      maker.make_rows(made, to, values_.data() + (made - from) * cols_);
      first_ = from, last_ = to;
    }
    return {values_.data() + (begin - first_) * cols_, end - begin, cols_};
  }

 private:
  // Makes room for rows [from, to). Rows of this range that are already in memory move to the front.
  void move_to(int64_t from, int64_t to) {
    if (from < first_ || from >= last_) {
      last_ = from;
    } else {
      std::copy(values_.begin() + (from - first_) * cols_, values_.begin() + (last_ - first_) * cols_, values_.begin());
    }
    values_.resize(static_cast<size_t>((to - from) * cols_));
  }

  std::vector<float, UnclearedAllocator<float>> values_;
  int64_t rows_ = 0, cols_ = 0, first_ = 0, last_ = 0;
};

class ScaledRows;

// The rows of a matrix, which is in memory or which a RowMaker makes part by part.
class Rows {
 public:
  Rows(const Matrix<const float>& all) : rows(all.rows), cols(all.cols), all_(all.data) {}
  Rows(int64_t n, int64_t dim, RowWindow& window, RowMaker& maker)
      : rows(n), cols(dim), window_(&window), maker_(&maker) {}

  // Returns rows [begin, end). They stay valid until the next request.
  Matrix<const float> get(int64_t begin, int64_t end) const {
    if (window_ != nullptr) return window_->get(begin, end, *maker_);
    return {all_ + begin * cols, end - begin, cols};
  }

  int64_t rows, cols;
  ScaledRows* scaled = nullptr;  // the caller's rows, if the maker reads those (vectors/scaled_rows.h)

 private:
  const float* all_ = nullptr;
  RowWindow* window_ = nullptr;
  RowMaker* maker_ = nullptr;
};

}  // namespace pychunk
