// The work of an HTML parser on a page, counted from its tags.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// The limits above which a parser's time or memory may grow faster than the page.
struct HtmlLimits {
  int64_t open = 0;        // elements open at the same time
  int64_t formatting = 0;  // entries in the list of active formatting elements
  int64_t options = 0;     // options of the page
  int64_t attributes = 0;  // attributes of one tag, and of all tags of html and body
  int64_t names = 0;       // names of attributes, and of elements that HTML does not know
};

struct HtmlWork {
  // elements, attributes, comments, copies of formatting elements, and one per 2 kB of copied text
  int64_t nodes = 0;
  int64_t steps = 0;        // the sum over all tags of the elements that are open
  bool is_suspect = false;  // a limit was exceeded; `nodes` counts each "<" after that
};

// Count the work by following the stack of open elements of the HTML standard. If a rule is not modelled, an element
// stays open. Therefore the count is never below the parser's.
HtmlWork html_work(std::string_view page, const HtmlLimits& limits);

}  // namespace pychunk
