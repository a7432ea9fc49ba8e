// The Unicode categories that the patterns of byte-level tokenizers distinguish, by code point. They are those of
// Hugging Face `tokenizers` (category_tables.py).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pychunk {

// The flags of a code point. A code point has at most one of them, and a punctuation character or symbol has none.
struct Category {
  enum : uint8_t {
    kUpper = 1,     // Lu, Lt
    kLower = 2,     // Ll
    kCaseless = 4,  // Lm, Lo
    kMark = 8,      // M
    kNumber = 16,   // N
    kSpace = 32,    // \s
    kLetter = kUpper | kLower | kCaseless,
  };
};

// A table of one byte for each code point. Equal pages of 256 code points are stored once.
class CategoryTable {
 public:
  CategoryTable();
  uint8_t operator[](uint32_t code_point) const {
    return cells_[static_cast<size_t>(pages_[code_point >> 8]) << 8 | (code_point & 0xFF)];
  }

 private:
  std::vector<uint16_t> pages_;
  std::vector<uint8_t> cells_;
};

// Returns the table, which the first call creates.
const CategoryTable& categories();

// Returns the probed runs, unchanged: first code point, last code point, flags. The reference reads them.
std::vector<uint32_t> category_runs();

}  // namespace pychunk
