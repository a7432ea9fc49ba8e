// The conversion of stored vectors to float32, and their inner products with sixteen queries at a time, which a scan of
// an index needs. A product is the sum that dot() of similarity_simd.h gives, by the same tree, so one query alone and
// many together get the same scores. Contraction into fused multiply-add is off for the whole build (CMakeLists.txt).
//
// Lower bound: 2 bytes for each number are read from memory, once for all queries. With 16 queries or more, a row costs
// dim * 16 multiplications and as many additions for each panel. That is 512 cycles at dim 256 on a processor with two
// pipes that multiply and two that add 256 bits each.
#pragma once
#include "vectors/stored_numbers_simd.h"

namespace pychunk {
namespace {

typedef int32_t Places __attribute__((vector_size(kVectorBytes), may_alias));

// The number of queries in a panel: [dim, kPanelWidth], with the numbers of one dimension side by side.
constexpr size_t kPanelWidth = 16;
// The number of rows that dot_panel handles together.
constexpr size_t kRowsTogether = kLanes == 16 ? 8 : 4;

inline F32 load_numbers(const int8_t* bytes) {
#if defined(__AVX512BW__)
  const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return reinterpret_cast<F32>(_mm512_maskz_cvtepi32_ps(kEveryLane, _mm512_maskz_cvtepi8_epi32(kEveryLane, stored)));
#elif defined(__AVX2__)
  return reinterpret_cast<F32>(
      _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)))));
#else
  typedef int8_t Bytes __attribute__((vector_size(kLanes), may_alias));
  Bytes stored;
  memcpy(&stored, bytes, sizeof(stored));
  return __builtin_convertvector(__builtin_convertvector(stored, Places), F32);
#endif
}

template <typename Stored>
inline void widen_stored(const Stored* numbers, size_t n, float* out) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 value = load_numbers(numbers + i);
    memcpy(out + i, &value, sizeof(value));
  }
  if (i == n) return;
  Stored rest[kLanes] = {};
  memcpy(rest, numbers + i, (n - i) * sizeof(Stored));
  const F32 value = load_numbers(rest);
  memcpy(out + i, &value, (n - i) * sizeof(*out));
}

// Set out[i] to the float16 whose bits are halves[i], exactly.
void widen_halves(const uint16_t* halves, size_t n, float* out) { widen_stored(halves, n, out); }
// Set out[i] to bytes[i].
void widen_bytes(const int8_t* bytes, size_t n, float* out) { widen_stored(bytes, n, out); }

template <typename Stored>
inline float dot_stored(const Stored* row, size_t dim, const float* query) {
  constexpr size_t kRegisters = kTree / kLanes;
  F32 partial[kRegisters] = {};
  for (size_t c = 0; c < dim; c += kTree) {
    prefetch_step(row + c, kAheadBytes);
#pragma GCC unroll 8
    for (size_t r = 0; r < kRegisters; ++r)
      partial[r] += load_numbers(row + c + r * kLanes) * load_numbers(query + c + r * kLanes);
  }
  return sum_of_tree(partial);
}

// Set out[i] to dot(rows[i], query) for rows in their stored form. dim is a multiple of 32.
void dot_halves(const uint16_t* rows, size_t n, size_t dim, const float* query, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = dot_stored(rows + i * dim, dim, query);
}
void dot_floats(const float* rows, size_t n, size_t dim, const float* query, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = dot_stored(rows + i * dim, dim, query);
}
// Set out[i] to dot(rows[i], query) for rows of bytes. Each row is followed by its scale, a float32 by which the
// product is multiplied.
void dot_bytes(const int8_t* rows, size_t n, size_t dim, const float* query, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const int8_t* row = rows + i * (dim + sizeof(float));
    float scale;
    memcpy(&scale, row + dim, sizeof(scale));
    out[i] = dot_stored(row, dim, query) * scale;
  }
}

// ---- rows of bytes by integers: the rows that could score above a limit ----

