// The embedding bag: exact sums of rows of an int8 table. Sums of integers do not depend on the order, so every
// instruction set, batch and thread count gives the same bits.
//
// Lower bound on the cost: a token reads `dim` bytes of the table. At dim 256 these are four cache lines. The 4,000
// most common rows, 85 % of English tokens, are 1 MB and stay in the L2 cache. With 512-bit registers a token takes dim
// / 32 widening loads and dim / 32 additions. These are 16 micro-operations, about 8 cycles, for about 5 bytes of text.
// The limit is thus near 2 GB/s per core while L2 supplies the rows. With 256-bit registers a token takes 32 of these
// instructions twice, with its loop and its prefetches 56: 12 for a byte of text, and 55 bytes of the table. Rows then
// come from outside the first-level cache, and how fast they come sets the time.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

typedef int16_t I16 __attribute__((vector_size(kVectorBytes), may_alias));
typedef uint64_t U64 __attribute__((vector_size(kVectorBytes), may_alias));
typedef int8_t I8 __attribute__((vector_size(kVectorBytes / 2), may_alias));

// The number of int16 lanes in a register, and the number of columns that 8 such registers hold.
constexpr size_t kLanes16 = kVectorBytes / 2;
constexpr size_t kColumns = 8 * kLanes16;
// |int8| <= 128, so the sum of 255 rows fits into int16 before it is added to the int32 sums.
constexpr size_t kRowsInInt16 = 255;
// The number of rows to prefetch, including rows of the next sentence. Otherwise rare tokens wait for memory, which
// took 6 % of the whole pipeline.
constexpr size_t kAhead = 8;

// Returns kLanes16 numbers of a row as int16. g++ 12 takes six instructions for __builtin_convertvector with AVX2,
// which has one that also loads the numbers.
inline I16 widened(const int8_t* row) {
#if defined(__AVX512BW__)
  return reinterpret_cast<I16>(
      _mm512_maskz_cvtepi8_epi16(~__mmask32{0}, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row))));
#elif defined(__AVX2__)
  return reinterpret_cast<I16>(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(row))));
#else
  I8 narrow;
  memcpy(&narrow, row, sizeof(narrow));
  return __builtin_convertvector(narrow, I16);
#endif
}

// Sets partial to the sums of kColumns columns over at most kRowsInInt16 rows.
inline void bag_shorts(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, I16* partial) {
  // Registers are cleared one by one: g++ 12 clears an array in memory.
#pragma GCC unroll 8
  for (size_t k = 0; k < 8; ++k) partial[k] = I16{};
  for (size_t t = 0; t < n; ++t) {
    if (t + kAhead < known) {
      const int8_t* later = table + static_cast<size_t>(ids[t + kAhead]) * dim;
      for (size_t k = 0; k < kColumns; k += 64) __builtin_prefetch(later + k);
    }
    const int8_t* row = table + static_cast<size_t>(ids[t]) * dim;
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k) partial[k] += widened(row + k * kLanes16);
  }
}

inline void bag_columns(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums) {
  for (size_t begin = 0; begin < n; begin += kRowsInInt16) {
    const size_t rows = n - begin < kRowsInInt16 ? n - begin : kRowsInInt16;
    I16 partial[8];
    bag_shorts(table, dim, ids + begin, rows, known - begin, partial);
    for (size_t k = 0; k < 8; ++k)
      for (size_t j = 0; j < kLanes16; ++j) sums[k * kLanes16 + j] += partial[k][j];
  }
}

// Sets sums[j] to the sum of table[ids[t], j] over t < n. `ids` has `known` >= n entries, and all of them must be rows
// of the table.
inline void embedding_bag(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums) {
  memset(sums, 0, dim * sizeof(int32_t));
  size_t column = 0;
  for (; column + kColumns <= dim; column += kColumns) bag_columns(table + column, dim, ids, n, known, sums + column);
  for (; column < dim; ++column)
    for (size_t t = 0; t < n; ++t) sums[column] += table[static_cast<size_t>(ids[t]) * dim + column];
}

