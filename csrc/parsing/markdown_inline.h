// The text of inline markup, as a page shows a heading: without link targets, images, tags, and emphasis marks.
#pragma once
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace pychunk {

// The labels of the link reference definitions of a document. They are read at the first request.
class LinkLabels {
 public:
  explicit LinkLabels(std::string_view document) : document_(document) {}
  bool holds(std::string_view label);

 private:
  std::string_view document_;
  std::unordered_set<std::string> labels_;
  bool read_ = false;
};

// Append the text of a line of Markdown (CommonMark's inline syntax, and footnotes), or of HTML alone. An image has no
// text, except that its alternative text is used if the line has no other. White space is kept.
//
// Markup that may also be text is kept: `my_func_name`, `__init__`, `2*3*4`, `[1]` without a definition, and a tag that
// is neither closed nor has attributes.
//
// The function makes one pass. Text that a search ahead finds is skipped. After 32 searches in vain, markup is text.
// Therefore the time is linear for every line.
void append_inline_text(std::string_view source, bool is_html, LinkLabels& labels, std::vector<char>& out);

}  // namespace pychunk