typedef int16_t Shorts __attribute__((vector_size(kVectorBytes), may_alias));
typedef int32_t Places2 __attribute__((vector_size(8), may_alias));
typedef int32_t Places4 __attribute__((vector_size(16), may_alias));
typedef int32_t Places8 __attribute__((vector_size(32), may_alias));
constexpr size_t kShorts = kVectorBytes / 2;
// A term added to every bound, for products of tiny numbers that are lost below the smallest float32.
constexpr float kLost = 1e-37f;

inline Shorts load_shorts(const int8_t* bytes) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Shorts>(_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes))));
#elif defined(__AVX2__)
  return reinterpret_cast<Shorts>(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes))));
#else
  typedef int8_t Bytes __attribute__((vector_size(kShorts), may_alias));
  Bytes stored;
  memcpy(&stored, bytes, sizeof(stored));
  return __builtin_convertvector(stored, Shorts);
#endif
}
inline Shorts load_shorts(const int16_t* shorts) {
  Shorts value;
  memcpy(&value, shorts, sizeof(value));
  return value;
}

// Return the sums of the products of adjacent pairs.
inline Places multiply_pairs(Shorts a, Shorts b) {
#if defined(__AVX512BW__)
  return reinterpret_cast<Places>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Places>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__x86_64__)
  return reinterpret_cast<Places>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  Places sums;
  for (size_t k = 0; k < kLanes; ++k) sums[k] = a[2 * k] * b[2 * k] + a[2 * k + 1] * b[2 * k + 1];
  return sums;
#endif
}

// Return sums + multiply_pairs(a, b), which must fit into the integers. With VNNI this is one instruction instead of
// three, and it can also take a pair from memory. panel_above consists mostly of this instruction.
inline Places add_pairs(Places sums, Shorts a, Shorts b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<Places>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sums), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return sums + multiply_pairs(a, b);
#endif
}

inline int32_t total(Places sums) {
#if defined(__AVX512BW__)
  const Places4 four = halved<Places4>(halved<Places8>(sums));
#elif defined(__AVX2__)
  const Places4 four = halved<Places4>(sums);
#else
  const Places4 four = sums;
#endif
  const Places2 two = halved<Places2>(four);
  return two[0] + two[1];
}

// Set out[i] to bytes[i]. n is a multiple of 32.
void widen_to_shorts(const int8_t* bytes, size_t n, int16_t* out) {
  for (size_t i = 0; i < n; i += kShorts) {
    if (i % kLine == 0) __builtin_prefetch(bytes + i + kAheadBytes);
    const Shorts value = load_shorts(bytes + i);
    memcpy(out + i, &value, sizeof(value));
  }
}

// Find the rows i < n, each bytes and their scale, whose bound scale * unit * (row . query) + |scale| * margin exceeds
// the limit or is not a number. Set found[k] to i, and return how many there are. The order of additions does not
// matter for integers. dim is a multiple of 32.
size_t bytes_above(const int8_t* rows, size_t n, size_t dim, const int16_t* query, float unit, float margin,
                   float limit, uint32_t* found) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const int8_t* row = rows + i * (dim + sizeof(float));
    float scale;
    memcpy(&scale, row + dim, sizeof(scale));
    Places sums[32 / kShorts] = {};
    for (size_t c = 0; c < dim; c += 32) {
      if (n > 1 && c % kLine == 0) __builtin_prefetch(row + c + kAheadBytes);
#pragma GCC unroll 4
      for (size_t k = 0; k < 32 / kShorts; ++k)
        sums[k] = add_pairs(sums[k], load_shorts(row + c + k * kShorts), load_shorts(query + c + k * kShorts));
    }
#pragma GCC unroll 4
    for (size_t k = 1; k < 32 / kShorts; ++k) sums[0] += sums[k];
    const float product = unit * static_cast<float>(total(sums[0]));
    const float bound = scale * product + __builtin_fabsf(scale) * margin + kLost;
    if (!(bound <= limit)) found[count++] = static_cast<uint32_t>(i);
  }
  return count;
}

