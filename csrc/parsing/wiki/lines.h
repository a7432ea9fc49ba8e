// The lines of wikitext without brackets: paragraphs, headings, list items and code, each with a mark before it. It
// equals the reference, pychunk/_engine/reference/parsing/wiki_lines.py.
//
// Lower bound: each byte is read three times (the line's end, its quotes, its copy) and written once.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

struct WikiLines {
  // Whether each text that was held apart is code of several lines.
  std::vector<bool> code;
  // Whether each block begins with a mark, kBegins and the letter of its kind.
  bool marks = false;
  // Returns whether a text without letters or digits of ASCII has others.
  std::function<bool(std::string_view)> has_letters;
};

// Returns the lines of a page. Lines of one paragraph are joined with a blank. Items that only held something that was
// left out are left out, too.
std::string wiki_lines(std::string_view text, const WikiLines& given);

}  // namespace pychunk
