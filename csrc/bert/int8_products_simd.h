// Products of rows of signed bytes with a packed matrix of bytes, in exact integers, so that every instruction set
// gives the same bits. The factors and the bias are applied in float32, always in the same order.
//
// Lower bound on the cost: in * outs products of bytes for each row. With AVX-512 VNNI, an instruction adds 64 of them,
// and a core starts two in each cycle. A row of 384 bytes with 1,536 outputs takes 4,608 cycles.
#pragma once
#include "bert/int8_matrix.h"
#include "common/kernels.h"
#include "common/simd.h"

namespace pychunk {
namespace {

constexpr size_t kPanel = kPanelColumns;

// Sixteen numbers; every instruction set computes them in the same order. Functions that return them are inlined, so
// that the way in which an instruction set returns them, of which g++ warns, does not matter.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
typedef float F32x16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t I32x16 __attribute__((vector_size(64), aligned(4), may_alias));

// Adds sums * scale * factors to 16 totals, or sets them, if they are the first.
template <bool kFirst>
inline void add_scaled_sums(const I32x16& sums, float scale, const float* factors, float* totals) {
  F32x16 of_columns;
  memcpy(&of_columns, factors, sizeof(of_columns));
  F32x16 result = __builtin_convertvector(sums, F32x16) * scale * of_columns;
  if constexpr (!kFirst) {
    F32x16 before;
    memcpy(&before, totals, sizeof(before));
    result = before + result;
  }
  memcpy(totals, &result, sizeof(result));
}

// Multiplies one group of kRows rows with kPanels panels, and adds the integer sums times the scales of the rows and of
// the columns to `totals`. The sums begin at minus 128 times the sum of each row's bytes, because packed bytes are
// stored with 128 added.
template <size_t kRows, size_t kPanels, bool kFirst>
void add_group(const Int8Rows& x, size_t row, size_t group, const uint8_t* w, size_t panel_bytes, const float* columns,
               float* totals) {
  const size_t begin = group * kGroupBytes, stride = x.in;
  const size_t count = x.in - begin < kGroupBytes ? x.in - begin : kGroupBytes;
  const int8_t* rows = x.bytes + row * stride + begin;
  const int32_t* sums = x.sums + row * x.groups + group;
  const float* scales = x.scales + row * x.groups + group;
  w += begin * kPanel;
#if defined(__AVX512VNNI__)
  __m512i acc[kRows * kPanels];
#pragma GCC unroll 32
  for (size_t i = 0; i < kRows * kPanels; ++i) acc[i] = _mm512_set1_epi32(-128 * sums[i / kPanels * x.groups]);
  for (size_t c = 0; c < count; c += 4) {
    __m512i weights[kPanels];
#pragma GCC unroll 4
    for (size_t p = 0; p < kPanels; ++p) weights[p] = _mm512_loadu_si512(w + p * panel_bytes + c * kPanel);
#pragma GCC unroll 32
    for (size_t i = 0; i < kRows * kPanels; ++i) {
      int32_t four;
      memcpy(&four, rows + i / kPanels * stride + c, 4);
      acc[i] = _mm512_dpbusd_epi32(acc[i], weights[i % kPanels], _mm512_set1_epi32(four));
    }
  }
  // Without this, g++ 12 keeps the sums in memory and stores them in every iteration, at 60 % more.
#pragma GCC unroll 32
  for (size_t i = 0; i < kRows * kPanels; ++i) asm("" : "+v"(acc[i]));
  F32x16 factors[kPanels];
#pragma GCC unroll 4
  for (size_t p = 0; p < kPanels; ++p) memcpy(&factors[p], columns + p * kPanel, sizeof(F32x16));
#pragma GCC unroll 32
  for (size_t i = 0; i < kRows * kPanels; ++i) {
    const F32x16 sum = __builtin_convertvector(reinterpret_cast<I32x16>(acc[i]), F32x16);
    F32x16 found = sum * scales[i / kPanels * x.groups] * factors[i % kPanels];
    if constexpr (!kFirst) {
      F32x16 before;
      memcpy(&before, totals + i * kPanel, sizeof(before));
      found = before + found;
    }
    memcpy(totals + i * kPanel, &found, sizeof(found));
  }
#elif defined(__AVX2__)
  // Bytes become 16-bit numbers: the instruction for bytes saturates its sums, so that they would not be exact.
#pragma GCC unroll 4
  for (size_t p = 0; p < kPanels; ++p) {
    __m256i acc[kRows][4];
#pragma GCC unroll 2
    for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 4
      for (size_t q = 0; q < 4; ++q) acc[r][q] = _mm256_setzero_si256();
    for (size_t c = 0; c < count; c += 4) {
      __m256i weights[4];
#pragma GCC unroll 4
      for (size_t q = 0; q < 4; ++q)
        weights[q] = _mm256_cvtepu8_epi16(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(w + p * panel_bytes + c * kPanel + q * 16)));
#pragma GCC unroll 2
      for (size_t r = 0; r < kRows; ++r) {
        int32_t four;
        memcpy(&four, rows + r * stride + c, 4);
        const __m256i numbers = _mm256_cvtepi8_epi16(_mm_set1_epi32(four));
#pragma GCC unroll 4
        for (size_t q = 0; q < 4; ++q) acc[r][q] = _mm256_add_epi32(acc[r][q], _mm256_madd_epi16(weights[q], numbers));
      }
    }
#pragma GCC unroll 2
    for (size_t r = 0; r < kRows; ++r) {
      const __m256i start = _mm256_set1_epi32(-128 * sums[r * x.groups]);
      I32x16 found;
      // Adds the two halves of each output, and puts the outputs of two registers in order.
#pragma GCC unroll 2
      for (size_t q = 0; q < 4; q += 2) {
        const __m256i pairs = _mm256_hadd_epi32(acc[r][q], acc[r][q + 1]);
        const __m256i ordered = _mm256_add_epi32(_mm256_permute4x64_epi64(pairs, 0xD8), start);
        memcpy(reinterpret_cast<char*>(&found) + q * 16, &ordered, sizeof(ordered));
      }
      add_scaled_sums<kFirst>(found, scales[r * x.groups], columns + p * kPanel, totals + (r * kPanels + p) * kPanel);
    }
  }
#else
  for (size_t r = 0; r < kRows; ++r)
    for (size_t p = 0; p < kPanels; ++p) {
      int32_t acc[kPanel];
      for (size_t o = 0; o < kPanel; ++o) acc[o] = -128 * sums[r * x.groups];
      for (size_t c = 0; c < count; c += 4) {
        const uint8_t* block = w + p * panel_bytes + c * kPanel;
        const int8_t* four = rows + r * stride + c;
        for (size_t o = 0; o < kPanel; ++o)
          for (size_t i = 0; i < 4; ++i) acc[o] += block[o * 4 + i] * four[i];
      }
      I32x16 found;
      memcpy(&found, acc, sizeof(found));
      add_scaled_sums<kFirst>(found, scales[r * x.groups], columns + p * kPanel, totals + (r * kPanels + p) * kPanel);
    }
#endif
}

template <size_t kRows, size_t kPanels>
inline void products_of_bytes(const Int8Rows& x, size_t row, const uint8_t* w, size_t panel_bytes,
                              const Int8Columns& columns, float* out, size_t stride) {
  alignas(64) float totals[kRows * kPanels * kPanel];
  add_group<kRows, kPanels, true>(x, row, 0, w, panel_bytes, columns.scales, totals);
  for (size_t group = 1; group < x.groups; ++group)
    add_group<kRows, kPanels, false>(x, row, group, w, panel_bytes, columns.scales + group * columns.stride, totals);
  for (size_t p = 0; p < kPanels; ++p) {
    F32x16 offsets = {};
    if (columns.bias != nullptr) memcpy(&offsets, columns.bias + p * kPanel, sizeof(offsets));
    for (size_t r = 0; r < kRows; ++r) {
      F32x16 result;
      memcpy(&result, totals + (r * kPanels + p) * kPanel, sizeof(result));
      result = result + offsets;
      memcpy(out + r * stride + p * kPanel, &result, sizeof(result));
    }
  }
}

template <size_t kPanels>
inline void products_of_panels(const Int8Rows& x, const uint8_t* w, size_t panel_bytes, const Int8Columns& columns,
                               float* out, size_t stride) {
#if defined(__AVX512VNNI__)
  constexpr size_t kRows = kPanels == 4 ? 6 : 8;  // 24 sums fit in 32 registers, with the weights
#else
  constexpr size_t kRows = 2;
#endif
  size_t row = 0;
  for (; row + kRows <= x.rows; row += kRows)
    products_of_bytes<kRows, kPanels>(x, row, w, panel_bytes, columns, out + row * stride, stride);
  if constexpr (kRows > 2)
    for (; row + 2 <= x.rows; row += 2)
      products_of_bytes<2, kPanels>(x, row, w, panel_bytes, columns, out + row * stride, stride);
  for (; row < x.rows; ++row)
    products_of_bytes<1, kPanels>(x, row, w, panel_bytes, columns, out + row * stride, stride);
}

// Sets out[t * stride + o] to the product of row t and column o, times the scales of both, plus the column's bias.
void multiply_int8(const Int8Rows& x, const uint8_t* w, size_t outs, const Int8Columns& columns, float* out,
                   size_t stride) {
  const size_t panel_bytes = x.in * kPanel;
  const auto from = [&](size_t o) {
    return Int8Columns{columns.scales + o, columns.stride, columns.bias == nullptr ? nullptr : columns.bias + o};
  };
  size_t o = 0;
  for (; o + 4 * kPanel <= outs; o += 4 * kPanel)
    products_of_panels<4>(x, w + o * x.in, panel_bytes, from(o), out + o, stride);
  for (; o < outs; o += kPanel) products_of_panels<1>(x, w + o * x.in, panel_bytes, from(o), out + o, stride);
}

}  // namespace
}  // namespace pychunk
