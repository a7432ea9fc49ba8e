// Hot loops over text: UTF-8 checking, character counts.
#pragma once
#include "simd.h"

namespace pychunk {
namespace {

// Length of the valid UTF-8 sequence at p (at most `left` bytes), or 0. Table 3-7 of the Unicode standard:
// no overlong forms, no surrogates, nothing above U+10FFFF.
inline size_t sequence_length(const uint8_t* p, size_t left) {
  const uint8_t a = p[0];
  if (a < 0x80) return 1;
  const auto continues = [&](size_t i, uint8_t lo = 0x80, uint8_t hi = 0xBF) {
    return i < left && p[i] >= lo && p[i] <= hi;
  };
  if (a >= 0xC2 && a <= 0xDF) return continues(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const uint8_t lo = a == 0xE0 ? 0xA0 : 0x80, hi = a == 0xED ? 0x9F : 0xBF;
    return continues(1, lo, hi) && continues(2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const uint8_t lo = a == 0xF0 ? 0x90 : 0x80, hi = a == 0xF4 ? 0x8F : 0xBF;
    return continues(1, lo, hi) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

int64_t find_invalid_utf8(const uint8_t* text, size_t size) {
  size_t i = 0;
  while (i < size) {
    while (i + 64 <= size && Block::load(text + i).high() == 0) i += 64;
    for (const size_t stop = i + 64; i < size && i < stop;) {
      const size_t length = sequence_length(text + i, size - i);
      if (length == 0) return static_cast<int64_t>(i);
      i += length;
    }
  }
  return -1;
}

int64_t count_characters(const uint8_t* text, size_t size) {
  int64_t characters = static_cast<int64_t>(size);
  for_each_block(text, size, [&](const Block& block, size_t, size_t) {
    characters -= __builtin_popcountll(block.range(0x80, 0xBF));
  });
  return characters;
}

// A run of more than 100 bytes holds at least one aligned block of 32.
bool may_hold_long_run(const uint8_t* text, size_t size) {
  if (size <= 100) return false;
  for (size_t i = 0; i + 64 <= size; i += 64) {
    const Block block = Block::load(text + i);
    const uint64_t space = block.eq(' ') | block.range('\t', '\r') | block.range(0x1C, 0x1F);
    if ((space & 0xFFFFFFFF) == 0 || space >> 32 == 0) return true;
  }
  return false;  // what is left is under 64 bytes; with 100 or more, a whole block came before it
}

}  // namespace
}  // namespace pychunk
