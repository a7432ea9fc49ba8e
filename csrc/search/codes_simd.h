// The kernels of product quantization with 16 centroids for each piece (Jegou et al., 2011), with score tables that are
// in registers (Andre et al., 2015). They make the codes of 32 rows, and add up the scores of codes.
//
// Lower bound: a code is read once, half a byte for each piece. A register of 64 bytes handles 128 codes with two
// shuffles, two masks, a shift and six additions, so 64 pieces of a row take some 5 cycles. Making codes takes 16 *
// width multiplications and as many additions for each piece, and 48 steps to find the best of 16.
#pragma once
#include "search/scan_simd.h"

namespace pychunk {
namespace {

constexpr size_t kCodeRows = 32, kCentroids = 16, kPieceBytes = 16;

// Set out[r] to the k with the highest score, and to the first of equals. The score is bias[k] + the sum over c of x[c
// * 32 + r] * book[k * width + c], in the order of c.
void best_centroids(const float* x, size_t width, const float* book, const float* bias, uint8_t* out) {
  for (size_t r = 0; r < kCodeRows; r += kLanes) {
    F32 highest;
    Places place = {};
    for (size_t k = 0; k < kCentroids; ++k) {
      F32 score = F32{} + bias[k];
      for (size_t c = 0; c < width; ++c) {
        F32 numbers;
        memcpy(&numbers, x + c * kCodeRows + r, sizeof(numbers));
        score += numbers * book[k * width + c];
      }
      if (k == 0) {
        highest = score;
      } else {
        const Places more = score > highest;
        highest = more ? score : highest;
        place = more ? Places{} + static_cast<int32_t>(k) : place;
      }
    }
    for (size_t lane = 0; lane < kLanes; ++lane) out[r + lane] = static_cast<uint8_t>(place[lane]);
  }
}

#if defined(__AVX512BW__)
typedef __m512i CodeBytes;
inline CodeBytes load_codes(const uint8_t* p) { return _mm512_loadu_si512(p); }
inline CodeBytes low_halves(CodeBytes v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
inline CodeBytes high_halves(CodeBytes v) { return low_halves(_mm512_srli_epi16(v, 4)); }
inline CodeBytes look_up(CodeBytes table, CodeBytes at) { return _mm512_shuffle_epi8(table, at); }
inline CodeBytes add_shorts(CodeBytes a, CodeBytes b) { return _mm512_add_epi16(a, b); }
inline CodeBytes odd_bytes(CodeBytes v) { return _mm512_srli_epi16(v, 8); }
inline __m256i folded(CodeBytes v) {
  __m256i halves[2];
  memcpy(halves, &v, sizeof(v));
  return _mm256_add_epi16(halves[0], halves[1]);
}
#elif defined(__AVX2__)
typedef __m256i CodeBytes;
inline CodeBytes load_codes(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline CodeBytes low_halves(CodeBytes v) { return _mm256_and_si256(v, _mm256_set1_epi8(15)); }
inline CodeBytes high_halves(CodeBytes v) { return low_halves(_mm256_srli_epi16(v, 4)); }
inline CodeBytes look_up(CodeBytes table, CodeBytes at) { return _mm256_shuffle_epi8(table, at); }
inline CodeBytes add_shorts(CodeBytes a, CodeBytes b) { return _mm256_add_epi16(a, b); }
inline CodeBytes odd_bytes(CodeBytes v) { return _mm256_srli_epi16(v, 8); }
inline __m256i folded(CodeBytes v) { return v; }
#endif

// Write the scores of 32 rows: out[r] = the sum over the pieces of tables[piece * 16 + code of r]. A piece's 16 bytes
// of codes hold rows 0 to 15 in their lower halves and 16 to 31 in their upper ones. The number of pieces is a multiple
// of four, and small enough that no sum exceeds 65,535.
inline void add_codes(const uint8_t* codes, size_t pieces, const uint8_t* tables, uint16_t* out) {
#if defined(__AVX2__)
  constexpr size_t kAtOnce = sizeof(CodeBytes) / kPieceBytes;
  // Sums of 16-bit integers: `both` adds the even bytes plus 256 times the odd ones, which are subtracted later, and
  // `odd` adds the odd ones alone.
  CodeBytes both[2] = {}, odd[2] = {};
  for (size_t piece = 0; piece < pieces; piece += kAtOnce) {
    const CodeBytes own = load_codes(codes + piece * kPieceBytes), table = load_codes(tables + piece * kCentroids);
    const CodeBytes low = look_up(table, low_halves(own)), high = look_up(table, high_halves(own));
    both[0] = add_shorts(both[0], low), odd[0] = add_shorts(odd[0], odd_bytes(low));
    both[1] = add_shorts(both[1], high), odd[1] = add_shorts(odd[1], odd_bytes(high));
  }
  for (size_t half = 0; half < 2; ++half) {
    // Lanes of 128 bits hold different pieces and are added. Even and odd bytes are interleaved again.
    const __m256i odds = folded(odd[half]);
    const __m256i evens = _mm256_sub_epi16(folded(both[half]), _mm256_slli_epi16(odds, 8));
    const __m256i low = _mm256_unpacklo_epi16(evens, odds), high = _mm256_unpackhi_epi16(evens, odds);
    const __m128i first = _mm_add_epi16(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    const __m128i second = _mm_add_epi16(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
    memcpy(out + half * kPieceBytes, &first, sizeof(first));
    memcpy(out + half * kPieceBytes + 8, &second, sizeof(second));
  }
#else
  for (size_t r = 0; r < kCodeRows; ++r) out[r] = 0;
  for (size_t piece = 0; piece < pieces; ++piece) {
    const uint8_t *own = codes + piece * kPieceBytes, *table = tables + piece * kCentroids;
#if defined(__aarch64__)
    const uint8x16_t all = vld1q_u8(own), values = vld1q_u8(table);
    const uint8x16_t halves[2] = {vqtbl1q_u8(values, vandq_u8(all, vdupq_n_u8(15))),
                                  vqtbl1q_u8(values, vshrq_n_u8(all, 4))};
    for (size_t half = 0; half < 2; ++half) {
      uint16_t* to = out + half * 16;
      vst1q_u16(to, vaddw_u8(vld1q_u16(to), vget_low_u8(halves[half])));
      vst1q_u16(to + 8, vaddw_u8(vld1q_u16(to + 8), vget_high_u8(halves[half])));
    }
#else
    for (size_t r = 0; r < kPieceBytes; ++r) {
      out[r] = static_cast<uint16_t>(out[r] + table[own[r] & 15]);
      out[r + kPieceBytes] = static_cast<uint16_t>(out[r + kPieceBytes] + table[own[r] >> 4]);
    }
#endif
  }
#endif
}

inline bool any_at_least(const uint16_t* scores, uint16_t least) {
#if defined(__SSE2__)
  __m128i above = _mm_setzero_si128();
  for (size_t r = 0; r < kCodeRows; r += 8) {
    __m128i own;
    memcpy(&own, scores + r, sizeof(own));
    const __m128i lacking = _mm_subs_epu16(_mm_set1_epi16(static_cast<int16_t>(least)), own);
    above = _mm_or_si128(above, _mm_cmpeq_epi16(lacking, _mm_setzero_si128()));
  }
  return _mm_movemask_epi8(above) != 0;
#else
  uint16_t most = 0;
  for (size_t r = 0; r < kCodeRows; ++r) most = scores[r] > most ? scores[r] : most;
  return most >= least;
#endif
}

// Find the rows of n groups of 32 that score at least `least`. Set found[i] to the row and scores[i] to its score, and
// return how many there are.
size_t codes_above(const uint8_t* codes, size_t n, size_t pieces, const uint8_t* tables, uint16_t least,
                   uint32_t* found, uint16_t* scores) {
  size_t count = 0;
  for (size_t group = 0; group < n; ++group) {
    uint16_t own[kCodeRows];
    add_codes(codes + group * pieces * kPieceBytes, pieces, tables, own);
    if (!any_at_least(own, least)) continue;
    for (size_t r = 0; r < kCodeRows; ++r) {
      found[count] = static_cast<uint32_t>(group * kCodeRows + r), scores[count] = own[r];
      count += own[r] >= least;
    }
  }
  return count;
}

}  // namespace
}  // namespace pychunk
