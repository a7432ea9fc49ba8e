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

  // Returns rows [begin, end) as float32, and how many numbers they are apart. They are in `room`, which has `cols`
  // values for each, unless they are contiguous float32.
  const float* get(int64_t begin, int64_t end, float* room, size_t& apart) const;
};

// The rows of one document at unit length. They are scaled whenever they are read, and not stored.
class ScaledRows : public RowMaker {
 public:
  // Begins with the rows of a document. Computes the factor of each row and, if `sums`, the sum of the unit rows, in
  // one pass. Returns the first row that contains infinity or NaN, or -1 if there is none.
  int64_t open(const RawRows& raw, bool sums);
  void close();

  // Returns whether one factor scales each row. Rows of extreme length are rescaled first; make_rows() does that.
  bool is_plain() const { return plain_; }
  // Returns the sum of all rows, as sum_rows() in similarity.cc adds them, or nothing if open() was not asked for it.
  std::span<const float> sum() const { return sum_; }
  // Sets out[i] = e_i . v. The rows must be plain.
  void cosines(const float* v, float* out);
  void make_rows(int64_t begin, int64_t end, float* out) override;

 private:
  // Sets the factors of rows [begin, end), which begin at `rows`. Returns false and sets `bad` if one is not finite.
  bool find_scales(const float* rows, size_t apart, int64_t begin, int64_t end, int64_t& bad);

  RawRows raw_;
  bool plain_ = true;
  std::vector<float> scales_, sum_, partial_, room_;
};

}  // namespace pychunk
