// The kernels that compare heads of rows, four bits for each number (prefilter.h), with queries, and find the rows that
// could score above a limit.
//
// One query, lower bound: head / 2 + 4 bytes of each row come from memory. 971,000 rows of 192 numbers take 3.2 ms on
// one thread and 2.6 on two, 38 GB/s. Many queries, lower bound: codes become bytes once for all of them, in the
// first-level cache. One product and one sum then handle four numbers of eight rows and a query. Zen 3 does 1.65 of
// these a cycle, so a pair of a row and a query with 192 numbers should take 1.16 ns. It takes 1.44, and would take
// 1.86 if halves were separated again for every four queries.
#pragma once
#include "common/kernels.h"
#include "search/scan_simd.h"

namespace pychunk {
namespace {

typedef uint16_t HalfBytes __attribute__((vector_size(kVectorBytes), may_alias));

constexpr size_t kHeadGroup = 64;

// Products are added up in 16-bit integers, or directly in 32-bit integers.
#if defined(__AVX2__) && !defined(__AVX512VNNI__)
typedef Shorts HeadSums;
#else
typedef Places HeadSums;
#endif

// Four numbers of a query, repeated for all rows of a register.
#if defined(__AVX2__)
typedef Places FourNumbers;

inline FourNumbers load_four(const int8_t* numbers) {
  int32_t four;
  memcpy(&four, numbers, sizeof(four));
  return Places{} + four;
}

// Return `sums` plus the products of four codes of each row, which are bytes below 16.
inline HeadSums add_four(HeadSums sums, HalfBytes codes, FourNumbers numbers) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<HeadSums>(_mm512_dpbusd_epi32(
      reinterpret_cast<__m512i>(sums), reinterpret_cast<__m512i>(codes), reinterpret_cast<__m512i>(numbers)));
#elif defined(__AVX512BW__)
  return sums + reinterpret_cast<HeadSums>(
                    _mm512_maddubs_epi16(reinterpret_cast<__m512i>(codes), reinterpret_cast<__m512i>(numbers)));
#else
  return sums + reinterpret_cast<HeadSums>(
                    _mm256_maddubs_epi16(reinterpret_cast<__m256i>(codes), reinterpret_cast<__m256i>(numbers)));
#endif
}
#else
struct FourNumbers {
  Shorts even, odd;
};

inline Shorts pair_for_all(int8_t first, int8_t second) {
  const int16_t both[2] = {first, second};
  int32_t pair;
  memcpy(&pair, both, sizeof(pair));
  return reinterpret_cast<Shorts>(Places{} + pair);
}

inline FourNumbers load_four(const int8_t* numbers) {
  return {pair_for_all(numbers[0], numbers[2]), pair_for_all(numbers[1], numbers[3])};
}

inline HeadSums add_four(HeadSums sums, HalfBytes codes, const FourNumbers& numbers) {
  return sums + (multiply_pairs(reinterpret_cast<Shorts>(codes & uint16_t{255}), numbers.even) +
                 multiply_pairs(reinterpret_cast<Shorts>(codes >> 8), numbers.odd));
}
#endif

inline Places weighed_sums(HeadSums sums, int32_t weight) {
#if defined(__AVX2__) && !defined(__AVX512VNNI__)
  return multiply_pairs(sums, HeadSums{} + static_cast<int16_t>(weight));
#else
  return sums * weight;
#endif
}

// Load bytes of two codes each; lower_codes() and upper_codes() return one half of them.
inline HalfBytes load_halves(const uint8_t* from) {
  HalfBytes halves;
  memcpy(&halves, from, sizeof(halves));
  return halves;
}
inline HalfBytes lower_codes(HalfBytes both) { return both & uint16_t{0x0F0F}; }
inline HalfBytes upper_codes(HalfBytes both) { return (both >> 4) & uint16_t{0x0F0F}; }

// The codes of a group's rows in memory. PackedCodes has two in a byte, and ByteCodes one: [head / 4, 64, 4].
constexpr size_t kGroupBytes = kHeadGroup * 4;
struct PackedCodes {
  static constexpr size_t kStep = 8;
  const uint8_t* from;

  template <size_t kQueries, size_t kRegisters>
  void add(const HeadQuery* queries, size_t c, HeadSums (&sums)[kQueries][kRegisters]) const {
#pragma GCC unroll 4
    for (size_t q = 0; q < kQueries; ++q) {
      const FourNumbers lower = load_four(queries[q].numbers + c), upper = load_four(queries[q].numbers + c + 4);
#pragma GCC unroll 4
      for (size_t k = 0; k < kRegisters; ++k) {
        const HalfBytes both = load_halves(from + c / 8 * kGroupBytes + k * kVectorBytes);
        sums[q][k] = add_four(sums[q][k], lower_codes(both), lower);
        sums[q][k] = add_four(sums[q][k], upper_codes(both), upper);
      }
    }
  }
};
struct ByteCodes {
  static constexpr size_t kStep = 4;
  const uint8_t* from;

