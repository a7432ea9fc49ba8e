#include "html_bytes.h"

#include <algorithm>
#include <cstring>

#include "interrupt.h"

namespace pychunk {
namespace {

constexpr bool is_digit_byte(uint8_t c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter_byte(uint8_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

// The next byte `c` at or behind `at`, or the page's end.
size_t next_byte(std::string_view page, char c, size_t at) {
  const void* found = at < page.size() ? std::memchr(page.data() + at, c, page.size() - at) : nullptr;
  return found == nullptr ? page.size() : static_cast<size_t>(static_cast<const char*>(found) - page.data());
}

uint32_t tag_code(std::string_view page, size_t at) {
  uint32_t code = 0;
  for (size_t i = 0; i < 4; ++i) {
    const auto c = static_cast<uint8_t>(page[std::min(at + i, page.size() - 1)]);
    if (!is_digit_byte(c) && !is_letter_byte(c)) break;
    code |= static_cast<uint32_t>(is_digit_byte(c) ? c : c | 32) << (8 * i);
  }
  return code;
}

constexpr uint32_t kOptionCode = 'o' | 'p' << 8 | 't' << 16 | 'i' << 24;

}  // namespace

TagCounts count_tags(std::string_view page, std::span<const uint32_t> voids, std::span<const uint32_t> formatting,
                     int64_t longest) {
  TagCounts out;
  int64_t depth = 0, formats = 0, before = -1, turns = 0, tags = 0;
  const auto is_among = [](std::span<const uint32_t> codes, uint32_t code) {
    return std::ranges::find(codes, code) != codes.end();
  };
  const auto end_tag = [&](size_t at) {
    if (before >= 0 && static_cast<int64_t>(at) - before > longest) out.longer.push_back(before);
  };
  for (size_t at = next_byte(page, '<', 0); at + 5 < page.size(); at = next_byte(page, '<', at + 1)) {
    checkpoint_each(++turns, 1 << 16);
    const bool close = page[at + 1] == '/';
    const size_t first = at + 1 + close;
    if (!is_letter_byte(static_cast<uint8_t>(page[first]))) continue;
    end_tag(at);
    before = close ? -1 : static_cast<int64_t>(at);
    const uint32_t code = tag_code(page, first);
    out.options += !close && code == kOptionCode;
    const int step = is_among(voids, code) ? 0 : close ? -1 : 1;
    depth += step;
    if (step != 0 && is_among(formatting, code)) formats += step;
    out.open = tags == 0 ? depth : std::max(out.open, depth);
    out.formatting = tags == 0 ? formats : std::max(out.formatting, formats);
    ++tags;
  }
  end_tag(page.size());
  out.open -= std::min<int64_t>(0, depth);
  return out;
}

AttributeCount count_attributes(std::string_view page, int64_t begin, int64_t most) {
  constexpr std::string_view kSpaces = " \t\n\f\r";
  const auto behind = [&](std::string_view any, size_t at) {
    return std::min(page.find_first_of(any, at), page.size());
  };
  const auto past_spaces = [&](std::string_view spaces, size_t at) {
    return std::min(page.find_first_not_of(spaces, at), page.size());
  };
  int64_t count = 0;
  size_t at = behind(" \t\n\f\r/>", static_cast<size_t>(begin) + 1);
  while (count < most) {
    at = past_spaces(" \t\n\f\r/", at);
    if (at == page.size() || page[at] == '>') break;
    ++count;
    at = past_spaces(kSpaces, behind(" \t\n\f\r/>=", at + 1));
    if (at == page.size() || page[at] != '=') continue;
    at = past_spaces(kSpaces, at + 1);
    if (at == page.size() || page[at] == '>') break;
    at = page[at] == '"' || page[at] == '\'' ? std::min(next_byte(page, page[at], at + 1) + 1, page.size())
                                             : behind(" \t\n\f\r>", at);
  }
  return {count, static_cast<int64_t>(at)};
}

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
