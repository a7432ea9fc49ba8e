// The tree of headings in the chunk table: where each chunk hangs, the headings above it, parts of units that were cut.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

class Document;
class LinkLabels;
struct ChunkBlock;
struct Outline;

// Sentences of a chunk without those that it repeats.
struct OwnSentences {
  int64_t first, last;
};

// Texts of headings, each chunk's path as positions among them, and the header row of the table that it is a part of.
struct OutlineTexts {
  std::vector<char> headings, headers;
  std::vector<int64_t> heading_offsets{0}, path_offsets{0}, header_offsets{0};
  std::vector<int64_t> path;

  void append(const OutlineTexts& next);
};

// Appends the text of a heading: without the marks that make it one, white space as single spaces. With `markup` it is
// source: its attributes and inline markup (markdown_inline.h) are left out, too. `labels` are those of its document.
void append_heading(std::string_view line, bool markup, LinkLabels& labels, std::vector<char>& out);

// Sets the columns of the chunks of one document, the last rows.size() of `out`.
void write_outline(const Document& document, const Outline& outline, const std::vector<OwnSentences>& rows,
                   ChunkBlock& out);

}  // namespace pychunk
