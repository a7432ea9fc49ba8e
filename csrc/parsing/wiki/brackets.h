// The brackets of wikitext: templates, links and tables are replaced with their text. It equals the reference,
// pychunk/_engine/reference/parsing/wiki_brackets.py, which goes from match to match of a regular expression.
//
// Lower bound: each byte is read once, and all but the marks are copied once: some 2 cycles a byte. The time is linear
// in the length of the page: every scan ends at a mark at which the next scan begins, and a text inside brackets is
// copied once for each pair around it, of which there are at most 99.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace pychunk {

// What is outside the text: the functions that know templates, and links whose target names a namespace.
struct WikiNames {
  // Appends the text of a template, whose content is without its braces.
  std::function<void(std::string_view content, std::string& out)> add_template;
  // Returns whether a link with a colon in its target is left out: a file, a category, or a page in another language.
  std::function<bool(std::string_view target, bool has_label)> is_hidden;
};

// Returns the text of a page without templates, links and tables. The text must be UTF-8, and may hold surrogates.
std::string without_brackets(std::string_view text, const WikiNames& names);

}  // namespace pychunk
