// Heads of rows, four bits a number (row_heads.h), held against a query: which rows could score above a limit.
//
// Floor: head / 2 + 8 bytes a row from memory; seven operations for 128 numbers at 512 bits, 11 a row of 192. 971,000
// rows of 192 numbers take 3.2 ms on one thread and 2.6 on two, 38 GB/s; of 160 numbers of 8 bits 5.3 and 4.9.
#pragma once
#include "kernels.h"
#include "scan_simd.h"

namespace pychunk {
namespace {

typedef uint16_t HalfBytes __attribute__((vector_size(kVectorBytes), may_alias));

// Rows whose sums are held in registers together, of a group of kHeadGroup.
constexpr size_t kHeadGroup = 64, kHeadsTogether = 4 * kLanes, kHeadStep = 8, kHeadFlush = 32;

// sums[k] += what kHeadFlush numbers of kLanes rows each add, from the first on; `from` is where the rows' own lie.
inline void add_heads(const uint8_t* from, const int8_t* query, Places* sums) {
#if defined(__AVX2__)
  // Sums of pairs are at most 15 * 127 * 2, eight of which a short holds.
  Shorts pairs[4] = {};
  for (size_t c = 0; c < kHeadFlush; c += kHeadStep, from += kHeadGroup * sizeof(int32_t)) {
    int32_t low, high;
    memcpy(&low, query + c, sizeof(low));
    memcpy(&high, query + c + 4, sizeof(high));
    const Places lower = Places{} + low, upper = Places{} + high;
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k) {
      HalfBytes own;
      memcpy(&own, from + k * kVectorBytes, sizeof(own));
      const HalfBytes mask = HalfBytes{} + uint16_t{0x0F0F}, lows = own & mask, highs = (own >> 4) & mask;
#if defined(__AVX512BW__)
      pairs[k] += reinterpret_cast<Shorts>(
          _mm512_maddubs_epi16(reinterpret_cast<__m512i>(lows), reinterpret_cast<__m512i>(lower)));
      pairs[k] += reinterpret_cast<Shorts>(
          _mm512_maddubs_epi16(reinterpret_cast<__m512i>(highs), reinterpret_cast<__m512i>(upper)));
#else
      pairs[k] += reinterpret_cast<Shorts>(
          _mm256_maddubs_epi16(reinterpret_cast<__m256i>(lows), reinterpret_cast<__m256i>(lower)));
      pairs[k] += reinterpret_cast<Shorts>(
          _mm256_maddubs_epi16(reinterpret_cast<__m256i>(highs), reinterpret_cast<__m256i>(upper)));
#endif
    }
  }
#pragma GCC unroll 4
  for (size_t k = 0; k < 4; ++k) sums[k] += multiply_pairs(pairs[k], Shorts{} + int16_t{1});
#else
  const auto pair_of = [&](size_t c) {
    const int16_t both[2] = {query[c], query[c + 2]};
    int32_t pair;
    memcpy(&pair, both, sizeof(pair));
    return reinterpret_cast<Shorts>(Places{} + pair);
  };
  for (size_t c = 0; c < kHeadFlush; c += kHeadStep, from += kHeadGroup * sizeof(int32_t)) {
    const Shorts pairs[4] = {pair_of(c), pair_of(c + 4), pair_of(c + 1), pair_of(c + 5)};
    for (size_t k = 0; k < 4; ++k) {
      HalfBytes own;
      memcpy(&own, from + k * kVectorBytes, sizeof(own));
      for (size_t part = 0; part < 4; ++part)
        sums[k] += multiply_pairs(reinterpret_cast<Shorts>((own >> (4 * part)) & uint16_t{15}), pairs[part]);
    }
  }
#endif
}

// Rows i < n whose bound is above the limit, or is no number: found[k] = i, could[k] = the bound,
//
//     unit * (2 * (head . query) - shift) + rests[i] * by_rest + tails[i] * by_tail + margin
//
// n is a multiple of 64, `head` of 32.
size_t heads_above(const uint8_t* heads, const float* rests, const float* tails, size_t n, size_t head,
                   const HeadQuery& query, float limit, uint32_t* found, float* could) {
  size_t count = 0;
  for (size_t first = 0; first < n; first += kHeadsTogether) {
    const uint8_t* own = heads + first / kHeadGroup * kHeadGroup * head / 2 + first % kHeadGroup * sizeof(int32_t);
    Places sums[4] = {};
    for (size_t c = 0; c < head; c += kHeadFlush) add_heads(own + c / 2 * kHeadGroup, query.numbers + c, sums);
#pragma GCC unroll 4
    for (size_t k = 0; k < 4; ++k) {
      const size_t at = first + k * kLanes;
      F32 rest, tail;
      memcpy(&rest, rests + at, sizeof(rest));
      memcpy(&tail, tails + at, sizeof(tail));
      const F32 products = query.unit * __builtin_convertvector(2 * sums[k] - query.shift, F32);
      const F32 bounds = products + (rest * query.by_rest + (tail * query.by_tail + query.margin));
      for (uint32_t bits = lanes_that_hold(~(bounds <= limit)); bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(bits));
        could[count] = bounds[lane];
        found[count++] = static_cast<uint32_t>(at) + lane;
      }
    }
  }
  return count;
}

}  // namespace
}  // namespace pychunk
