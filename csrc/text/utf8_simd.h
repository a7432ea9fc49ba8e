// The hot loops over text: UTF-8 validation, and character and line counts.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

// Returns the length of the valid UTF-8 sequence at p (at most `left` bytes), or 0. Table 3-7 of the Unicode standard
// allows no overlong forms, no surrogates, and nothing above U+10FFFF.
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

int64_t count_line_feeds(const uint8_t* text, size_t size) {
  int64_t found = 0;
  for_each_block(text, size,
                 [&](const Block& block, size_t, size_t) { found += __builtin_popcountll(block.eq('\n')); });
  return found;
}

// Marks each byte `first` before a byte that is one of `next`, one bit per byte.
void mark_pairs(const uint8_t* text, size_t size, uint8_t first, const uint8_t* next, size_t count, uint64_t* bits) {
  for_each_block(text, size, [&](const Block& block, size_t at, size_t) {
    uint64_t follows = 0;
    for (size_t k = 0; k < count; ++k) follows |= block.eq(next[k]);
    bits[at / 64] = block.eq(first) & follows >> 1;
    // The pair of this block's first byte and the last byte before it.
    if (at > 0 && (follows & 1) != 0 && text[at - 1] == first) bits[at / 64 - 1] |= uint64_t{1} << 63;
  });
}

// Marks the bytes of words: ASCII letters and digits, and all bytes of other characters.
void mark_words(const uint8_t* text, size_t size, uint64_t* bits) {
  for_each_block(text, size, [&](const Block& block, size_t at, size_t) {
    bits[at / 64] = block.range('0', '9') | block.range('A', 'Z') | block.range('a', 'z') | block.high();
  });
}

// Marks where a sentence may end, in bit i % 64 of bits[i / 64]. It marks:
// - each ASCII stop (. ! ?) and line-break byte
// - a semicolon after a letter outside ASCII, which is a question mark in Greek
// - the second byte of each multi-byte character that may be a stop or a line break
// The characters of the last group are:
// - U+0085 (C2 85) and the Greek question mark (CD)
// - Armenian, Arabic and Urdu stops (D6 89, D8 9F, DB 94)
// - danda and shad (E0 A5, E0 BC)
// - Ethiopic, Khmer and Myanmar stops (E1 8D, 9F, 81)
// - general punctuation (E2 80, E2 81)
// - CJK punctuation and full-width forms (E3 80, EF BC, EF BD)
void mark_stops(const uint8_t* text, size_t size, uint64_t* bits) {
  // Masks of the block before: non-ASCII bytes, bytes that begin a character of two or of three bytes, and one mask for
  // each lead byte in the list. Only the last byte of a block matters, so masks that were not computed need not be
  // cleared.
  uint64_t high = 0, twos = 0, threes = 0;
  uint64_t c2 = 0, cd = 0, d6 = 0, d8 = 0, db = 0, e0 = 0, e1 = 0, e2 = 0, e3 = 0, ef = 0;
  for_each_block(text, size, [&](const Block& block, size_t at, size_t) {
    uint64_t marks = block.eq('.') | block.eq('!') | block.eq('?') | block.range('\n', '\r') | block.range(0x1C, 0x1E);
    const auto pair = [&](uint64_t& before, uint8_t lead) {
      const uint64_t leads = block.eq(lead), shifted = leads << 1 | before >> 63;
      before = leads;
      return shifted;
    };
    const uint64_t high_before = high;
    high = block.high();
    if ((high | high_before >> 63) != 0) {
      marks |= block.eq(';') & (high << 1 | high_before >> 63);
      const uint64_t twos_before = twos, threes_before = threes;
      twos = block.range(0xC2, 0xDB);
      threes = block.range(0xE0, 0xEF);
      if ((twos | twos_before >> 63) != 0) {
        marks |= pair(c2, 0xC2) & block.eq(0x85);
        marks |= pair(cd, 0xCD);  // few characters besides the Greek question mark begin with it
        marks |= pair(d6, 0xD6) & block.eq(0x89);
        marks |= pair(d8, 0xD8) & block.eq(0x9F);
        marks |= pair(db, 0xDB) & block.eq(0x94);
      }
      if ((threes | threes_before >> 63) != 0) {
        const uint64_t x80 = block.eq(0x80), x81 = block.eq(0x81);
        marks |= pair(e0, 0xE0) & (block.eq(0xA5) | block.eq(0xBC));
        marks |= pair(e1, 0xE1) & (block.eq(0x8D) | block.eq(0x9F) | x81);
        marks |= pair(e2, 0xE2) & (x80 | x81);
        marks |= pair(e3, 0xE3) & x80;
        marks |= pair(ef, 0xEF) & block.range(0xBC, 0xBD);
      }
    }
    bits[at / 64] = marks;
  });
}

}  // namespace
}  // namespace pychunk
