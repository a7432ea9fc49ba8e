// Searches in the bytes of an HTML page that do not need its tree, each in one pass.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// Return the positions of each key in the page, increasing. Keys begin with a quotation mark. The mark that ends one
// key may begin the next.
std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys);

}  // namespace pychunk
