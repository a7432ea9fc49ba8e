// Properties that an element's attributes show: whether it is hidden, a permalink or a footnote mark, and its classes.
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "parsing/html/html_scan.h"

namespace pychunk::html {

using Attributes = std::vector<HtmlAttribute>;

// Return whether an element's attributes hide it.
bool hides(const HtmlTag& tag, const Attributes& attributes, std::string& scratch);
// Return whether a style makes a block element part of a line.
bool is_in_line(const Attributes& attributes, std::string& scratch);
// Return whether a text is a mark that pages add to headings as a link to the heading itself. Such marks are short and
// contain no letters.
bool is_permalink_mark(std::string_view text);
// Return whether a link is a permalink, which points to its own place. Its class shows this, and inside a heading also
// its target.
bool is_permalink(const Attributes& attributes, bool heading);
// Return whether a sup is a footnote mark, by its class.
bool is_note(const Attributes& attributes);
bool is_fragment(const Attributes& attributes);
// Return whether an element's class contains the characters `wanted`.
bool has_class(const Attributes& attributes, std::string_view wanted);
// Return an attribute's value as written, or an empty text if it is missing.
std::string_view value_in(const Attributes& attributes, std::string_view wanted);

// Return whether one of the words of an element's class is among `wanted`.
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
