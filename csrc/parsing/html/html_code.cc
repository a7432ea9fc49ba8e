#include "parsing/html/html_code.h"

#include <algorithm>

#include "parsing/html/html_text.h"

namespace pychunk::html {

bool is_numbers(std::string_view text) {
  while (!text.empty()) {
    const size_t stop = text.find_first_not_of("0123456789 \t\n\f\r.:|");
    if (stop == text.npos) return true;
    if (!text.substr(stop).starts_with("\xC2\xA0")) return false;
    text.remove_prefix(stop + 2);
  }
  return true;
}

bool may_name_language(const std::vector<HtmlAttribute>& attributes) {
  return std::ranges::any_of(attributes, [](const HtmlAttribute& each) {
    return each.name == "class"
               ? each.value.find("lang") != each.value.npos || each.value.find("highlight-") != each.value.npos
               : each.name.starts_with("data-lang");
  });
}

std::string_view language_in(const std::vector<HtmlAttribute>& attributes) {
  const auto known = [](std::string_view name) {
    return !name.empty() && name.size() <= 20 && name != "default" && name != "none" && name != "notranslate" &&
           std::ranges::all_of(name, [](char c) {
             return is_small(to_small(c)) || (c >= '0' && c <= '9') || c == '+' || c == '#' || c == '-' || c == '.' ||
                    c == '_';
           });
  };
  for (const std::string_view name : {"data-lang", "data-language"}) {
    if (const std::string_view value = value_in(attributes, name); known(value)) return value;
  }
  std::string_view rest = value_in(attributes, "class");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t\n\f\r"), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (const std::string_view prefix : {"language-", "lang-", "highlight-source-", "highlight-"}) {
      if (!word.starts_with(prefix)) continue;
      word.remove_prefix(prefix.size());
      if (known(word)) return word;
      break;
    }
  }
  return {};
}

}  // namespace pychunk::html
