// The embedding bag: exact sums of rows of an int8 table. Sums of integers do not depend on the order, so every
// instruction set, batch and thread count gives the same bits.
//
// Lower bound on the cost: a token reads `dim` bytes of the table. At dim 256 these are four cache lines. The 4,000
// most common rows, 85 % of English tokens, are 1 MB and stay in the L2 cache. With 512-bit registers a token takes dim
// / 32 widening loads and dim / 32 additions. These are 16 micro-operations, about 8 cycles, for about 5 bytes of text.
// The limit is thus near 2 GB/s per core while L2 supplies the rows.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

typedef int16_t I16 __attribute__((vector_size(kVectorBytes), may_alias));
typedef int8_t I8 __attribute__((vector_size(kVectorBytes / 2), may_alias));

// The number of int16 lanes in a register, and the number of columns that 8 such registers hold.
constexpr size_t kLanes16 = kVectorBytes / 2;
constexpr size_t kColumns = 8 * kLanes16;
// |int8| <= 128, so the sum of 255 rows fits into int16 before it is added to the int32 sums.
constexpr size_t kRowsInInt16 = 255;
// The number of rows to prefetch, including rows of the next sentence. Otherwise rare tokens wait for memory, which
// took 6 % of the whole pipeline.
constexpr size_t kAhead = 8;

inline void bag_columns(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums) {
  for (size_t begin = 0; begin < n; begin += kRowsInInt16) {
    const size_t end = begin + kRowsInInt16 < n ? begin + kRowsInInt16 : n;
    I16 partial[8] = {};
    for (size_t t = begin; t < end; ++t) {
      if (t + kAhead < known) {
        const int8_t* later = table + static_cast<size_t>(ids[t + kAhead]) * dim;
        for (size_t k = 0; k < kColumns; k += 64) __builtin_prefetch(later + k);
      }
      const int8_t* row = table + static_cast<size_t>(ids[t]) * dim;
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) {
        I8 narrow;
        memcpy(&narrow, row + k * kLanes16, sizeof(narrow));
        partial[k] += __builtin_convertvector(narrow, I16);
      }
    }
    for (size_t k = 0; k < 8; ++k)
      for (size_t j = 0; j < kLanes16; ++j) sums[k * kLanes16 + j] += partial[k][j];
  }
}

// Sets sums[j] to the sum of table[ids[t], j] over t < n. `ids` has `known` >= n entries, and all of them must be rows
// of the table.
void embedding_bag(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums) {
  memset(sums, 0, dim * sizeof(int32_t));
  size_t column = 0;
  for (; column + kColumns <= dim; column += kColumns) bag_columns(table + column, dim, ids, n, known, sums + column);
  for (; column < dim; ++column)
    for (size_t t = 0; t < n; ++t) sums[column] += table[static_cast<size_t>(ids[t]) * dim + column];
}

// Sets out = sums / |sums|, in float32. A zero vector stays zero. The sum of squares is exact, in 64 bits.
void unit_from_sums(const int32_t* sums, size_t dim, float* out) {
  int64_t squares = 0;
  for (size_t j = 0; j < dim; ++j) squares += static_cast<int64_t>(sums[j]) * sums[j];
  const float scale = squares == 0 ? 0.0f : static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(squares)));
  for (size_t j = 0; j < dim; ++j) out[j] = static_cast<float>(sums[j]) * scale;
}

}  // namespace
}  // namespace pychunk
