// The queries of a search of vectors as its kernels take them: in panels, one by one, and as whole numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "common/view.h"

namespace pychunk {

constexpr int64_t kScanPanel = 16;  // queries that are scored together
// Sixteen queries together take as long as five of those that are left after them, four at a time.
constexpr int64_t kWorthBounds = 5;
// Bounds by the first numbers of a row, so many eighths of them, are of use where they leave few to be looked at again:
// of vectors whose numbers are principal components three eighths leave 2 %, a quarter more than 6.
constexpr int64_t kHeadShares[] = {2, 3, 4};
constexpr size_t kHeadLengths = std::size(kHeadShares);

// Queries as whole numbers, for rows of bytes x with a scale s: a product s * (x . q) is at most
// s * unit * (x . y) + s * margin, with q = unit * y + what rounding left. |x| <= 128, so that the left-overs d add
// 128 * sum |d|; and the float32 product itself is off by so many roundings of parts of 128 * sum |q|.
struct WholeQueries {
  std::vector<int16_t> numbers;
  std::vector<float> units, margins;
  // Of sixteen queries each: numbers as panel_above takes them, and lengths of queries without their first `heads`.
  std::vector<int16_t> panels;
  std::vector<float> tails[kHeadLengths + 1];
  int64_t heads[kHeadLengths + 1] = {};  // the last: all

  void add(const float* query, int64_t dim);
  // Up to a multiple of sixteen for panels, then of four, with queries that nothing is above the limit of.
  void fill_up(const float* queries, int64_t dim);
};

// The queries of a call as the kernels take them: panels of sixteen, then what is left one by one. For rows of bytes
// all one by one, and as whole numbers.
struct ScanQueries {
  int64_t stride, panels, singles, count;
  bool whole;
  std::vector<float> panel, single;
  WholeQueries bounds;

  ScanQueries(const Matrix<const float>& queries, int64_t width, bool by_bounds);
};

}  // namespace pychunk
