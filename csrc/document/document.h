// What the methods and the budget know of one document: its sentences, their lengths and vectors, each
// computed when first asked for and kept until the next document.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/rows.h"
#include "document/budget.h"
#include "document/cohesion.h"
#include "document/document_blocks.h"
#include "document/inputs.h"
#include "document/overlap_tail.h"
#include "text/sentence_splitter.h"
#include "tokens/length.h"
#include "vectors/static_encoder.h"

namespace pychunk {

class Document : private RowMaker {
 public:
  // Begins document i of the inputs: its sentences are there afterwards. Close it (Closing) before the next.
  void open(const Inputs& inputs, int64_t i);
  // Gives back what a huge document took, which would stay with the thread for good.
  void close();

  int64_t row() const { return row_; }
  std::string_view text() const { return text_; }
  int64_t sentences() const { return static_cast<int64_t>(sentences_.starts.size()); }
  int64_t begin(int64_t s) const { return sentences_.starts[static_cast<size_t>(s)]; }
  int64_t end(int64_t s) const { return s + 1 < sentences() ? begin(s + 1) : static_cast<int64_t>(text_.size()); }
  uint8_t flags(int64_t s) const { return sentences_.flags[static_cast<size_t>(s)]; }
  std::span<const int64_t> starts() const { return sentences_.starts; }
  std::span<const uint8_t> all_flags() const { return sentences_.flags; }
  // The border before each sentence; without the plan's atoms none is tied.
  const Borders& borders();
  // From now on nothing crosses the border before sentence s; borders() were asked for.
  void wall_off(int64_t s) { borders_.ties[static_cast<size_t>(s)] = Tie::kWall; }
  // Blocks that parsers saw, and of sentences the one that it lies in or behind (-1: none).
  const BlockSpans& blocks() const { return blocks_; }
  std::span<const int32_t> block_of() const { return block_of_; }
  // What block a sentence lies in; a paragraph where none is known.
  BlockKind kind_of(int64_t s) const;
  bool is_removed(int64_t s) const { return !removed_.empty() && removed_[static_cast<size_t>(s)] != 0; }
  // Whether borders are heeded whatever the plan says.
  bool has_walls() const { return !removed_.empty(); }
  // Sentence that holds byte `at`.
  int64_t sentence_at(int64_t at) const;

  // First bytes of its pages: the given ones, else after each form feed.
  // Line that byte `at` lies on, from 1, by the line feeds before it; like characters_before() linear in the text.
  int64_t line_at(int64_t at);
  const std::vector<int64_t>& page_starts();
  bool has_given_pages() const { return inputs_->page_starts.size() > 0; }
  int64_t page_at(int64_t byte);  // counted from 1
  bool turns_page(int64_t s);     // whether a given page begins between the sentence before and `s`, in no block

  // Characters before a byte, counted on from the byte that was asked for last: bytes that come nearly in order, as
  // those of chunks do, take time linear in the text however long its sentences are.
  int64_t characters_before(int64_t byte);
  // Whether text [begin, end), without white space at its edges, has less than so many characters.
  bool is_shorter(int64_t begin, int64_t end, int64_t characters) const;

  std::span<const int64_t> token_counts();  // of each sentence, as budgets count them
  const Lengths& lengths(Unit unit);
  // The plan's max_tokens and min_tokens. Where they are automatic and the tokenizer does not know the words they count
  // characters, four for a token: a Cyrillic word falls to its letters, and 200 tokens of English would be 21 words.
  LengthLimits limits();
  // Of each sentence, with the white space around it, in the unit of limits().
  std::span<const int64_t> limited_lengths();
  // The same of parts [starts[i], starts[i + 1]), the last one to the text's end, of `counts` tokens each (which only
  // tokens read); `shared` is kept where the lengths need it.
  void measure_parts(Unit unit, std::span<const int64_t> starts, std::span<const int64_t> counts, SharedWords& shared,
                     Lengths& out);
  void measure_characters(std::span<const int64_t> starts, Lengths& out);
  Rows vectors();        // one row a sentence
  Rows table_vectors();  // those that the table holds
  // How much sentence s + 1 belongs to sentence s: probabilities (nsp, topic), else adjacent cosines; empty where the
  // inputs give no vectors.
  std::span<const float> affinities();
  // pic: the vector of the given summary; null where it is made here.
  const float* given_summary();
  bool has_vectors() const { return inputs_->table.data != nullptr || inputs_->vectors.given(); }
  bool table_encodes_text() const { return !inputs_->table_vectors.given() && inputs_->table.data != nullptr; }

  // Tokens and vector of any piece of text, by the static encoder.
  int64_t count_tokens(std::string_view piece) const { return measure(piece, Unit::kTokens, inputs_->tokenizer); }
  // Of sentence s, for an overlap of at most so much.
  Tail tail(int64_t s, Unit unit, int64_t most) const {
    return tail_of(text_, begin(s), end(s), most,
                   [&](std::string_view piece) { return measure(piece, unit, inputs_->tokenizer); });
  }
  void encode(std::string_view piece, float* out) const {
    encode_static(piece, *inputs_->tokenizer, inputs_->table, out);
  }

  // Those that were made here or given; of them, the ones flagged in the inputs, unless the document is all ASCII.
  int64_t tokens_met();
  int64_t fallback_tokens();

 private:
  int64_t name() const { return inputs_->first_row + row_; }  // as errors call it
  bool is_ascii();
  void tokenize();
  void take_tokens();
  void make_rows(int64_t begin, int64_t end, float* out) override;  // by the static encoder
  void take_sentences();
  void check_given() const;
  void cut_at_pages();
  bool is_in_block(int64_t page_start) const;
  void take_layout();

  const Inputs* inputs_ = nullptr;
  int64_t row_ = 0;
  std::string_view text_;
  SentenceList sentences_;
  bool cut_by_page_ = false;  // a given page, block or span that is left out begins inside a sentence
  BlockSpans blocks_;
  std::vector<int32_t> block_of_;
  std::vector<uint8_t> removed_;
  Values<int32_t> ids_;
  std::vector<int64_t> token_offsets_, token_counts_, page_starts_;
  int64_t counted_byte_ = 0, counted_characters_ = 0;  // characters before a byte, the last that was asked for
  int64_t line_byte_ = 0, lines_ = 0;                  // the same of line feeds
  Lengths lengths_[3];
  SharedWords shared_words_;
  RowWindow vectors_;
  std::vector<float> affinities_, summary_;
  Borders borders_;
  bool has_tokens_ = false, has_pages_ = false, has_affinities_ = false;
  bool knows_ascii_ = false, ascii_ = false, knows_limits_ = false;
  LengthLimits limits_;
  std::vector<int64_t> limited_;
  bool has_lengths_[3] = {};
};

// Closes a document at a scope's end, however it ends.
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
