// Elements told by their attributes: hidden ones, links to themselves, footnote marks, classes.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "parsing/html/html_scan.h"

namespace pychunk::html {

using Attributes = std::vector<HtmlAttribute>;

// Whether an element's attributes hide it.
bool hides(const HtmlTag& tag, const Attributes& attributes, std::string& scratch);
// Whether a style has an element that is a block stand in a line.
bool is_in_line(const Attributes& attributes, std::string& scratch);
// Marks that pages put into headings as links to themselves: no letters, a few at most.
bool is_permalink_mark(std::string_view text);
// Whether a link is one to the place that it stands at: by its class; or by its target, inside a heading.
bool is_permalink(const Attributes& attributes, bool heading);
// Whether a sup is a footnote mark by its class.
bool is_note(const Attributes& attributes);
bool is_fragment(const Attributes& attributes);
// Whether an element's class has these characters.
bool has_class(const Attributes& attributes, std::string_view wanted);
// An attribute's value as it is written; empty where it is missing.
std::string_view value_in(const Attributes& attributes, std::string_view wanted);

// Whether one of the words of an element's class is among these.
template <size_t kCount>
bool has_word(const std::vector<HtmlAttribute>& attributes, const std::array<std::string_view, kCount>& wanted) {
  std::string_view rest = value_in(attributes, "class");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t\n\f\r"), rest.size());
    if (std::ranges::find(wanted, rest.substr(0, end)) != wanted.end()) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace pychunk::html
