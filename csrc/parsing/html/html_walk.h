// One page of HTML, as lexbor writes its tree, to Markdown, its blocks, and what noise is seen by.
//
// One pass in reading order, without recursion; the start of a table is read ahead, to see whether it holds data, and
// again where it does not, up to the first heading, form or table inside. So time and memory are linear. What each part
// means: pychunk/_engine/reference/parsing/html_walk.py, which does the same on lexbor's own tree.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

struct HtmlWalk {
  std::string text;
  std::vector<int64_t> rows;   // of each block: kind, level, first character, one past the last
  std::vector<int32_t> facts;  // of each block: its element, characters, those in links, links, hidden
  std::vector<int32_t> parent, last;
  std::vector<uint32_t> words;  // of element e: words[word_offsets[e]] up to words[word_offsets[e + 1]]
  std::vector<int64_t> word_offsets{0};
  std::string first_heading;
};

// Valid UTF-8 in; false where the page is not written as HtmlScanner reads it, and then `out` is of no use. With
// `images` those that stand alone and say something are blocks, with `targets` links are those of Markdown.
bool walk_html(std::string_view page, bool images, bool targets, HtmlWalk& out);

}  // namespace pychunk