// Find the rows as bytes_above() does, but for four queries, among rows that are already widened. Set found[k] to i *
// 16 + a bit for each query.
size_t shorts_above(const int16_t* rows, const float* scales, size_t n, size_t dim, const int16_t* queries,
                    const float* units, const float* margins, const float* limits, uint32_t* found) {
  F32x4 unit, margin, limit;
  memcpy(&unit, units, sizeof(unit));
  memcpy(&margin, margins, sizeof(margin));
  memcpy(&limit, limits, sizeof(limit));
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const int16_t* row = rows + i * dim;
    Places sums[4] = {};
    for (size_t c = 0; c < dim; c += kShorts) {
      const Shorts numbers = load_shorts(row + c);
#pragma GCC unroll 4
      for (size_t q = 0; q < 4; ++q) sums[q] = add_pairs(sums[q], numbers, load_shorts(queries + q * dim + c));
    }
    Places4 totals;
#pragma GCC unroll 4
    for (size_t q = 0; q < 4; ++q) totals[q] = total(sums[q]);
    const F32x4 products = unit * __builtin_convertvector(totals, F32x4);
    const F32x4 bounds = scales[i] * products + __builtin_fabsf(scales[i]) * margin + kLost;
    const Places4 above = bounds > limit;
    const Places2 some = halved<Places2>(above & Places4{1, 2, 4, 8});
    const auto bits = static_cast<uint32_t>(some[0] + some[1]);
    if (bits != 0) found[count++] = static_cast<uint32_t>(i) << 4 | bits;
  }
  return count;
}

// Return the lanes that are true, one bit each.
inline uint32_t lanes_that_hold(Places holds) {
#if defined(__AVX512BW__)
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(holds));
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(holds)));
#elif defined(__x86_64__)
  return static_cast<uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(holds)));
#else
  uint32_t bits = 0;
  for (size_t k = 0; k < kLanes; ++k) bits |= static_cast<uint32_t>(holds[k] & 1) << k;
  return bits;
#endif
}

// Set out[i] to |rows[i]| over the numbers [begin, dim), rounded up. Both are multiples of 32.
void norms_of_shorts(const int16_t* rows, size_t n, size_t begin, size_t dim, float* out) {
  for (size_t i = 0; i < n; ++i) {
    Places squares = {};
    for (size_t c = begin; c < dim; c += kShorts) {
      const Shorts numbers = load_shorts(rows + i * dim + c);
      squares = add_pairs(squares, numbers, numbers);
    }
    out[i] = __builtin_sqrtf(static_cast<float>(total(squares))) * 1.00001f;
  }
}

