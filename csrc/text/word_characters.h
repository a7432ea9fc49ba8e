// The characters that words are made of, as one table look-up.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pychunk {

// The role of a character in words. Letters of scripts that write words without spaces are kPaired, or kTripled if the
// script's words have about four letters.
enum class Belongs : uint8_t { kNot, kAnywhere, kNotFirst, kPaired, kTripled };

constexpr bool is_unspaced(Belongs belongs) { return belongs == Belongs::kPaired || belongs == Belongs::kTripled; }

class WordCharacters {
 public:
  // Takes ranges of code points as first, last, first, last and so on. `letters` may be anywhere in a word, and `marks`
  // only after a letter. `paired` and `tripled` say which letters are kPaired and kTripled.
  WordCharacters(std::span<const uint32_t> letters, std::span<const uint32_t> marks, std::span<const uint32_t> paired,
                 std::span<const uint32_t> tripled);

  // Returns the role of a code point up to U+10FFFF.
  Belongs operator[](char32_t c) const { return cells_[static_cast<size_t>(pages_[c >> 8]) << 8 | (c & 0xFF)]; }
  // Returns a table with an entry for each byte: an ASCII letter, digit or underscore in lower case, else 0.
  const uint8_t* ascii() const { return ascii_; }

 private:
  std::vector<uint16_t> pages_;
  std::vector<Belongs> cells_;
  uint8_t ascii_[256] = {};
};

}  // namespace pychunk
