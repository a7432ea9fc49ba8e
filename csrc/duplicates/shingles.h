// The words and shingles of a text, as hashes. A shingle is three consecutive words. Words are the parts of a text
// between white space, and in scripts without spaces each character is a word.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>

#include "text/utf8.h"

namespace pychunk {

constexpr int kShingleWords = 3;

// Mixes all bits of a number (the finalizer of MurmurHash3). It maps different numbers to different numbers.
inline uint64_t mixed_bits(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// Returns whether a character is a word by itself: Thai, Lao, Myanmar, Khmer, Kana to CJK ideographs, and the
// ideographs that were added later. White space is never one.
inline bool is_whole_word(char32_t c) {
  return (c >= 0xE00 && c <= 0xEFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x3040 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}

// Calls take(hash) for the FNV-1a hash of each word of valid UTF-8. The multiplications of a word wait for each other,
// so the floor is 4 cycles a byte, and one mispredicted branch a word.
template <typename Take>
void hash_words(std::string_view text, Take take) {
  constexpr uint64_t kStart = 0xcbf29ce484222325u, kPrime = 0x100000001b3u;
  const auto* p = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* end = p + text.size();
  uint64_t word = kStart;
  bool is_open = false;
  const auto close = [&] {
    if (is_open) take(word);
    word = kStart, is_open = false;
  };
  while (p < end) {
    if (*p > ' ' && *p < 0x80) {
      word = (word ^ *p++) * kPrime, is_open = true;
      continue;
    }
    const auto [c, length] = decode_utf8(p);
    const bool is_whole = is_whole_word(c);
    if (is_whole || is_space(c)) close();
    if (!is_space(c)) {
      for (int i = 0; i < length; ++i) word = (word ^ p[i]) * kPrime;
      is_open = true;
      if (is_whole) close();
    }
    p += length;
  }
  close();
}

// Returns the hash of a shingle, by the hashes of its words.
inline uint64_t shingle_of(uint64_t first, uint64_t second, uint64_t third) {
  return mixed_bits(first * 0x9e3779b97f4a7c15u + std::rotl(second * 0xc2b2ae3d27d4eb4fu, 31) + third);
}

}  // namespace pychunk
