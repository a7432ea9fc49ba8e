// The marks before items of lists, as browsers show them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pychunk::html {

// How the items of a list are numbered: by its attribute `type`, or by the style of the same meaning.
enum class ListStyle : char {
  kBullet = '-',
  kDecimal = '1',
  kSmall = 'a',
  kCapital = 'A',
  kSmallRoman = 'i',
  kRoman = 'I'
};

// Appends the mark before an item; letters and Roman numerals have no number below 1.
void append_mark(ListStyle style, int64_t number, std::string& out);
// The value of `list-style-type`, or of one of the words of `list-style`.
std::optional<ListStyle> list_style_named(std::string_view name);

}  // namespace pychunk::html
