// What is looked for in the bytes of a page of HTML beside its tree, each in one pass.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// Where each of the keys, which begin with a quote, begins in the page: rising, of each key by itself; the
// quote that ends one may begin the next.
std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys);

}  // namespace pychunk
