#include "parsing/html/html_scripts.h"

#include <algorithm>

#include "text/utf8_text.h"

namespace pychunk::html {

bool is_one_token(std::string_view text) {
  if (count_characters(text) == 1) return true;
  constexpr std::string_view kMinus = "\u2212";
  if (text.starts_with(kMinus)) {
    text.remove_prefix(kMinus.size());
  } else if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && is_digit(text.front()) && is_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.' || c == ','; });
}

std::string script_text(bool raised, bool note, std::string& before, std::string_view text) {
  const std::string own(text);
  const auto any = [&](auto is) { return std::ranges::any_of(text, is); };
  const bool digits = is_digit(text.front()) &&
                      std::ranges::all_of(text, [](char c) { return is_digit(c) || c == ',' || c == '.' || c == ' '; });
  if (raised && (note || (text.starts_with('[') && text.ends_with(']')))) {
    return text.starts_with('[') || text.starts_with('(') ? own : "[" + own + "]";
  }
  if (before.empty() || space_length(before, character_before(before, static_cast<int64_t>(before.size()))) > 0) {
    return own;
  }
  const char base = before.back();
  size_t word = 0;
  while (word < 3 && word < before.size() && is_letter(before[before.size() - 1 - word])) ++word;
  if (raised && digits) {
    for (const std::string_view mark : {".", ",", ";", ":", "!", "?", "\"", "\u201D", "\u2019", "\u00BB", "\u3002"}) {
      if (before.ends_with(mark)) return "[" + own + "]";
    }
    if (!is_digit(base) && (any([](char c) { return c == ','; }))) return "[" + own + "]";
  }
  const bool is_base = is_letter(base) || is_digit(base) || base == ')' || base == ']' || base == '}' || base == '|' ||
                       static_cast<uint8_t>(base) >= 0x80;
  if (!raised) {
    // A fraction with a whole number before it: 5<sup>1</sup>/<sub>2</sub> is written as "5 1/2".
    size_t end = before.size();
    if (base == '/' || before.ends_with("\u2044")) {
      end -= base == '/' ? 1 : 3;
      size_t begin = end;
      while (begin > 0 && end - begin < 9 && is_digit(before[begin - 1])) --begin;
      if (begin < end && begin > 0 && before[begin - 1] == '^') before[begin - 1] = ' ';
      return own;
    }
  }
  if (!is_base) return own;
  const bool words = count_characters(text) > 1 && std::ranges::all_of(text, [](char c) {
                       return is_letter(c) || c == ' ' || c == '.' || static_cast<uint8_t>(c) >= 0x80;
                     });
  if (raised) {
    static constexpr std::string_view kJoined[] = {
        "a",  "as", "e",  "eme", "er", "ers", "es",  "ie", "lle", "lles", "me", "mes",      "nd",      "o",
        "os", "r",  "rd", "re",  "sm", "st",  "ste", "te", "th",  "tm",   "de", "\u00E8me", "\u00E8re"};
    std::string small(own);
    std::ranges::transform(small, small.begin(), to_small);
    const bool known = std::ranges::find(kJoined, small) != std::end(kJoined);
    if (known && (text.size() > 1 || is_digit(base) || (base == 'n' || base == 'N' || base == 'M' || base == 'D'))) {
      // e<sup>x</sup> is a power, but 1<sup>e</sup> and n<sup>o</sup> are words.
      return own;
    }
    for (const std::string_view mark : {"*", "#", "\u2122", "\u2120", "\u00AE", "\u00A9", "\u2020", "\u2021", "\u00A7",
                                        "\u00B0", "\u00BA", "\u00AA"}) {
      if (text.starts_with(mark)) return own;
    }
    if (words && word >= 2) return " " + own;
  } else {
    const bool element = is_capital(base) || base == ')' || base == ']' ||
                         (is_small(base) && before.size() > 1 && is_capital(before[before.size() - 2]));
    if (digits && element) return own;  // H2O
    if (words && word >= 3) return " " + own;
  }
  return (raised ? "^" : "_") + (is_one_token(text) ? own : "{" + own + "}");
}

}  // namespace pychunk::html
