// The first numbers of stored rows of bytes, in four bits each and side by side. A search needs no more of most rows.
// Vectors whose numbers are principal components have most of their length in the first ones. Two things are missing
// from a product of a row and a query that is computed from the first numbers in four bits: the other numbers, and what
// four bits lose of the first. Each adds at most the product of the lengths of the two vectors that it consists of. A
// row of 260 bytes covers five cache lines of 64. Reading its first 64 or 128 bytes alone costs as much as reading all
// of it (970,000 rows: 11 ms for all, 14 for 128 bytes, 16 for 64, on one thread). The first numbers are therefore
// copied out, in groups of 64 rows and eight numbers at a time. Each lane of a register adds up one row.
//
// The list gives the share of rows that remain, which a search for the ten best must read whole. It was measured with
// 24 queries on 971,439 sentence vectors of 256 numbers. The first share is without BM25, the second with it:
// - the first 96 numbers in whole bytes: 1.4 % and 0.12 %; 128: 0.15 % and 0.023 %; 160: 0.024 % and 0.007 %
// - the first 192 numbers in four bits: 0.11 % and 0.026 %; 224: 0.05 % and 0.015 %; all: 0.03 % and 0.011 %
//
// A row that remains costs 60 to 200 ns, so 192 numbers in four bits are best. They need 100 bytes for each row, while
// 160 numbers in whole bytes needed 168. They are also best for 64 queries together: 128 numbers in four bits leave 2.5
// % and 0.34 %, and 192 leave 0.21 % and 0.036 %. A hybrid query then takes 3.2 ms of processor time with 192 numbers,
// 3.6 with 128 and 5 with 96.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/kernels.h"

namespace pychunk {

struct StoredRows;

struct RowHeads {
  static constexpr int64_t kGroup = 64;

  int64_t head;              // the count of first numbers of each row, a multiple of 32
  std::vector<float> steps;  // [head]
  // [groups, head / 8, 64, 4]: each byte holds the codes of numbers c + j and c + 4 + j, the first one in its lower
  // half. Code k of number c stands for (k - 7.5) * steps[c].
  Buffer<uint8_t> codes;
  // [groups * 64]: two lengths for each row, as integers of 15 bits, rounded up. The lower half times rest_step is the
  // length of what the codes lose of the first numbers. The upper half times tail_step is the length of the other
  // numbers.
  Buffer<uint32_t> lengths;
  double rest_step, tail_step;
  double longest;  // the greatest length of the values that a row's codes stand for

  // Make the heads of chosen rows of the parts, in that order, or of all rows if none are chosen. Each row has dim
  // bytes and a scale. Heads need 3/8 of these bytes and 4 more for each row, and fill up groups to a multiple of
  // `together`. Return null if the first 3/8 of the numbers hold less than 6/10 of the sum of squares, measured on a
  // thousand rows. The other numbers then add too much for heads to tell rows apart. Return null also if a length is
  // not finite. Lower bound: rows are read once, and 0.4 of their bytes written.
  static std::unique_ptr<RowHeads> of(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                      int64_t together, int threads);
};

// Return `limit` in the integers that heads_above() takes. Rows that heads_above() does not find then score at most
// `limit`.
int32_t whole_limit(const HeadQuery& query, float limit);

// A query for heads. The scores of rows, including the float32 products with the query itself, are at most the bounds
// that heads_above() computes.
struct HeadBound {
  std::vector<int8_t> numbers;
  HeadQuery query;

  // Build the bound of a query, float32[dim] and finite.
  HeadBound(const RowHeads& heads, const float* query, int64_t dim);
  HeadBound(HeadBound&&) = default;
};

}  // namespace pychunk
