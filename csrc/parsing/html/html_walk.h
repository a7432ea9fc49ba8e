// The conversion of one HTML page, which lexbor has written from its tree, to Markdown, blocks, and the facts that show
// noise.
//
// The walker makes one pass in reading order, without recursion. It reads the start of a table ahead, to see whether
// the table holds data. If not, it reads that part again, which ends at the first heading, form or nested table.
// Therefore time and memory are linear. pychunk/_engine/reference/parsing/html_walk.py does the same on lexbor's own
// tree and describes the parts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

struct HtmlWalk {
  std::string text;
  std::vector<int64_t> rows;   // for each block: kind, level, first character, one after the last character
  std::vector<int32_t> facts;  // for each block: its element, characters, characters in links, links, hidden
  std::vector<int32_t> parent, last;
  std::vector<uint32_t> words;  // for element e: words[word_offsets[e]] up to words[word_offsets[e + 1]]
  std::vector<int64_t> word_offsets{0};
  std::string first_heading;
};

// Walk a page, which must be valid UTF-8. Return false if it is not written as HtmlScanner reads it; `out` is then
// invalid. With `images`, images that are alone in their block and have a description become blocks. With `targets`,
// links are written as in Markdown, with their targets.
bool walk_html(std::string_view page, bool images, bool targets, HtmlWalk& out);

}  // namespace pychunk
