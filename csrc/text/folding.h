// Texts in one case and spelling, as `folded` of pychunk/index/lexical/analyzer.py makes them: case folding, the
// compatibility composition of Unicode, the same again of what came new, without characters that a word is the same
// without, and plain letters in the place of others where that is asked for.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

// What Python's own tables say, so that both fold by one version of Unicode. Rows of unequal length lie end to end.
struct FoldingTables {
  std::span<const uint32_t> cases;           // code point, count, its case folding
  std::span<const uint32_t> decompositions;  // code point, count, its full compatibility decomposition; no Hangul
  std::span<const uint32_t> classes;         // code point, canonical combining class if not 0
  std::span<const uint32_t> compositions;    // first, second, composite; no Hangul
  std::span<const uint32_t> ignored;         // first, last of each range
  std::span<const uint32_t> plain;           // code point, count, what takes its place at the end
};

class Folding {
 public:
  explicit Folding(const FoldingTables& tables);

  // Valid UTF-8, folded, to the end of `out`.
  void fold(std::string_view text, Values<char>& out) const;

 private:
  enum class Kind : uint32_t {
    kSame,     // stays as it is
    kOther,    // another character
    kSeveral,  // any number of them, also none
    kJoins,    // may change with what is before it
  };
  // Kind in the low 2 bits, above them the other code point, or where its bytes are in several_. All zero stays, so
  // that whole pages are equal and stored once.
  struct Cell {
    uint32_t bits;
    Kind kind() const { return static_cast<Kind>(bits & 3); }
    uint32_t value() const { return bits >> 2; }
  };
  using Points = std::vector<uint32_t>;

  Cell cell(char32_t c) const { return {cells_[static_cast<size_t>(pages_[c >> 8]) << 8 | (c & 0xFF)]}; }
  // Folded by the letter of the standard, step by step.
  void fold_slowly(Points& points) const;
  // Without ignored characters, and plain.
  void finish(Points& points) const;
  // Case folding and full decomposition, marks in order.
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
  std::vector<uint16_t> pages_;
  std::vector<uint32_t> cells_;
  std::vector<uint8_t> several_;  // a count, and that many bytes
};

}  // namespace pychunk
