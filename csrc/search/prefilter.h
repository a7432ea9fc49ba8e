// The first numbers of stored rows of bytes, in four bits each, side by side: what a search needs to see of most rows.
// Vectors whose numbers are principal components have most of their length there. What the others can add to a product,
// and what four bits leave of the first, is at most the product of lengths. A row of 260 bytes lies in five cache lines
// of 64: read alone, its first 64 or 128 bytes cost as much as all of it (970,000 rows: 11 ms for all, 14 for 128, 16
// for 64, one thread). So they are copied out, in groups of 64 rows, eight numbers at a time, and each lane of a
// register holds what a row adds.
//
// Of 971,439 sentence vectors of 256 numbers these are left for the ten best of 24 queries, alone and beside BM25:
// 1.4 and .12 % by the first 96 numbers as they are, .15 and .023 by 128, .024 and .007 by 160; .11 and .026 by four
// bits of 192, .05 and .015 of 224, .03 and .011 of all. A row that is left costs 60 to 200 ns, so that 192 are best:
// 100 bytes a row, where 160 numbers took 168. So they are for 64 queries together, where four bits of 128 numbers
// leave 2.5 and .34 % and of 192 .21 and .036 (3.2 ms of the processor a hybrid query with 192, 3.6 with 128 and 5 with
// 96).
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

  int64_t head;              // how many numbers of each row, a multiple of 32
  std::vector<float> steps;  // [head]
  // [groups, head / 8, 64, 4]: a byte holds the codes of numbers c + j and c + 4 + j, the lower half first. A code k of
  // number c stands for (k - 7.5) * steps[c].
  Values<uint8_t> codes;
  // [groups * 64]: of each row |what codes leave of the first numbers| and |the other numbers|, 15 bits each times
  // these steps, rounded up; the first in the lower half.
  Values<uint32_t> lengths;
  double rest_step, tail_step;
  double longest;  // no row of what codes stand for is longer

  // Of chosen rows of the parts, in that order (none: of all), each of dim bytes and a scale: 3/8 of their bytes and
  // 4 a row, for as many rows as fill groups up to a multiple of `together`. Null where the first 3/8 hold less
  // than 6/10 of the squares of a thousand rows, and what the others add is too much for them to tell rows apart, and
  // where a length is no finite number. Floor: reads rows once and writes 0.4 of their bytes.
  static std::unique_ptr<RowHeads> of(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                      int64_t together, int threads);
};

// What heads_above() takes in place of a limit: rows that it does not find do not score above that.
int32_t whole_limit(const HeadQuery& query, float limit);

// A query for heads: the scores of rows are at most what heads_above() says of them, float32 products with the query
// itself included.
struct HeadBound {
  std::vector<int8_t> numbers;
  HeadQuery query;

  // query: float32[dim], finite.
  HeadBound(const RowHeads& heads, const float* query, int64_t dim);
  HeadBound(HeadBound&&) = default;
};

}  // namespace pychunk
