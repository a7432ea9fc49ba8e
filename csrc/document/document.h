// The properties of one document that the methods and the budget use: its sentences with their lengths and vectors.
// Each is computed on first use and kept until the next document.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"
#include "document/budget.h"
#include "document/cohesion.h"
#include "document/document_blocks.h"
#include "document/inputs.h"
#include "document/kept_sentences.h"
#include "document/overlap_tail.h"
#include "text/sentence_splitter.h"
#include "tokens/length.h"
#include "vectors/scaled_rows.h"
#include "vectors/static_encoder.h"

namespace pychunk {

class Document : private RowMaker {
 public:
  // Begin document i of the inputs, and find its sentences. Close it (see Closing) before opening the next one.
  void open(const Inputs& inputs, int64_t i);
  // Free the memory that a huge document took, which would otherwise stay with the thread.
  void close();

  int64_t row() const { return row_; }
  std::string_view text() const { return text_; }
  int64_t sentences() const { return static_cast<int64_t>(sentences_.starts.size()); }
  int64_t begin(int64_t s) const { return sentences_.starts[static_cast<size_t>(s)]; }
  int64_t end(int64_t s) const { return s + 1 < sentences() ? begin(s + 1) : static_cast<int64_t>(text_.size()); }
  uint8_t flags(int64_t s) const { return sentences_.flags[static_cast<size_t>(s)]; }
  std::span<const int64_t> starts() const { return sentences_.starts; }
  std::span<const uint8_t> all_flags() const { return sentences_.flags; }
  // Return the boundaries before the sentences. Without the plan's `keep_together`, no spans are kept together.
  const Borders& borders();
  // Return the same boundaries with the cohesion of the text, whether or not the plan keeps spans together.
  const Borders& text_borders();
  // Let nothing cross the boundary before sentence s from now on. borders() must have been called.
  void wall_off(int64_t s) { borders_.cohesion[static_cast<size_t>(s)] = Cohesion::kWall; }
  // Return the blocks that the parser found. block_of() returns for each sentence the block that it is in, or else the
  // last block before it, or -1 if there is none.
  const BlockSpans& blocks() const { return blocks_; }
  std::span<const int32_t> block_of() const { return block_of_; }
  // Return the kind of the block that a sentence is in: a paragraph if no block is known.
  BlockKind kind_of(int64_t s) const;
  bool is_removed(int64_t s) const { return !removed_.empty() && removed_[static_cast<size_t>(s)] != 0; }
  // Return whether boundaries matter even if the plan keeps no spans together, because a removed span is a wall.
  bool has_walls() const { return !removed_.empty(); }
  // Return the sentence that contains byte `at`.
  int64_t sentence_at(int64_t at) const;

  // Return the number of the line that contains byte `at`: the number of line feeds before it, plus 1. Like
  // characters_before(), all calls in nearly rising order together take time linear in the text. page_starts() returns
  // the first bytes of the pages: those that the caller passed, or else the bytes after each form feed.
  int64_t line_at(int64_t at);
  const std::vector<int64_t>& page_starts();
  // Return the pairs of Inputs::lower_limits for this document.
  std::span<const int64_t> lower_limits() const {
    return inputs_->lower_limits.size() > 0 ? inputs_->lower_limits[row_] : std::span<const int64_t>{};
  }
  bool has_given_pages() const { return inputs_->page_starts.size() > 0; }
  int64_t page_at(int64_t byte);  // counted from 1
  // Return whether a page that the caller passed begins between sentences s - 1 and s, outside blocks.
  bool turns_page(int64_t s);

  // Return the number of characters before a byte, counted from the byte of the previous call. If the calls come in
  // nearly rising order, as for chunks, all calls together take time linear in the text, however long its sentences
  // are.
  int64_t characters_before(int64_t byte);
  // Return whether text [begin, end), without white space at its edges, has fewer than `characters` characters.
  bool is_shorter(int64_t begin, int64_t end, int64_t characters) const;

