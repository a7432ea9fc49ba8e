// The search for a page's data for search engines: its keys in the bytes of the page, and the blocks that repeat it.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// Return the positions of each key in the page, increasing. Keys begin with a quotation mark. The mark that ends one
// key may begin the next.
std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys);

// Blocks of a page in characters of its text, and the texts with which they are compared.
struct ToldBlocks {
  std::string_view text;
  std::span<const int64_t> start, end;  // increasing
  std::string_view told;                // letters and digits in lower case
};

enum Told : uint8_t { kNotTold, kTold, kUnknown };

// Return for each block whether its first `most` letters and digits, at least `least`, are in the told text. A block of
// fewer than `most` characters is not told. Only the first 3 * most characters of a block are read. If one of them is
// neither ASCII, nor a letter of Latin-1, nor common punctuation (U+2000 to U+206F and four others), the result is
// kUnknown.
std::vector<uint8_t> find_told(const ToldBlocks& blocks, int64_t least, int64_t most);

}  // namespace pychunk
