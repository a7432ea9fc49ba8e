// The tree of headings in the chunk table: the parent of each chunk, the headings above it, and which part of a unit it
// is if the unit was cut.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

class Document;
class LinkLabels;
struct ChunkBlock;
struct Outline;

// The sentences of a chunk, except those that repeat the previous chunk.
struct OwnSentences {
  int64_t first, last;
};

// The texts of headings, each with the position of the heading above it (-1: none). The path of each chunk, and the
// sections whose text it holds, are positions among these texts; -1 is the text before all headings. The header of a
// chunk is the header rows of the table, or the fence of the code, that the chunk continues.
struct OutlineTexts {
  std::vector<char> headings, headers;
  std::vector<int64_t> heading_offsets{0}, path_offsets{0}, section_offsets{0}, header_offsets{0};
  std::vector<int64_t> heading_parents, path, sections;

  void append(const OutlineTexts& next);
};

// Append the text of a heading, without the marks that make it a heading, and with single spaces as white space. With
// `markup`, the line may contain markup: its attributes and inline markup (markdown_inline.h) are dropped, too.
// `labels` are the link labels of its document.
void append_heading(std::string_view line, bool markup, LinkLabels& labels, std::vector<char>& out);

// Set the columns of the chunks of one document, which are the last rows.size() of `out`.
void write_outline(const Document& document, const Outline& outline, const std::vector<OwnSentences>& rows,
                   ChunkBlock& out);

}  // namespace pychunk