  std::span<const int64_t> token_counts();  // of each sentence, as budgets count them
  const Lengths& lengths(Unit unit);
  // Return the plan's max_tokens and min_tokens. Automatic limits count characters, four for a token, if the tokenizer
  // does not know the text's words. It splits a Cyrillic word into its letters, for example, so the 200 tokens that
  // suit English would hold only 21 words.
  LengthLimits limits();
  // Return the length of each sentence, with the white space around it, in the unit of limits().
  std::span<const int64_t> limited_lengths();
  // Measure the parts [starts[i], starts[i + 1]), the last of which reaches the end of the text. Part i has counts[i]
  // tokens; only the unit of tokens reads `counts`. The lengths keep a pointer to `shared` if they need it.
  void measure_parts(Unit unit, std::span<const int64_t> starts, std::span<const int64_t> counts, SharedWords& shared,
                     Lengths& out);
  void measure_characters(std::span<const int64_t> starts, Lengths& out);
  Rows vectors();        // one row for each sentence
  Rows table_vectors();  // the vectors that go into the chunk table
  // Return for each sentence s how closely sentence s + 1 belongs to it: probabilities (nsp, topic), or else adjacent
  // cosines. It is empty if the inputs have no vectors.
  std::span<const float> affinities();
  // For pic: return the vector of the summary that the caller passed, or null if the engine computes the summary.
  const float* given_summary();
  bool has_vectors() const { return inputs_->table.data != nullptr || inputs_->vectors.given(); }
  bool table_encodes_text() const { return !inputs_->table_vectors.given() && inputs_->table.data != nullptr; }

  // Return the length of a piece of the document's text, or the number of its tokens. The tokens of a counter do not
  // include white space at the ends of the piece. encode() computes its vector with the static encoder.
  int64_t length(std::string_view piece, Unit unit);
  int64_t count_tokens(std::string_view piece) { return length(piece, Unit::kTokens); }
  // Return the tokens of the text as the counter of the inputs finds them. There must be one.
  CountedText& counted();
  // Return the tail of sentence s for an overlap of at most `most`.
  Tail tail(int64_t s, Unit unit, int64_t most) {
    return tail_of(text_, begin(s), end(s), most, [&](std::string_view piece) { return length(piece, unit); });
  }
  // Return the weight of a sentence, or of a piece of text, in the vector of its chunk: its tokens, as the tokenizer of
  // the static encoder counts them if there is one.
  int64_t weight(int64_t s);
  int64_t weight(std::string_view piece);
  void encode(std::string_view piece, float* out) const {
    encode_static(piece, *inputs_->tokenizer, inputs_->table, out);
  }

  // Return the number of tokens that were computed or given. fallback_tokens() returns how many of them the inputs flag
  // as fallback tokens, which is 0 for a document in ASCII.
  int64_t tokens_met();
  int64_t fallback_tokens();

 private:
  int64_t name() const { return inputs_->first_row + row_; }  // the document's number in errors
  bool is_ascii();
  void tokenize();
  void pair_affinities(const Rows& vectors, std::vector<float>& out) const;
  // For Inputs::kept (kept_sentences.cc). tokenize_rest() and find_other_affinities() compute what no run holds.
  void find_kept();
  void tokenize_rest();
  void find_other_affinities();
  void keep();
  void take_tokens();
  void make_rows(int64_t begin, int64_t end, float* out) override;  // by the static encoder
  void take_sentences();
  void check_given() const;
  void take_vectors();
  void cut_at_pages();
  bool is_in_block(int64_t page_start) const;
  void find_borders(bool cohesion, Borders& out);
  void take_layout();

  const Inputs* inputs_ = nullptr;
  int64_t row_ = 0;
  std::string_view text_;
  SentenceList sentences_;
  bool cut_by_page_ = false;  // a given page, block or removed span begins inside a sentence
  BlockSpans blocks_;
  std::vector<int32_t> block_of_;
  std::vector<uint8_t> removed_;
  Values<int32_t> ids_;
  std::vector<int64_t> token_offsets_, token_counts_, page_starts_;
  std::unique_ptr<CountedText> counted_;               // by the counter of the inputs
  std::vector<int64_t> counts_;                        // of each sentence, by that counter
  int64_t counted_byte_ = 0, counted_characters_ = 0;  // the characters before the byte of the last call
  int64_t line_byte_ = 0, lines_ = 0;                  // the line feeds before line_byte_
  Lengths lengths_[3];
  SharedWords shared_words_;
  RowWindow vectors_;
  std::vector<RowRun> kept_runs_;  // sentences that Inputs::kept holds
  ScaledRows scaled_;              // the rows that the caller passed
  std::vector<float> affinities_, summary_;
  Borders borders_, text_borders_;
  bool has_tokens_ = false, has_pages_ = false, has_affinities_ = false, has_vectors_ = false;
  bool keeps_affinities_ = false;
  bool knows_ascii_ = false, ascii_ = false, knows_limits_ = false;
  LengthLimits limits_;
  std::vector<int64_t> limited_;
  bool has_lengths_[3] = {};
};

// A guard that closes a document at the end of a scope, also after an exception.
class Closing {
 public:
  explicit Closing(Document& document) : document_(document) {}
  ~Closing() { document_.close(); }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

 private:
  Document& document_;
};

}  // namespace pychunk
