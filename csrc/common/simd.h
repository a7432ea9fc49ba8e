// Text in blocks of 64 bytes. A comparison of a block gives a bit mask, with one bit per byte. It uses the instruction
// set of this translation unit. Everything is in an unnamed namespace, since each instruction set has its own copy
// (kernels_isa.cc).
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace pychunk {
namespace {

// The number of bytes in a vector register.
#if defined(__AVX512BW__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

#if defined(__AVX512BW__)
struct Block {
  __m512i v;
  static Block load(const uint8_t* p) { return {_mm512_loadu_si512(p)}; }
  void store(uint8_t* p) const { _mm512_storeu_si512(p, v); }
  uint64_t eq(uint8_t c) const { return _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(static_cast<char>(c))); }
  uint64_t high() const { return _mm512_movepi8_mask(v); }  // bytes >= 0x80
  // Returns a mask of the bytes in [lo, hi], unsigned.
  uint64_t range(uint8_t lo, uint8_t hi) const {
    const __m512i shifted = _mm512_sub_epi8(v, _mm512_set1_epi8(static_cast<char>(lo)));
    return _mm512_cmple_epu8_mask(shifted, _mm512_set1_epi8(static_cast<char>(hi - lo)));
  }
};
#elif defined(__AVX2__)
struct Block {
  __m256i v[2];
  static Block load(const uint8_t* p) {
    return {{_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)),
             _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))}};
  }
  void store(uint8_t* p) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v[0]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 32), v[1]);
  }
  static uint64_t join(__m256i a, __m256i b) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(a)) |
           static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(b))) << 32;
  }
  uint64_t eq(uint8_t c) const {
    const __m256i w = _mm256_set1_epi8(static_cast<char>(c));
    return join(_mm256_cmpeq_epi8(v[0], w), _mm256_cmpeq_epi8(v[1], w));
  }
  uint64_t high() const { return join(v[0], v[1]); }
  uint64_t range(uint8_t lo, uint8_t hi) const {
    const __m256i base = _mm256_set1_epi8(static_cast<char>(lo)), top = _mm256_set1_epi8(static_cast<char>(hi - lo));
    __m256i r[2];
    for (int i = 0; i < 2; ++i) {
      const __m256i shifted = _mm256_sub_epi8(v[i], base);
      r[i] = _mm256_cmpeq_epi8(_mm256_min_epu8(shifted, top), shifted);
    }
    return join(r[0], r[1]);
  }
};
#elif defined(__x86_64__)
struct Block {
  __m128i v[4];
  static Block load(const uint8_t* p) {
    Block b;
    for (int i = 0; i < 4; ++i) b.v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
    return b;
  }
  void store(uint8_t* p) const {
    for (int i = 0; i < 4; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 16 * i), v[i]);
  }
  static uint64_t join(const __m128i* r) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; ++i)
      mask |= static_cast<uint64_t>(static_cast<uint16_t>(_mm_movemask_epi8(r[i]))) << (16 * i);
    return mask;
  }
  uint64_t eq(uint8_t c) const {
    __m128i r[4];
    for (int i = 0; i < 4; ++i) r[i] = _mm_cmpeq_epi8(v[i], _mm_set1_epi8(static_cast<char>(c)));
    return join(r);
  }
  uint64_t high() const { return join(v); }
  uint64_t range(uint8_t lo, uint8_t hi) const {
    const __m128i base = _mm_set1_epi8(static_cast<char>(lo)), top = _mm_set1_epi8(static_cast<char>(hi - lo));
    __m128i r[4];
    for (int i = 0; i < 4; ++i) {
      const __m128i shifted = _mm_sub_epi8(v[i], base);
      r[i] = _mm_cmpeq_epi8(_mm_min_epu8(shifted, top), shifted);
    }
    return join(r);
  }
};
#elif defined(__aarch64__)
struct Block {
  uint8x16_t v[4];
  static Block load(const uint8_t* p) { return {{vld1q_u8(p), vld1q_u8(p + 16), vld1q_u8(p + 32), vld1q_u8(p + 48)}}; }
  void store(uint8_t* p) const {
    for (int i = 0; i < 4; ++i) vst1q_u8(p + 16 * i, v[i]);
  }
  // Makes one bit per byte: masks each lane with its bit and adds neighbours three times.
  static uint64_t join(const uint8x16_t* r) {
    const uint8x16_t bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t a = vpaddq_u8(vandq_u8(r[0], bit), vandq_u8(r[1], bit));
    const uint8x16_t b = vpaddq_u8(vandq_u8(r[2], bit), vandq_u8(r[3], bit));
    const uint8x16_t c = vpaddq_u8(a, b);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(c, c)), 0);
  }
  uint64_t eq(uint8_t c) const {
    uint8x16_t r[4];
    for (int i = 0; i < 4; ++i) r[i] = vceqq_u8(v[i], vdupq_n_u8(c));
    return join(r);
  }
  uint64_t high() const { return range(0x80, 0xFF); }
  uint64_t range(uint8_t lo, uint8_t hi) const {
    uint8x16_t r[4];
    for (int i = 0; i < 4; ++i) r[i] = vcleq_u8(vsubq_u8(v[i], vdupq_n_u8(lo)), vdupq_n_u8(hi - lo));
    return join(r);
  }
};
#else
struct Block {
  uint8_t v[64];
  static Block load(const uint8_t* p) {
    Block b;
    memcpy(b.v, p, 64);
    return b;
  }
  void store(uint8_t* p) const { memcpy(p, v, 64); }
  uint64_t eq(uint8_t c) const { return range(c, c); }
  uint64_t high() const { return range(0x80, 0xFF); }
  uint64_t range(uint8_t lo, uint8_t hi) const {
    uint64_t mask = 0;
    for (int i = 0; i < 64; ++i)
      mask |= static_cast<uint64_t>(static_cast<uint8_t>(v[i] - lo) <= static_cast<uint8_t>(hi - lo)) << i;
    return mask;
  }
};
#endif

// Calls body(block, offset, count) for each 64 bytes. The last block is padded with zero bytes, so that nothing is read
// past the end of the text.
template <typename Body>
inline void for_each_block(const uint8_t* text, size_t size, Body body) {
  size_t i = 0;
  for (; i + 64 <= size; i += 64) body(Block::load(text + i), i, size_t{64});
  if (i < size) {
    uint8_t tail[64] = {};
    memcpy(tail, text + i, size - i);
    body(Block::load(tail), i, size - i);
  }
}

}  // namespace
}  // namespace pychunk
