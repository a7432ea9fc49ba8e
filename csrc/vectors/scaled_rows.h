// The caller's sentence vectors, read in place. A document's vectors are read from memory once. Everything after that
// finds them in the cache, where 256 kB of them fit. The floor is therefore the bytes of the vectors, once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/rows.h"

namespace pychunk {

// Rows of float32 or float16 of any length, with strides in bytes.
struct RawRows {
  const char* data = nullptr;
  int64_t rows = 0, cols = 0, row_stride = 0, col_stride = 0;
  bool half = false;

  // Returns whether the numbers of each row are aligned and side by side, and the rows in order.
  bool is_contiguous() const;
  // Return row i, and how many numbers the rows are apart. The rows must be contiguous.
  const uint16_t* halves(int64_t i) const { return reinterpret_cast<const uint16_t*>(data + i * row_stride); }
  size_t numbers_apart() const { return static_cast<size_t>(row_stride / (half ? 2 : 4)); }
  // Returns rows [begin, end) as float32, and how many numbers they are apart. They are in `room`, which has `cols`
  // values for each, unless they are contiguous float32.
  const float* get(int64_t begin, int64_t end, float* room, size_t& apart) const;
};

// The rows of one document at unit length. They are scaled whenever they are read, and not stored.
class ScaledRows : public RowMaker {
 public:
  // Begins with the rows of a document. Computes the factor of each row and, if `sums`, the sum of the unit rows, in
  // one pass. Returns the first row that contains infinity or NaN, or -1 if there is none. `next` is null, or where the
  // next document's rows begin, which cosines() prefetches.
  int64_t open(const RawRows& raw, const char* next, bool sums);
  void close();

  // Returns whether one factor scales each row. Rows of extreme length are rescaled first; make_rows() does that.
  bool is_plain() const { return plain_; }
  // Returns the sum of all rows, as sum_rows() in similarity.cc adds them, or nothing if open() was not asked for it.
  std::span<const float> sum() const { return sum_; }
  // Sets out[i] = e_i . v. The rows must be plain.
  void cosines(const float* v, float* out);
  // Sets out[i] = e_i . e_{i+1} for all but the last row. The rows must be plain.
  void adjacent_cosines(float* out);
  void make_rows(int64_t begin, int64_t end, float* out) override;

 private:
  // Sets out[i] to the sum of squares of row begin + i, and returns the rows as RawRows::get() does.
  const float* squares(int64_t begin, int64_t end, size_t& apart, float* out);
  // Turns the sums of squares in scales_ into the factors of rows [begin, end), which begin at `rows`. Returns false
  // and sets `bad` if a row is not finite.
  bool find_scales(const float* rows, size_t apart, int64_t begin, int64_t end, int64_t& bad);

  RawRows raw_;
  bool plain_ = true, reads_halves_ = false;
  int64_t rows_at_once_ = 1;
  ptrdiff_t ahead_ = 0;  // the bytes from this document's rows to the next document's
  std::vector<float> scales_, sum_, partial_, room_;
};

}  // namespace pychunk
