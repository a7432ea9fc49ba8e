// The hot loops of the recursive splitter, which find its boundaries and measure the text between them.
#pragma once
#include "common/simd.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

// Checks what the masks below assume: ASCII white space and newlines can be found by their byte, all others by their
// first byte.
constexpr bool masks_hold() {
  for (char32_t c = 0; c < 0x10000; ++c) {
    const auto in = [](char32_t byte, char32_t low, char32_t high) { return byte >= low && byte <= high; };
    const char32_t lead = c < 0x800 ? 0xC0 | c >> 6 : 0xE0 | c >> 12;
    if (c < 0x80 && is_space(c) != (in(c, 0x09, 0x0D) || in(c, 0x1C, 0x20))) return false;
    if (c < 0x80 && is_newline(c) != in(c, 0x0A, 0x0D)) return false;
    if (c >= 0x80 && is_space(c) && lead != 0xC2 && !in(lead, 0xE1, 0xE3)) return false;
    if (c >= 0x80 && is_newline(c) && lead != 0xC2 && lead != 0xE2) return false;
  }
  return true;
}
static_assert(masks_hold());

// The mask of white-space bytes, block after block. A character that spans two blocks is carried over.
struct SpaceMask {
  uint64_t carry = 0;
  // Returns the mask of a block, whose text is at p.
  uint64_t next(const Block& block, const uint8_t* p) {
    uint64_t mask = block.range(0x09, 0x0D) | block.range(0x1C, 0x20) | carry;
    carry = 0;
    if (block.high() == 0) return mask;
    for (uint64_t leads = block.eq(0xC2) | block.range(0xE1, 0xE3); leads != 0; leads &= leads - 1) {
      const int i = __builtin_ctzll(leads);
      const auto [c, length] = decode_utf8(p + i);
      if (!is_space(c)) continue;
      const uint64_t bits = (uint64_t{1} << length) - 1;
      mask |= bits << i;
      if (i + length > 64) carry = bits >> (64 - i);
    }
    return mask;
  }
};

// Loads a block of the text at p, of which `left` bytes are left. Zeros fill the rest.
inline Block load_padded(const uint8_t* p, size_t left) {
  if (left >= 64) return Block::load(p);
  uint8_t tail[64] = {};
  memcpy(tail, p, left);
  return Block::load(tail);
}

// Writes the offset of every set bit, up to `room` of them, and returns how many it wrote.
inline size_t write_bits(uint64_t mask, int64_t offset, int64_t* out, size_t room) {
  size_t n = 0;
  for (; mask != 0 && n < room; mask &= mask - 1) out[n++] = offset + __builtin_ctzll(mask);
  return n;
}

size_t find_separator(const uint8_t* text, size_t begin, size_t end, const uint8_t* separator, size_t length,
                      int64_t* out, size_t room) {
  if (end - begin < length) return 0;
  const size_t last = length - 1, stop = end - last;  // a match starts before `stop`
  size_t n = 0, free_from = begin;
  for (size_t i = begin; i < stop && n < room; i += 64) {
    uint64_t mask;
    if (i + last + 64 <= end) {
      mask = Block::load(text + i).eq(separator[0]);
      if (last > 0 && mask != 0) mask &= Block::load(text + i + last).eq(separator[last]);
    } else {
      mask = load_padded(text + i, end - i).eq(separator[0]);
      if (stop - i < 64) mask &= (uint64_t{1} << (stop - i)) - 1;
    }
    if (last == 0) {
      n += write_bits(mask, static_cast<int64_t>(i), out + n, room - n);
      continue;
    }
    for (; mask != 0 && n < room; mask &= mask - 1) {
      const size_t at = i + __builtin_ctzll(mask);
      if (at < free_from || memcmp(text + at, separator, length) != 0) continue;
      out[n++] = static_cast<int64_t>(at);
      free_from = at + length;
    }
  }
  return n;
}

// Counts the set bits before each of n offsets. mask(block, p) returns the bits of the block at p. Once the bits before
// an offset are counted, force(bits, bit) may set the bit at the offset.
template <typename Mask, typename Force>
inline void count_at(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base, int64_t* out,
                     Mask mask, Force force) {
  const uint8_t* p = text + begin;
  const size_t size = static_cast<size_t>(at[n - 1]) - begin;
  size_t k = 0;
  for_each_block(p, size, [&](const Block& block, size_t offset, size_t) {
    uint64_t bits = mask(block, p + offset);
    for (; k < n && static_cast<size_t>(at[k]) - begin < offset + 64; ++k) {
      const uint64_t bit = uint64_t{1} << (static_cast<size_t>(at[k]) - begin - offset);
      out[k] = base + __builtin_popcountll(bits & (bit - 1));
      force(bits, bit);
    }
    base += __builtin_popcountll(bits);
  });
  for (; k < n; ++k) out[k] = base;
}

void count_characters_at(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base, int64_t* out) {
  const auto starts = [](const Block& block, const uint8_t*) { return ~block.range(0x80, 0xBF); };
  count_at(text, begin, at, n, base, out, starts, [](uint64_t&, uint64_t) {});
}

void count_words_at(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base, int64_t* out) {
  SpaceMask spaces;
  uint64_t after_word = 0, solid = 0;
  const auto starts = [&](const Block& block, const uint8_t* p) {
    solid = ~spaces.next(block, p);
    const uint64_t found = solid & ~(solid << 1 | after_word);
    after_word = solid >> 63;
    return found;
  };
  // A word that an offset cuts counts on both sides, since each side is measured on its own.
  count_at(text, begin, at, n, base, out, starts, [&](uint64_t& bits, uint64_t bit) { bits |= solid & bit; });
}

}  // namespace
}  // namespace pychunk
