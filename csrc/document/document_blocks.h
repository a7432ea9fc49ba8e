// The layout that parsers found in a document: blocks (headings, lists, tables, code) and removed spans. Their
// boundaries are sentence boundaries. Each row of a table and each line of code is a sentence.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/sentence_splitter.h"

namespace pychunk {

// The kinds of blocks. pychunk._engine.data.blocks names them in this order.
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
  kTerm,  // of a definition list, or a signature
};
constexpr int8_t kLastBlockKind = static_cast<int8_t>(BlockKind::kTerm);

// The blocks of one document or of a batch: bytes [start, end) of it, in rising order.
struct BlockSpans {
  std::span<const int8_t> kind;
  std::span<const int16_t> level;
  std::span<const int64_t> start, end;
  std::span<const bool> markup;  // whether the block's text is source with inline markup; empty: false for all blocks
  int64_t size() const { return static_cast<int64_t>(start.size()); }
  bool has_markup(int64_t b) const { return !markup.empty() && markup[static_cast<size_t>(b)]; }
  BlockKind kind_of(int64_t b) const { return static_cast<BlockKind>(kind[static_cast<size_t>(b)]); }
};

// The spans of one document or of a batch that are in no chunk: bytes [start, end), in rising order.
struct RemovedSpans {
  std::span<const int64_t> start, end;
  int64_t size() const { return static_cast<int64_t>(start.size()); }
};

// Return whether a block's sentences are its lines, which are kept together.
constexpr bool has_rows(BlockKind kind) {
  return kind == BlockKind::kTable || kind == BlockKind::kCode || kind == BlockKind::kFrontMatter;
}

// Return whether a block is one sentence, however many stops are inside it.
constexpr bool is_whole(BlockKind kind) { return kind == BlockKind::kHeading || kind == BlockKind::kTerm; }

// Cut sentences at the boundaries of blocks and removed spans, and return whether any boundary is new. `own` says that
// the engine, not the caller, split the sentences. In this case headings and terms become one sentence each, tables and
// code one for each line, and no sentence begins inside a tag of source.
bool cut_at_layout(std::string_view text, const BlockSpans& blocks, const RemovedSpans& removed, bool own,
                   SentenceList& sentences);

// Write for each sentence the number of the block that it is in. If it is in none, this is the last block before it, or
// -1 if there is none. `out` is empty if there are no blocks.
void blocks_of_sentences(std::string_view text, std::span<const int64_t> starts, const BlockSpans& blocks,
                         std::vector<int32_t>& out);

// Write whether each sentence is removed. `out` is empty if nothing is removed.
void find_removed(std::string_view text, std::span<const int64_t> starts, const RemovedSpans& removed,
                  std::vector<uint8_t>& out);

}  // namespace pychunk
