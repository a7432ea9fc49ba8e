// The conversion of Markdown to blocks: CommonMark 0.31 with GFM's tables and front matter, by lines, without the
// inline syntax.
//
// The parser makes one pass. It makes lines when they are needed, and keeps only those that may be read again. It
// examines each line once for each open container around it, of which there are at most kDeepest. It never searches
// backwards. The rules read a line at most twice: as the possible second line of a table, and as a line of its own.
// Only a link reference definition reads further ahead. Its title has one of three kinds of quotes. If a quote is never
// closed, the lines that were read in search of its end open no title of the same kind again. Therefore the time is
// linear for every text. Memory grows with the blocks and the longest definition, not with the document.
//
// Lower bound on the cost: each byte is read once to find the end of its line and once to count characters, which moves
// 2 bytes for each byte of text. In addition, each line takes some 60 ns. One core reads 0.34 GB/s of lines of 20 bytes
// with all kinds of blocks (bench/stages/test_bench_markdown.py). It reads 0.45 GB/s of the Markdown of installed
// packages (40 bytes a line), and 1.1 GB/s of wrapped prose. The package markdown-it-py reads 0.001 GB/s.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"
#include "document/document_blocks.h"

namespace pychunk {

// The most nested quotes and list items. Deeper ones are text.
constexpr int kDeepest = 32;

// A leaf (pychunk._engine.data.blocks.Blocks): a heading, paragraph, item, table or code. It includes its marks and
// those of the containers before it, but no white space at its end. Thematic breaks and link reference definitions are
// in no leaf.
struct MarkdownBlock {
  int64_t start, end;
  BlockKind kind;
  int16_t level;
};

// Append the blocks of valid UTF-8, in bytes, to `out`.
void markdown_blocks(std::string_view text, std::vector<MarkdownBlock>& out);

// The blocks of all documents as arrays, in characters of each document. Document i has the blocks offsets[i] up to
// offsets[i + 1].
struct BlockTable {
  Buffer<int64_t> offsets;
  Buffer<int8_t> kind;
  Buffer<int16_t> level;
  Buffer<int64_t> start, end;
};
BlockTable markdown_blocks(const Texts& texts, int threads);

}  // namespace pychunk
