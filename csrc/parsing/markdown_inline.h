// The text of inline markup: what a page shows of a heading, without links' targets, images, tags and marks of
// emphasis.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace pychunk {

// Labels of the link reference definitions of a document, read when the first one is asked for.
class LinkLabels {
 public:
  explicit LinkLabels(std::string_view document) : document_(document) {}
  bool holds(std::string_view label);

 private:
  std::string_view document_;
  std::unordered_set<std::string> labels_;
  bool read_ = false;
};

// Appends the text of a line of Markdown (CommonMark's inline syntax, and footnotes), or of HTML alone. An image is
// nothing; where there is nothing else, its alternative text. White space stays as it is.
//
// Markup that also is text is left alone: `my_func_name`, `__init__`, `2*3*4`, `[1]` without a definition, a tag
// that is neither closed nor has attributes.
//
// One pass. What is looked for ahead is found and passed, or counted: 32 times in vain, then it is text. So time is
// linear whatever the line holds.
void append_inline_text(std::string_view source, bool is_html, LinkLabels& labels, std::vector<char>& out);

}  // namespace pychunk
