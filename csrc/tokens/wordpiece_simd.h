// The word boundaries and lower case of ASCII text, 64 bytes at a time.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

// Writes the positions of the set bits of mask, plus base, and returns the end. It works in rounds of 8, even if fewer
// bits are left. This costs one branch per round, and most blocks of English text have 9 to 16 words.
inline uint32_t* write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
  uint32_t* const end = out + __builtin_popcountll(mask);
  while (out < end) {
    for (int i = 0; i < 8; ++i) {
#if defined(__BMI__)
      out[i] = base + static_cast<uint32_t>(_tzcnt_u64(mask));  // 64 if no bit is left
#else
      out[i] = base + static_cast<uint32_t>(__builtin_ctzll(mask | uint64_t{1} << 63));
#endif
      mask &= mask - 1;
    }
    out += 8;
  }
  return end;
}

size_t scan_words(const uint8_t* text, size_t size, const uint64_t* breaks, bool lowercase, bool clean, uint8_t* copy,
                  uint32_t* starts, uint32_t* ends) {
  uint32_t *start = starts, *end = ends;
  uint64_t word_before = 0, punctuation_before = 0;  // bit 0 describes the last byte of the previous block
  // Inlined, so that the constants stay in registers from block to block.
  const auto scan = [&](const Block& block, size_t at, size_t count) __attribute__((always_inline)) {
    const uint64_t inside = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    const uint64_t low = block.range(0, 0x20);
    uint64_t space = block.eq(0x20), dropped = 0;
    if (low != space) {  // line breaks and other control characters
      const uint64_t line = block.range(0x09, 0x0A) | block.eq(0x0D), feed = block.range(0x0B, 0x0C);
      space |= line;
      if (clean) {
        dropped = low & ~space;
      } else {
        space |= feed;
        dropped = block.eq(0);
      }
    }
    if (clean) dropped |= block.eq(0x7F);
    const uint64_t punctuation =
        (block.range(0x21, 0x2F) | block.range(0x3A, 0x40) | block.range(0x5B, 0x60) | block.range(0x7B, 0x7E)) &
        inside;
    const uint64_t word = ~(punctuation | space) & inside;

    const uint64_t after_word = word << 1 | word_before;
    const uint64_t cut = breaks[at / 64];
    start = write_positions(punctuation | (word & (~after_word | cut)), static_cast<uint32_t>(at), start);
    end = write_positions(punctuation << 1 | punctuation_before | (after_word & (~word | cut)),
                          static_cast<uint32_t>(at), end);
    word_before = word >> 63;
    punctuation_before = punctuation >> 63;

    uint8_t bytes[64];
    block.store(bytes);
    if (lowercase)
      for (int i = 0; i < 64; ++i)
        bytes[i] = static_cast<uint8_t>(bytes[i] + (static_cast<uint8_t>(bytes[i] - 'A') < 26 ? 0x20 : 0));
    memcpy(copy + at, bytes, 64);
    for (dropped &= inside; dropped != 0; dropped &= dropped - 1) copy[at + __builtin_ctzll(dropped)] |= 0x80;
  };
  for_each_block(text, size, scan);
  if (word_before | punctuation_before) *end++ = static_cast<uint32_t>(size);
  return static_cast<size_t>(start - starts);
}

}  // namespace
}  // namespace pychunk
