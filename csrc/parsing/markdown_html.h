// The beginnings and ends of HTML blocks in Markdown (CommonMark 0.31, section 4.6).
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// The kinds of section 4.6, in its order. Blocks of the kinds before kBlockTag end with the line that contains their
// closing mark. Blocks of kBlockTag and kAnyTag end before a blank line. kAnyTag interrupts no paragraph.
enum class HtmlRule : int8_t { kNone, kRawText, kComment, kInstruction, kDeclaration, kCdata, kBlockTag, kAnyTag };

struct HtmlStart {
  HtmlRule rule = HtmlRule::kNone;
  bool is_code = false;   // <pre>
  bool is_table = false;  // <table> or an element inside one
};

// Return the block that begins with the "<" at text[begin], in a line that ends at `end`.
HtmlStart html_start(std::string_view text, int64_t begin, int64_t end);

// Return whether a line closes a block that a rule before kBlockTag opened.
bool html_ends(HtmlRule rule, std::string_view line);

// The start tag of a heading <h1> to <h6> in a line: its beginning, and the position after it.
struct HeadingTag {
  int64_t begin = -1, inside = 0;  // -1: there is none
  int level = 0;
};
HeadingTag heading_tag(std::string_view text, int64_t begin, int64_t end);

// Return the position after the end tag </h1> to </h6> of a level in a line, or -1 if there is none.
int64_t heading_end(std::string_view text, int64_t begin, int64_t end, int level);

}  // namespace pychunk
