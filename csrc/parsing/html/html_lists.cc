#include "parsing/html/html_lists.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parsing/html/html_text.h"

namespace pychunk::html {

namespace {

void append_letters(int64_t number, char first, std::string& out) {
  const size_t begin = out.size();
  for (; number > 0; number = (number - 1) / 26) out.push_back(static_cast<char>(first + (number - 1) % 26));
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

void append_roman(int64_t number, bool capital, std::string& out) {
  constexpr std::array<std::pair<int64_t, std::string_view>, 13> kParts{{{1000, "M"},
                                                                         {900, "CM"},
                                                                         {500, "D"},
                                                                         {400, "CD"},
                                                                         {100, "C"},
                                                                         {90, "XC"},
                                                                         {50, "L"},
                                                                         {40, "XL"},
                                                                         {10, "X"},
                                                                         {9, "IX"},
                                                                         {5, "V"},
                                                                         {4, "IV"},
                                                                         {1, "I"}}};
  const size_t begin = out.size();
  for (const auto& [value, part] : kParts) {
    for (; number >= value; number -= value) out.append(part);
  }
  if (!capital)
    std::transform(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                   out.begin() + static_cast<std::ptrdiff_t>(begin), to_small);
}

}  // namespace

void append_mark(ListStyle style, int64_t number, std::string& out) {
  if (style == ListStyle::kBullet) {
    out.append("- ");
    return;
  }
  const bool roman = style == ListStyle::kRoman || style == ListStyle::kSmallRoman;
  if (style == ListStyle::kDecimal || number < 1 || (roman && number > 3999)) {
    out.append(std::to_string(number));
  } else if (roman) {
    append_roman(number, style == ListStyle::kRoman, out);
  } else {
    append_letters(number, static_cast<char>(style), out);
  }
  out.append(". ");
}

std::optional<ListStyle> list_style_named(std::string_view name) {
  if (name == "decimal") return ListStyle::kDecimal;
  if (name == "lower-alpha" || name == "lower-latin") return ListStyle::kSmall;
  if (name == "upper-alpha" || name == "upper-latin") return ListStyle::kCapital;
  if (name == "lower-roman") return ListStyle::kSmallRoman;
  if (name == "upper-roman") return ListStyle::kRoman;
  if (name == "none" || name == "disc" || name == "circle" || name == "square") return ListStyle::kBullet;
  return std::nullopt;
}

}  // namespace pychunk::html