  template <size_t kQueries, size_t kRegisters>
  void add(const HeadQuery* queries, size_t c, HeadSums (&sums)[kQueries][kRegisters]) const {
    HalfBytes codes[kRegisters];
#pragma GCC unroll 4
    for (size_t k = 0; k < kRegisters; ++k) codes[k] = load_halves(from + c / 4 * kGroupBytes + k * kVectorBytes);
#pragma GCC unroll 4
    for (size_t q = 0; q < kQueries; ++q) {
      const FourNumbers numbers = load_four(queries[q].numbers + c);
#pragma GCC unroll 4
      for (size_t k = 0; k < kRegisters; ++k) sums[q][k] = add_four(sums[q][k], codes[k], numbers);
    }
  }
};

void codes_to_bytes(const uint8_t* heads, size_t head, uint8_t* out) {
  for (size_t c = 0; c < head; c += 8, heads += kGroupBytes, out += 2 * kGroupBytes)
    for (size_t k = 0; k < kGroupBytes; k += kVectorBytes) {
      const HalfBytes both = load_halves(heads + k), lower = lower_codes(both), upper = upper_codes(both);
      memcpy(out + k, &lower, sizeof(lower));
      memcpy(out + kGroupBytes + k, &upper, sizeof(upper));
    }
}

// Find the rows among [first, first + kRegisters * kLanes) of a group.
template <size_t kQueries, size_t kRegisters, typename Codes>
inline void find_heads_above(Codes codes, const uint32_t* lengths, size_t first, size_t head, const HeadQuery* queries,
                             const int32_t* limits, size_t room, uint32_t* found, float* could, size_t* counts) {
  Places sums[kQueries][kRegisters] = {};
  size_t end = 0;
  while (end < head) {
    const size_t begin = end, least = begin == 0 ? kFirstHeadRun : begin + kHeadRun;
    end = least < head ? least : head;
    HeadSums some[kQueries][kRegisters] = {};
    for (size_t c = begin; c < end; c += Codes::kStep) codes.template add<kQueries, kRegisters>(queries, c, some);
#pragma GCC unroll 4
    for (size_t q = 0; q < kQueries; ++q)
#pragma GCC unroll 4
      for (size_t k = 0; k < kRegisters; ++k) sums[q][k] += weighed_sums(some[q][k], queries[q].weights[begin > 0]);
  }
  uint64_t bits[kQueries] = {}, any = 0;
#pragma GCC unroll 4
  for (size_t q = 0; q < kQueries; ++q) {
    const Shorts by = reinterpret_cast<Shorts>(Places{} + queries[q].by_lengths);
#pragma GCC unroll 4
    for (size_t k = 0; k < kRegisters; ++k) {
      sums[q][k] += multiply_pairs(load_shorts(reinterpret_cast<const int16_t*>(lengths + first + k * kLanes)), by);
      bits[q] |= uint64_t{lanes_that_hold(sums[q][k] > limits[q])} << (k * kLanes);
    }
    any |= bits[q];
  }
  if (any == 0) return;
  for (size_t q = 0; q < kQueries; ++q)
    for (uint64_t own = bits[q]; own != 0; own &= own - 1) {
      const auto row = static_cast<uint32_t>(__builtin_ctzll(own));
      const int32_t whole = sums[q][row / kLanes][row % kLanes] + queries[q].start;
      const float bound = static_cast<float>(whole) * queries[q].unit;
      could[q * room + counts[q]] = bound + __builtin_fabsf(bound) * 1e-6f + queries[q].margin;
      found[q * room + counts[q]++] = static_cast<uint32_t>(first) + row;
    }
}

// The bound of row i for a query is
// unit * (head . (weights * numbers) + lengths[i] . by_lengths + start) + margin
// in which `lengths` are pairs of 16-bit numbers. For each query, find the rows i < n for which the integer in
// brackets, without `start`, exceeds the query's limit. counts[q] is their number. Row k of query q is found[q * n +
// k], and its bound is could[q * n + k]. n is a multiple of 64, `head` of 32, and the number of queries is 1 or a
// multiple of 4. `room` has 64 * head bytes.
void heads_above(const uint8_t* heads, const uint32_t* lengths, size_t n, size_t head, const HeadQuery* queries,
                 size_t asked, const int32_t* limits, uint8_t* room, uint32_t* found, float* could, size_t* counts) {
  constexpr size_t kAlone = 4, kMany = kVectorBytes == 16 ? 1 : 2;
  for (size_t q = 0; q < asked; ++q) counts[q] = 0;
  for (size_t group = 0; group < n; group += kHeadGroup) {
    const uint8_t* codes = heads + group * head / 2;
    if (asked == 1) {
      for (size_t k = 0; k < kHeadGroup; k += kAlone * kLanes)
        find_heads_above<1, kAlone>(PackedCodes{codes + k * 4}, lengths, group + k, head, queries, limits, n, found,
                                    could, counts);
      continue;
    }
    codes_to_bytes(codes, head, room);
    for (size_t q = 0; q < asked; q += 4) {
      for (size_t k = 0; k < kHeadGroup; k += kMany * kLanes)
        find_heads_above<4, kMany>(ByteCodes{room + k * 4}, lengths, group + k, head, queries + q, limits + q, n,
                                   found + q * n, could + q * n, counts + q);
    }
  }
}

// ---- making heads ----

// Write eight codes as four bytes: code j in the lower half of byte j, and code j + 4 in its upper half.
inline void store_codes(Places4 first, Places4 last, uint8_t* out) {
  const Places4 both = first | (last << 4);
#if defined(__x86_64__)
  const __m128i shorts = _mm_packs_epi32(reinterpret_cast<__m128i>(both), reinterpret_cast<__m128i>(both));
  const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(shorts, shorts));
#else
  typedef uint8_t Bytes4 __attribute__((vector_size(4), may_alias));
  const Bytes4 four = __builtin_convertvector(both, Bytes4);
#endif
  memcpy(out, &four, sizeof(four));
}

