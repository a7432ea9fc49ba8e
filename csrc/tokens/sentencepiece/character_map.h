// The map of characters that SentencePiece stores in a model as `precompiled_charsmap`: strings, each with the string
// that replaces it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

class CharacterMap {
 public:
  // Reads the stored bytes: the size of a double-array trie in bytes, the trie, and the replacements, each ended by a
  // NUL. Throws std::invalid_argument if a number in them points outside of them. No bytes make an empty map.
  explicit CharacterMap(std::string_view stored);

  // The keys of the map that begin with one code point.
  struct Entry {
    int32_t value = -1;  // the replacement of the code point itself, or -1
    uint32_t node = 0;   // the node of the trie from which longer keys continue, or 0
    bool empty() const { return value < 0 && node == 0; }
  };

  const Entry& operator[](uint32_t code_point) const {
    return cells_[static_cast<size_t>(pages_[code_point >> 8]) << 8 | (code_point & 0xFF)];
  }

  std::string_view replacement(int32_t value) const { return strings_.data() + value; }

  struct Match {
    int32_t value;  // -1: none
    size_t length;  // of the bytes after the first character
  };
  // Returns the key that continues from `node` with the first bytes of `text`: the shortest one or the longest one. It
  // never ends inside a character.
  Match shortest(uint32_t node, std::string_view text) const { return find<true>(node, text); }
  Match longest(uint32_t node, std::string_view text) const { return find<false>(node, text); }

  // Returns whether a key of more than one byte contains an ASCII character for which is[c] holds.
  bool has_longer_key_with(const bool (&is)[128]) const;

 private:
  static bool is_leaf(uint32_t unit) { return (unit >> 31) != 0; }
  static uint32_t label(uint32_t unit) { return unit & 0x800000FFu; }
  static bool has_value(uint32_t unit) { return (unit >> 8 & 1) != 0; }
  // Returns the number that, combined with the position of a unit by XOR, is the node to which the unit leads.
  static uint32_t offset(uint32_t unit) { return (unit >> 10) << ((unit & 0x200u) >> 6); }

  template <bool kShortest>
  Match find(uint32_t node, std::string_view text) const {
    Match best{-1, 0};
    for (size_t i = 0; i < text.size(); ++i) {
      const uint8_t byte = static_cast<uint8_t>(text[i]);
      if (byte == 0) break;
      const uint32_t at = node ^ byte, unit = units_[at];
      if (label(unit) != byte) break;
      node = at ^ offset(unit);
      const bool ends_character = i + 1 == text.size() || (static_cast<uint8_t>(text[i + 1]) & 0xC0) != 0x80;
      if (has_value(unit) && ends_character) {
        best = {static_cast<int32_t>(units_[node] & 0x7FFFFFFFu), i + 1};
        if (kShortest) break;
      }
    }
    return best;
  }

  void read(std::string_view stored);
  void check() const;
  void add_entries(uint32_t node, uint32_t bits, int left);

  std::vector<uint32_t> units_;
  std::string strings_;
  std::vector<uint16_t> pages_;  // by code point / 256
  std::vector<Entry> cells_;
};

}  // namespace pychunk
