// The folding of texts to one case and spelling, as `folded` in pychunk/index/lexical/analyzer.py defines it. The steps
// are case folding, Unicode's compatibility composition, both again for the characters that they produce, and the
// removal of characters that do not change a word. If requested, plain letters then replace letters with diacritics.
// With canonical decompositions and no other table, the folding is Unicode's normalisation form C.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

// The data of Python's own tables, so that both engines fold by the same version of Unicode. Rows of different lengths
// are stored end to end.
struct FoldingTables {
  std::span<const uint32_t> cases;           // code point, count, its case folding; empty: case stays
  std::span<const uint32_t> decompositions;  // code point, count, its full decomposition; no Hangul
  std::span<const uint32_t> classes;         // code point, canonical combining class if not 0
  std::span<const uint32_t> compositions;    // first, second, composite; no Hangul
  std::span<const uint32_t> ignored;         // first and last of each range
  std::span<const uint32_t> plain;           // code point, count, the final replacement
};

class Folding {
 public:
  explicit Folding(const FoldingTables& tables);

  // Folds a text of valid UTF-8 and appends the result to `out`.
  void fold(std::string_view text, Values<char>& out) const;

 private:
  enum class Kind : uint32_t {
    kSame,     // stays unchanged
    kOther,    // becomes another character
    kSeveral,  // becomes several characters, or none
    kJoins,    // may combine with characters before it
  };
  // The kind in the low 2 bits. The bits above hold the other code point, or an offset in several_. A character that
  // stays unchanged has the cell 0, so that whole pages are equal and stored once.
  struct Cell {
    uint32_t bits;
    Kind kind() const { return static_cast<Kind>(bits & 3); }
    uint32_t value() const { return bits >> 2; }
  };
  using Points = std::vector<uint32_t>;

  Cell cell(char32_t c) const { return {cells_[static_cast<size_t>(pages_[c >> 8]) << 8 | (c & 0xFF)]}; }
  // Folds step by step, exactly as the standard says.
  void fold_slowly(Points& points) const;
  // Removes ignored characters and replaces others by plain ones.
  void finish(Points& points) const;
  // Applies case folding and full decomposition, and puts marks in order.
  void decompose(Points& points) const;
  void compose(Points& points) const;
  uint32_t composite(uint32_t first, uint32_t second) const;
  uint32_t combining_class(uint32_t c) const;
  bool joins(uint32_t decomposed) const;
  Cell make(uint32_t c);

  std::unordered_map<uint32_t, Points> cases_, decompositions_, plain_;
  std::unordered_map<uint32_t, uint32_t> classes_;
  std::unordered_map<uint64_t, uint32_t> compositions_;
  std::vector<bool> second_, ignored_;
  uint8_t upper_;  // the number of letters from A on that become lower case
  std::vector<uint16_t> pages_;
  std::vector<uint32_t> cells_;
  std::vector<uint8_t> several_;  // a count, then that number of bytes
};

}  // namespace pychunk
