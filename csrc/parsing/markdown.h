// Markdown to blocks: CommonMark 0.31 with GFM's tables and front matter, by lines, without the inline syntax.
//
// One pass, which makes lines as they are asked for and keeps those alone that may be read again. Every line is looked
// at once for each container that is open around it, at most kDeepest of them; nothing is searched for backwards. The
// rules read the same line at most twice, as the second line of a table and for themselves; only a link reference
// definition reads ahead further, and what opens one of its three kinds of titles in vain is opened again by no line
// that was read for it. So time is linear whatever the text, and memory does not grow with the document but with its
// blocks and the longest definition.
//
// Floor: each byte is read once to find the end of its line and once to count characters, 2 bytes moved for each byte
// of text. Beside that each line takes some 60 ns: one core reads 0.34 GB/s of lines of 20 bytes with all kinds of
// blocks (bench/stages/test_bench_markdown.py), 0.45 GB/s of the Markdown of installed packages (40 bytes a line)
// and 1.1 GB/s of wrapped prose; markdown-it-py 0.001.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"
#include "document/document_blocks.h"

namespace pychunk {

// Quotes and list items inside one another; what is deeper is text.
constexpr int kDeepest = 32;

// A leaf (pychunk._engine.data.blocks.Blocks): a heading, paragraph, item, table or code, with its marks and those of
// the containers before it; without white space at its end. Thematic breaks and link reference definitions are in none.
struct MarkdownBlock {
  int64_t start, end;
  BlockKind kind;
  int16_t level;
};

// The blocks of valid UTF-8 in bytes, appended to `out`.
void markdown_blocks(std::string_view text, std::vector<MarkdownBlock>& out);

// Of all documents, in characters of each, as arrays; document i has the blocks offsets[i] up to offsets[i + 1].
struct BlockTable {
  Buffer<int64_t> offsets;
  Buffer<int8_t> kind;
  Buffer<int16_t> level;
  Buffer<int64_t> start, end;
};
BlockTable markdown_blocks(const Texts& texts, int threads);

}  // namespace pychunk
