// What is looked for in the bytes of a page of HTML beside its tree, each in one pass.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// Tags as they are counted without knowing which need no end: pychunk/parsing/html_guard.py has the same in NumPy.
// Names are told by their first four letters and digits, in lower case, as bytes of a number, the first the lowest.
struct TagCounts {
  int64_t open = 0,
          formatting = 0;  // the most that are open at once, and those at the end of the page that none opened
  int64_t options = 0;
  std::vector<int64_t> longer;  // where those begin that the next one follows after more than `longest` bytes
};

TagCounts count_tags(std::string_view page, std::span<const uint32_t> voids, std::span<const uint32_t> formatting,
                     int64_t longest);

// Attributes of the tag that begins at a byte, at most `most`, and the byte behind the last one that was read.
struct AttributeCount {
  int64_t count = 0, end = 0;
};
AttributeCount count_attributes(std::string_view page, int64_t begin, int64_t most);

// Where each of the keys, which begin with a quote, begins in the page: rising, of each key by itself; the
// quote that ends one may begin the next.
std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys);

}  // namespace pychunk