// Returns the factor that scales a vector with this sum of squares to unit length, or 0 for a zero vector.
inline float factor_of(int64_t squares) {
  return squares == 0 ? 0.0f : static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(squares)));
}

// Adds the squares of the lanes to the lanes of `squares`. A sum of two of them is below 2^31 if the numbers are sums
// of at most kRowsInInt16 rows.
inline void add_squares(I16 x, U64& squares) {
#if defined(__AVX512BW__)
  const U64 pairs =
      reinterpret_cast<U64>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(x)));
#elif defined(__AVX2__)
  const U64 pairs =
      reinterpret_cast<U64>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(x)));
#elif defined(__x86_64__)
  const U64 pairs = reinterpret_cast<U64>(_mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(x)));
#else
  typedef int16_t I16x4 __attribute__((vector_size(8), may_alias));
  typedef int32_t I32x4 __attribute__((vector_size(16), may_alias));
  I16x4 half[2];
  memcpy(half, &x, sizeof(x));
  const I32x4 low = __builtin_convertvector(half[0], I32x4), high = __builtin_convertvector(half[1], I32x4);
  const U64 pairs = reinterpret_cast<U64>(low * low + high * high);
#endif
  squares += (pairs & 0xFFFFFFFFu) + (pairs >> 32);
}

// Sets kLanes16 / 2 numbers of `out` to the int16 numbers at `shorts`, times `scale`.
inline void scale_shorts(const char* shorts, float scale, float* out) {
  typedef float Floats __attribute__((vector_size(kVectorBytes), may_alias));
#if defined(__AVX512BW__)
  const __m256i narrow = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(shorts));
  const Floats wide =
      reinterpret_cast<Floats>(_mm512_maskz_cvtepi32_ps(0xFFFF, _mm512_maskz_cvtepi16_epi32(0xFFFF, narrow))) * scale;
#elif defined(__AVX2__)
  const __m128i narrow = _mm_loadu_si128(reinterpret_cast<const __m128i*>(shorts));
  const Floats wide = reinterpret_cast<Floats>(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(narrow))) * scale;
#else
  typedef int16_t Shorts __attribute__((vector_size(kVectorBytes / 2), may_alias));
  Shorts narrow;
  memcpy(&narrow, shorts, sizeof(narrow));
  const Floats wide = __builtin_convertvector(narrow, Floats) * scale;
#endif
  memcpy(out, &wide, sizeof(wide));
}

// Sets out to the sum of the rows, scaled to unit length in float32. A zero vector stays zero. The sum of squares is
// exact, in 64 bits. `sums` has room for `dim` numbers. Sums of at most kRowsInInt16 rows never become int32: that
// would be two more passes over them.
void unit_bag(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums, float* out) {
  if (n > kRowsInInt16 || dim % kColumns != 0) {
    embedding_bag(table, dim, ids, n, known, sums);
    int64_t squares = 0;
    for (size_t j = 0; j < dim; ++j) squares += static_cast<int64_t>(sums[j]) * sums[j];
    const float scale = factor_of(squares);
    for (size_t j = 0; j < dim; ++j) out[j] = static_cast<float>(sums[j]) * scale;
    return;
  }
  char* const shorts = reinterpret_cast<char*>(sums);
  U64 squares = {};
  for (size_t column = 0; column < dim; column += kColumns) {
    I16 partial[8];
    bag_shorts(table + column, dim, ids, n, known, partial);
#pragma GCC unroll 8
    for (size_t k = 0; k < 8; ++k) {
      add_squares(partial[k], squares);
      memcpy(shorts + (column + k * kLanes16) * sizeof(int16_t), &partial[k], sizeof(I16));
    }
  }
  int64_t total = 0;
  for (size_t j = 0; j < kVectorBytes / 8; ++j) total += static_cast<int64_t>(squares[j]);
  const float scale = factor_of(total);
  for (size_t j = 0; j < dim; j += kLanes16 / 2) scale_shorts(shorts + j * sizeof(int16_t), scale, out + j);
}

}  // namespace
}  // namespace pychunk
