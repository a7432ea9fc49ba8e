// The marks before list items, as browsers show them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pychunk::html {

// The numbering of a list's items, by its attribute `type` or by an equivalent style.
enum class ListStyle : char {
  kBullet = '-',
  kDecimal = '1',
  kSmall = 'a',
  kCapital = 'A',
  kSmallRoman = 'i',
  kRoman = 'I'
};

// Append the mark before an item. Letters and Roman numerals have no number below 1.
void append_mark(ListStyle style, int64_t number, std::string& out);
// Return the style that a value of `list-style-type`, or a word of `list-style`, names.
std::optional<ListStyle> list_style_named(std::string_view name);

}  // namespace pychunk::html
