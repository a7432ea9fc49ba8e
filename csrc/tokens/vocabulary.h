// A WordPiece vocabulary as two immutable tables: a hash table of whole words of up to 16 bytes, and a trie of all
// tokens.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

// The first 16 bytes of a word, zero after its end, as two little-endian numbers.
struct WordKey {
  uint64_t low, high;
};

constexpr size_t kKeyBytes = 16;

// Reads 16 bytes at p, and clears those after `length`, which must be at most 16.
inline WordKey load_key(const uint8_t* p, size_t length) {
  static_assert(std::endian::native == std::endian::little);
  alignas(16) static constexpr uint8_t kOnes[32] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  WordKey key, mask;
  std::memcpy(&key, p, sizeof key);
  std::memcpy(&mask, kOnes + kKeyBytes - length, sizeof mask);
  return {key.low & mask.low, key.high & mask.high};
}

inline uint64_t hash_key(WordKey key) {
  const uint64_t mixed = (key.low ^ std::rotr(key.high, 23)) * 0x9E3779B97F4A7C15u;
  return (mixed ^ mixed >> 32) * 0xD6E8FEB86659FD93u;
}

class Vocabulary {
 public:
  // Takes the tokens, in which tokens[i] has id i. Throws std::invalid_argument if there is a duplicate.
  Vocabulary(const std::vector<std::string>& tokens, std::string_view prefix);

  struct Slot {
    WordKey key;
    int32_t id;
    uint32_t length;  // 0: free
  };

  const Slot* home(WordKey key) const { return slots_.data() + (hash_key(key) >> shift_); }

  // Returns the id of a word whose search begins at `slot`, or -1. The word must have no NUL bytes.
  int32_t find(const Slot* slot, WordKey key) const {
    for (;; ++slot) {
      if (slot->key.low == key.low && slot->key.high == key.high) return slot->id;
      if (slot->length == 0) return -1;
    }
  }

  struct Match {
    int32_t id;  // -1: none
    uint32_t length;
  };

  // Returns the longest token with which text begins. If `continues`, it searches only tokens with the prefix, and the
  // text does not contain the prefix.
  Match longest(const uint8_t* text, size_t size, bool continues) const {
    Match best{-1, 0};
    uint32_t base = roots_[continues];
    for (size_t i = 0; i < size; ++i) {
      const uint32_t label = text[i] + 1u;
      const Cell cell = cells_[base + label];
      if (cell.label() != label) break;
      if (cell.id >= 0) best = {cell.id, static_cast<uint32_t>(i + 1)};
      base = cell.base();
    }
    return best;
  }

 private:
  // A cell of a double-array trie. The child of a node for byte b is cells_[base + b + 1], if that cell has label b +
  // 1. No two nodes share a base, so the label alone identifies the parent of a cell. No node has base 0, which means
  // that there are no children.
  struct Cell {
    uint32_t bits;  // base << 9 | label
    int32_t id;     // id of the token that ends here, or -1
    uint32_t label() const { return bits & 0x1FF; }
    uint32_t base() const { return bits >> 9; }
  };

  void build_hash(const std::vector<std::string>& tokens);
  void build_trie(const std::vector<std::string>& tokens, std::string_view prefix);

  std::vector<Slot> slots_;
  int shift_ = 0;
  std::vector<Cell> cells_;
  uint32_t roots_[2] = {0, 0};
};

}  // namespace pychunk
