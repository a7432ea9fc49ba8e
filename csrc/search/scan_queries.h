// The queries of a vector search in the forms that its kernels take: in panels, one by one, and as integers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "common/view.h"

namespace pychunk {

constexpr int64_t kScanPanel = 16;  // the queries that are scored together
// The least number of remaining queries for which a panel of bounds is worthwhile. A panel of sixteen queries takes as
// long as five queries that are scored without it, four at a time.
constexpr int64_t kWorthBounds = 5;
// The lengths of the beginnings of rows from which bounds may be computed, in eighths of a row. Bounds are useful if
// they leave few rows to be read again. In vectors whose numbers are principal components, three eighths leave 2 % and
// a quarter leaves more than 6 %.
constexpr int64_t kHeadShares[] = {2, 3, 4};
constexpr size_t kHeadLengths = std::size(kHeadShares);

// The queries as integers, for rows of bytes x with a scale s. A product s * (x . q) is at most s * unit * (x . y) + s
// * margin, with q = unit * y + the rounding errors d. |x| <= 128, so the errors add at most 128 * sum |d|. The float32
// product itself also has rounding errors, each a fraction of 128 * sum |q|.
struct WholeQueries {
  std::vector<int16_t> numbers;
  std::vector<float> units, margins;
  // For every sixteen queries, their numbers in the layout of panel_above. tails[k] has the length of each query
  // without its first heads[k] numbers.
  std::vector<int16_t> panels;
  std::vector<float> tails[kHeadLengths + 1];
  int64_t heads[kHeadLengths + 1] = {};  // the last one: all numbers of a row

  void add(const float* query, int64_t dim);
  // Fill up the queries to a multiple of sixteen for panels, or else of four, with queries whose limit nothing exceeds.
  void fill_up(const float* queries, int64_t dim);
};

// The queries of a call in the forms that the kernels take: panels of sixteen, and the remaining ones one by one. For
// rows of bytes, all are taken one by one, and as integers.
struct ScanQueries {
  int64_t stride, panels, singles, count;
  bool whole;
  std::vector<float> panel, single;
  WholeQueries bounds;

  ScanQueries(const Matrix<const float>& queries, int64_t width, bool by_bounds);
};

}  // namespace pychunk