// Find rows for sixteen queries, with panel[c * 16 + 2 * q + j] = number c + j of query q for even c. Products over the
// first `head` numbers of a row need no sum across a register. The other numbers add at most |row there| * |query
// there|, from `rests` and `tails`. found[k] = i * 65536 + a bit for each query whose bound exceeds the limit or is not
// a number. n is a multiple of 8.
size_t panel_above(const int16_t* rows, const float* scales, const float* rests, size_t n, size_t dim, size_t head,
                   const int16_t* panel, const float* units, const float* margins, const float* tails,
                   const float* limits, uint32_t* found) {
  constexpr size_t kRegisters = kPanelWidth / kLanes < 2 ? 1 : 2, kGroups = kPanelWidth / (kRegisters * kLanes);
  size_t count = 0;
  for (size_t first = 0; first < n; first += kRowsTogether) {
    uint32_t bits[kRowsTogether] = {};
    for (size_t g = 0; g < kGroups; ++g) {
      const size_t at = g * kRegisters * kLanes;
      Places sums[kRowsTogether][kRegisters] = {};
      for (size_t c = 0; c < head; c += 2) {
        Shorts numbers[kRegisters];
#pragma GCC unroll 2
        for (size_t k = 0; k < kRegisters; ++k)
          numbers[k] = load_shorts(panel + c * kPanelWidth + 2 * (at + k * kLanes));
#pragma GCC unroll 8
        for (size_t r = 0; r < kRowsTogether; ++r) {
          int32_t pair;
          memcpy(&pair, rows + (first + r) * dim + c, sizeof(pair));
          const Shorts both = reinterpret_cast<Shorts>(Places{} + pair);
#pragma GCC unroll 2
          for (size_t k = 0; k < kRegisters; ++k) sums[r][k] = add_pairs(sums[r][k], both, numbers[k]);
        }
      }
#pragma GCC unroll 2
      for (size_t k = 0; k < kRegisters; ++k) {
        const size_t q = at + k * kLanes;
        F32 unit, margin, tail, limit;
        memcpy(&unit, units + q, sizeof(unit));
        memcpy(&margin, margins + q, sizeof(margin));
        memcpy(&tail, tails + q, sizeof(tail));
        memcpy(&limit, limits + q, sizeof(limit));
#pragma GCC unroll 8
        for (size_t r = 0; r < kRowsTogether; ++r) {
          const float scale = scales[first + r], size = __builtin_fabsf(scale);
          const F32 products = unit * __builtin_convertvector(sums[r][k], F32);
          const F32 bounds = scale * products + size * (margin + rests[first + r] * tail) + kLost;
          bits[r] |= lanes_that_hold(~(bounds <= limit)) << q;
        }
      }
    }
    for (size_t r = 0; r < kRowsTogether; ++r)
      if (bits[r] != 0) found[count++] = static_cast<uint32_t>(first + r) << 16 | bits[r];
  }
  return count;
}

// Reduce the pairs that panel_above found to those that remain with the products of whole rows; queries [16, dim].
// left[k] has the form of found[k] with one bit, and `left` has room for 16 * count. No branch depends on a product, so
// that one pair of a row and a query can begin while others are summed. With such a branch, a pair takes 20 ns.
size_t still_above(const int16_t* rows, const float* scales, size_t dim, const int16_t* queries, const float* units,
                   const float* margins, const float* limits, const uint32_t* found, size_t count, uint32_t* left) {
  constexpr size_t kFoundTogether = 16;
  size_t kept = 0;
  for (size_t first = 0; first < count; first += kFoundTogether) {
    uint32_t pairs[kFoundTogether * kPanelWidth];  // i << 16 | q
    size_t some = 0;
    for (size_t k = first; k < first + kFoundTogether && k < count; ++k)
      for (uint32_t own = found[k] & 0xFFFF; own != 0; own &= own - 1)
        pairs[some++] = (found[k] & 0xFFFF0000) | static_cast<uint32_t>(__builtin_ctz(own));
    for (size_t k = 0; k < some; ++k) {
      const uint32_t i = pairs[k] >> 16, q = pairs[k] & 0xFFFF;
      const int16_t *row = rows + i * dim, *query = queries + q * dim;
      Places sums = {};
      for (size_t c = 0; c < dim; c += kShorts) sums = add_pairs(sums, load_shorts(row + c), load_shorts(query + c));
      const float product = units[q] * static_cast<float>(total(sums));
      const float bound = scales[i] * product + __builtin_fabsf(scales[i]) * margins[q] + kLost;
      left[kept] = i << 16 | 1u << q;
      kept += !(bound <= limits[q]);
    }
  }
  return kept;
}

template <typename Half, typename V>
inline Half higher_half(V lanes) {
  Half low, high;
  halves_of(lanes, low, high);
  return high > low ? high : low;
}
inline float highest_lane(F32 lanes) {
#if defined(__AVX512BW__)
  const F32x4 four = higher_half<F32x4>(higher_half<F32x8>(lanes));
#elif defined(__AVX2__)
  const F32x4 four = higher_half<F32x4>(lanes);
#else
  const F32x4 four = lanes;
#endif
  const F32x2 two = higher_half<F32x2>(four);
  return two[1] > two[0] ? two[1] : two[0];
}

