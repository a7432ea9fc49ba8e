// Embedding bag: rows of an int8 table summed exactly. Integer sums have no order, so every instruction set,
// batch and thread count gives the same bits.
//
// Floor: a token reads `dim` bytes of the table (256: four cache lines; the 4,000 commonest rows, 85 % of
// English tokens, are 1 MB and live in L2) and does dim / 32 widening loads and dim / 32 adds in 512-bit
// registers: 16 micro-operations, about 8 cycles, against about 5 bytes of text, so near 2 GB/s a core while
// L2 feeds it.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

typedef int16_t I16 __attribute__((vector_size(kVectorBytes), may_alias));
typedef int8_t I8 __attribute__((vector_size(kVectorBytes / 2), may_alias));

// sums[0 .. kColumns) of the columns that begin at `table`; 8 registers of int16 hold them.
constexpr size_t kLanes16 = kVectorBytes / 2;
constexpr size_t kColumns = 8 * kLanes16;
// |int8| <= 128, so 255 rows fit into int16 before they are added to the int32 sums.
constexpr size_t kRowsInInt16 = 255;
// Rows asked for before their turn, those of the next sentence among them: rare tokens wait for memory otherwise, which
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

// sums[j] = sum over t < n of table[ids[t], j]; ids, `known` >= n of them, must be rows of the table.
void embedding_bag(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums) {
  memset(sums, 0, dim * sizeof(int32_t));
  size_t column = 0;
  for (; column + kColumns <= dim; column += kColumns) bag_columns(table + column, dim, ids, n, known, sums + column);
  for (; column < dim; ++column)
    for (size_t t = 0; t < n; ++t) sums[column] += table[static_cast<size_t>(ids[t]) * dim + column];
}

// out = sums / |sums|, in float32; zero stays zero. The squares are summed exactly in 64 bits.
void unit_from_sums(const int32_t* sums, size_t dim, float* out) {
  int64_t squares = 0;
  for (size_t j = 0; j < dim; ++j) squares += static_cast<int64_t>(sums[j]) * sums[j];
  const float scale = squares == 0 ? 0.0f : static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(squares)));
  for (size_t j = 0; j < dim; ++j) out[j] = static_cast<float>(sums[j]) * scale;
}

}  // namespace
}  // namespace pychunk
