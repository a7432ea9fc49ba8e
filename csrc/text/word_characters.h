// Which characters words are made of, as one table look-up.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pychunk {

// kPaired: letters of scripts that write words without spaces. kTripled: those of which a word has some four.
enum class Belongs : uint8_t { kNot, kAnywhere, kNotFirst, kPaired, kTripled };

constexpr bool is_unspaced(Belongs belongs) { return belongs == Belongs::kPaired || belongs == Belongs::kTripled; }

class WordCharacters {
 public:
  // Ranges as first, last, first, last ... of code points: letters and the like; marks, which only follow them; and
  // where letters are kPaired and kTripled.
  WordCharacters(std::span<const uint32_t> letters, std::span<const uint32_t> marks, std::span<const uint32_t> paired,
                 std::span<const uint32_t> tripled);

  // Of a code point up to U+10FFFF.
  Belongs operator[](char32_t c) const { return cells_[static_cast<size_t>(pages_[c >> 8]) << 8 | (c & 0xFF)]; }
  // Of each byte: an ASCII letter, digit or underscore in lower case, else 0.
  const uint8_t* ascii() const { return ascii_; }

 private:
  std::vector<uint16_t> pages_;
  std::vector<Belongs> cells_;
  uint8_t ascii_[256] = {};
};

}  // namespace pychunk