// Return the highest of n >= 1 numbers.
float highest_of(const float* numbers, size_t n) {
  float highest = numbers[0];
  size_t i = 0;
  if (n >= kLanes) {
    F32 most;
    memcpy(&most, numbers, sizeof(most));
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      F32 next;
      memcpy(&next, numbers + i, sizeof(next));
      most = next > most ? next : most;
    }
    highest = highest_lane(most);
  }
  for (; i < n; ++i) highest = numbers[i] > highest ? numbers[i] : highest;
  return highest;
}

// Compute kRows rows by kRegisters registers of queries. The leaves of the tree, which are the sums of its 32 lanes,
// are computed in the order of their numbers with the bits reversed. The two leaves that are added first are then
// neighbours, and at most six partial sums are kept at a time.
template <size_t kRows, size_t kRegisters>
inline void panel_tile(const float* x, size_t dim, const float* panel, float* out) {
  F32 waiting[6][kRows][kRegisters];
  size_t depth = 0;
  for (size_t leaf = 0; leaf < kTree; ++leaf) {
    const size_t lane = (leaf & 1) << 4 | (leaf & 2) << 2 | (leaf & 4) | (leaf & 8) >> 2 | (leaf & 16) >> 4;
    F32 sums[kRows][kRegisters] = {};
    for (size_t c = lane; c < dim; c += kTree) {
      F32 weights[kRegisters];
#pragma GCC unroll 2
      for (size_t k = 0; k < kRegisters; ++k) memcpy(&weights[k], panel + c * kPanelWidth + k * kLanes, sizeof(F32));
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) {
        const float value = x[r * dim + c];
#pragma GCC unroll 2
        for (size_t k = 0; k < kRegisters; ++k) sums[r][k] += value * weights[k];
      }
    }
    for (size_t pairs = leaf; (pairs & 1) != 0; pairs >>= 1) {
      --depth;
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
        for (size_t k = 0; k < kRegisters; ++k) sums[r][k] = waiting[depth][r][k] + sums[r][k];
    }
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (size_t k = 0; k < kRegisters; ++k) waiting[depth][r][k] = sums[r][k];
    ++depth;
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) memcpy(out + r * kPanelWidth + k * kLanes, &waiting[0][r][k], sizeof(F32));
}

// Set out[i * 16 + q] to dot(rows[i], query q of the panel). n is a multiple of 8, and dim of 32.
void dot_panel(const float* rows, size_t n, size_t dim, const float* panel, float* out) {
  constexpr size_t kRegisters = kLanes == 16 ? 1 : 2;
  for (size_t q = 0; q < kPanelWidth; q += kRegisters * kLanes)
    for (size_t i = 0; i < n; i += kRowsTogether)
      panel_tile<kRowsTogether, kRegisters>(rows + i * dim, dim, panel + q, out + i * kPanelWidth + q);
}

// Raise best[q] to the highest of scores[i * 16 + q], i < n, if that is higher. Then where[q] becomes first + i of that
// score, the first of equals.
void keep_best(const float* scores, size_t n, int32_t first, float* best, int32_t* where) {
#pragma GCC unroll 4
  for (size_t q = 0; q < kPanelWidth; q += kLanes) {
    F32 highest, score;
    Places place;
    memcpy(&highest, best + q, sizeof(highest));
    memcpy(&place, where + q, sizeof(place));
    for (size_t i = 0; i < n; ++i) {
      memcpy(&score, scores + i * kPanelWidth + q, sizeof(score));
      const Places more = score > highest;
      highest = more ? score : highest;
      place = more ? Places{} + (first + static_cast<int32_t>(i)) : place;
    }
    memcpy(best + q, &highest, sizeof(highest));
    memcpy(where + q, &place, sizeof(place));
  }
}

}  // namespace
}  // namespace pychunk
