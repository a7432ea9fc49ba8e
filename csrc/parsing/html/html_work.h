// The work of an HTML parser on a page, counted from its tags.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// Limits from which on a parser's time or memory may grow faster than the page.
struct HtmlLimits {
  int64_t open = 0;        // elements open at once
  int64_t formatting = 0;  // entries of the list of active formatting elements
  int64_t options = 0;     // options of the page
  int64_t attributes = 0;  // attributes of one tag, and of all tags of html and body
  int64_t names = 0;       // names of attributes, and of elements that HTML does not know
};

struct HtmlWork {
  int64_t nodes = 0;        // elements, attributes, comments, copies of formatting elements and, by 2 kB, of text
  int64_t steps = 0;        // elements that are open at each tag, summed
  bool is_suspect = false;  // a limit was passed; `nodes` counts each "<" from there on
};

// Follows the stack of open elements of the HTML standard. If a rule is not modelled an element stays open, so the
// count is never under the parser's.
HtmlWork html_work(std::string_view page, const HtmlLimits& limits);

}  // namespace pychunk
