// What parsers saw of a document beside its text: blocks (headings, lists, tables, code), and spans that are left out.
// Their borders are borders of sentences; in a table sentences are rows, in code lines.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/sentence_splitter.h"

namespace pychunk {

// pychunk._engine.data.blocks names them in this order.
enum class BlockKind : int8_t {
  kParagraph,
  kHeading,
  kItem,
  kTable,
  kCode,
  kQuote,
  kCaption,
  kForm,
  kFrontMatter,
  kTerm,  // of a definition list, a signature
};
constexpr int8_t kLastBlockKind = static_cast<int8_t>(BlockKind::kTerm);

// Blocks of one document or of a batch: bytes [start, end) of it, rising.
struct BlockSpans {
  std::span<const int8_t> kind;
  std::span<const int16_t> level;
  std::span<const int64_t> start, end;
  std::span<const bool> markup;  // whether its text is source, with inline markup; empty: none is
  int64_t size() const { return static_cast<int64_t>(start.size()); }
  bool has_markup(int64_t b) const { return !markup.empty() && markup[static_cast<size_t>(b)]; }
  BlockKind kind_of(int64_t b) const { return static_cast<BlockKind>(kind[static_cast<size_t>(b)]); }
};

// Spans of one document or of a batch that no chunk holds: bytes [start, end), rising.
struct RemovedSpans {
  std::span<const int64_t> start, end;
  int64_t size() const { return static_cast<int64_t>(start.size()); }
};

// Whether its sentences are its lines, which stay together.
constexpr bool has_rows(BlockKind kind) {
  return kind == BlockKind::kTable || kind == BlockKind::kCode || kind == BlockKind::kFrontMatter;
}

// Whether it is one sentence, however many stops are inside.
constexpr bool is_whole(BlockKind kind) { return kind == BlockKind::kHeading || kind == BlockKind::kTerm; }

// Cuts sentences at the borders of blocks and of what is left out. With `own`, sentences that the engine split, those
// in a heading or a term become one, those in a table or code its lines, and none begins in a tag of source. Returns
// whether any border is new.
bool cut_at_layout(std::string_view text, const BlockSpans& blocks, const RemovedSpans& removed, bool own,
                   SentenceList& sentences);

// Of each sentence the block that it lies in or behind, -1: none; empty where there are no blocks.
void blocks_of_sentences(std::string_view text, std::span<const int64_t> starts, const BlockSpans& blocks,
                         std::vector<int32_t>& out);

// Of each sentence whether it is left out; empty where nothing is.
void find_removed(std::string_view text, std::span<const int64_t> starts, const RemovedSpans& removed,
                  std::vector<uint8_t>& out);

}  // namespace pychunk
