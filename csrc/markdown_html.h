// How blocks of HTML begin and end in Markdown (CommonMark 0.31, section 4.6).
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// The kinds of section 4.6, by number. Those before kBlockTag end with the line that holds what closes them, the others
// before a blank line; kAnyTag ends no paragraph.
enum class HtmlRule : int8_t { kNone, kRawText, kComment, kInstruction, kDeclaration, kCdata, kBlockTag, kAnyTag };

struct HtmlStart {
  HtmlRule rule = HtmlRule::kNone;
  bool is_code = false;   // <pre>
  bool is_table = false;  // <table> or what belongs in one
};

// What begins with the "<" at text[begin], in a line that ends at `end`.
HtmlStart html_start(std::string_view text, int64_t begin, int64_t end);

// Whether a line closes what a rule before kBlockTag opened.
bool html_ends(HtmlRule rule, std::string_view line);

}  // namespace pychunk