// Write the codes of kTree numbers, whose registers hold kLanes codes each.
inline void store_codes(const Places (&codes)[kTree / kLanes], uint8_t* out) {
  for (size_t c = 0; c < kTree; c += 8, out += kGroupBytes) {
#if defined(__AVX512BW__)
    Places8 low, high;
    halves_of(codes[c / kLanes], low, high);
    Places4 first, last;
    halves_of(c % kLanes == 0 ? low : high, first, last);
#elif defined(__AVX2__)
    Places4 first, last;
    halves_of(codes[c / kLanes], first, last);
#else
    const Places4 first = codes[c / kLanes], last = codes[c / kLanes + 1];
#endif
    store_codes(first, last, out);
  }
}

// Write the codes of the first `head` numbers of a row of `dim` bytes and their scale. Codes go to every kGroupBytes-th
// four bytes. squares[0] is the sum of the squares of what the codes lose, squares[1] that of the values which they
// stand for, and squares[2] that of the bytes after the first `head`. Both counts are multiples of 32.
//
// Lower bound: each byte is read once, and four bits for each number are written. With AVX2, eight numbers take some 22
// instructions. Heads of 970,000 rows of 256 numbers take a sixth of the time that a loop for the baseline instruction
// set took, which was 0.3 s on one thread.
void code_row(const int8_t* row, size_t dim, size_t head, const float* steps, const float* inverses, uint8_t* out,
              float* squares) {
  constexpr size_t kRegisters = kTree / kLanes;
  float scale;
  memcpy(&scale, row + dim, sizeof(scale));
  F32 left[kRegisters], kept[kRegisters];
  clear(left), clear(kept);
  const F32 least = F32{}, most = F32{} + 15.0f;
  for (size_t c = 0; c < head; c += kTree, out += kTree / 8 * kGroupBytes) {
    Places codes[kRegisters];
#pragma GCC unroll 8
    for (size_t r = 0; r < kRegisters; ++r) {
      const size_t at = c + r * kLanes;
      const F32 number = load_numbers(row + at) * scale;
      F32 place = number * load_numbers(inverses + at) + 8.0f;
      place = place > least ? place : least;  // replaces NaN by a number
      place = place < most ? place : most;
      codes[r] = __builtin_convertvector(place, Places);
      const F32 stands_for = (__builtin_convertvector(codes[r], F32) - 7.5f) * load_numbers(steps + at);
      const F32 lacks = number - stands_for;
      left[r] += lacks * lacks, kept[r] += stands_for * stands_for;
    }
    store_codes(codes, out);
  }
  Places rest = {};
  for (size_t c = head; c < dim; c += kShorts) {
    const Shorts numbers = load_shorts(row + c);
    rest = add_pairs(rest, numbers, numbers);
  }
  squares[0] = sum_of_tree(left), squares[1] = sum_of_tree(kept), squares[2] = static_cast<float>(total(rest));
}

}  // namespace
}  // namespace pychunk
