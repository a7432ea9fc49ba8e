#include "parsing/html/html_bytes.h"

#include <algorithm>
#include <cstring>

#include "common/interrupt.h"

namespace pychunk {
namespace {

// Return the position of the next byte `c` at or after `at`, or the page's end.
size_t next_byte(std::string_view page, char c, size_t at) {
  const void* found = at < page.size() ? std::memchr(page.data() + at, c, page.size() - at) : nullptr;
  return found == nullptr ? page.size() : static_cast<size_t>(static_cast<const char*>(found) - page.data());
}

}  // namespace

std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys) {
  std::vector<std::vector<int64_t>> out(keys.size());
  bool begins[256] = {};
  for (const std::string_view key : keys) begins[static_cast<uint8_t>(key[1])] = true;
  int64_t turns = 0;
  for (size_t at = next_byte(page, '"', 0); at + 1 < page.size(); at = next_byte(page, '"', at + 1)) {
    checkpoint_each(++turns, 1 << 16);
    if (!begins[static_cast<uint8_t>(page[at + 1])]) continue;
    for (size_t k = 0; k < keys.size(); ++k) {
      if (page.substr(at).starts_with(keys[k])) out[k].push_back(static_cast<int64_t>(at));
    }
  }
  return out;
}

}  // namespace pychunk
