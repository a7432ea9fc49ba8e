// The first numbers of stored rows of bytes, side by side: what a search needs to see of most rows. Vectors whose
// numbers are principal components have most of their length there, and what the others can add to a product is at most
// the product of lengths. A row of 260 bytes lies in five cache lines of 64: read alone, its first 64 or 128 bytes cost
// as much as all of it (970,000 rows: 11 ms for all, 14 for 128, 16 for 64, one thread). So they are copied out, in
// groups of 64 rows, number pair by number pair, and each lane of a register holds what a row adds. Of 742,072 sentence
// vectors of 256 numbers 16 % could be among the best 256 by their first 96 numbers, 3.6 % by 128, .7 % by 160; a row
// that is read from its file costs 200 ns, and all levels of a million nodes 54, 43 and 35 ms of the processor. With 64
// numbers more apart for those that 96 leave it is 49: rows that lie apart are waited for.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buffer.h"

namespace pychunk {

struct StoredRows;

struct RowHeads {
  static constexpr int64_t kGroup = 64;

  int64_t head;            // how many numbers of each row, a multiple of 32
  Values<int8_t> numbers;  // [groups, head / 2, 64, 2], zeros behind the last row
  Values<float> scales;    // [groups * 64]
  Values<float> rests;     // |row| without its first numbers, before it is scaled, rounded up

  // Of chosen rows of the parts, in that order (none: of all), each of dim bytes and a scale: 5/8 of their numbers and
  // 8 bytes a row, for as many rows as fill groups up to a multiple of `together`. Null where the first 3/8 hold less
  // than 6/10 of the squares of a thousand rows, and what the others add is too much for them to tell rows apart.
  // Floor: reads rows once and writes 0.65 of their bytes.
  static std::unique_ptr<RowHeads> of(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                      int64_t together, int threads);
};

}  // namespace pychunk
