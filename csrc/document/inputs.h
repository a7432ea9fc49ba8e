// What a call works on: documents, what is known of them already, what to compute, and with what.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"
#include "document/document_blocks.h"
#include "document/plan.h"
#include "tokens/wordpiece.h"
#include "vectors/nsp_head.h"

namespace pychunk {

struct TopicHead;

// Rows of a matrix, ragged by document.
struct RaggedRows {
  Matrix<const float> rows;
  std::span<const int64_t> offsets;
  bool given() const { return rows.data != nullptr; }
  int64_t count(int64_t i) const { return offsets[i + 1] - offsets[i]; }
  Matrix<const float> operator[](int64_t i) const { return rows.slice(offsets[i], offsets[i + 1]); }
};

// What a method decided elsewhere (pychunk._engine.data.cuts.Cuts).
struct GivenCuts {
  Ragged<int32_t> first;           // first sentence of each chunk, counted from its document's
  std::span<const int8_t> reason;  // why each cut is there (CutReason), as `kind`
  std::span<const int8_t> kind;    // one a chunk, at the offsets of `first`; empty: none has a kind
  Ragged<float> score;             // one a sentence, or with `pairs` one for each two neighbours
  bool pairs = false;
  bool given() const { return first.size() > 0; }
  bool scored_pairs() const { return pairs && score.size() > 0; }
};

// What parsers saw (document_blocks.h): of document i the entries from offsets[i] to offsets[i + 1].
struct GivenLayout {
  BlockSpans blocks;
  RemovedSpans removed;
  std::span<const int64_t> block_offsets, removed_offsets;  // empty: none are given
  BlockSpans blocks_of(int64_t i) const;
  RemovedSpans removed_of(int64_t i) const;
};

// Everything but `texts` and `plan` may be left out where the plan does not need it. All positions are bytes.
struct Inputs {
  Texts texts;  // valid UTF-8
  const Plan* plan = nullptr;
  const WordPiece* tokenizer = nullptr;
  Matrix<const int8_t> table;         // static encoder: one row a token id
  std::span<const uint8_t> fallback;  // 1 for each token id that says little of a text: [UNK], single letters
  Texts ids;                          // the caller's document ids; without them the text's hash stands in

  Ragged<int64_t> sentences;     // first bytes of sentences; without them the engine splits
  Ragged<uint8_t> flags;         // their SentenceFlags; without them the white space before each says what it can
  Ragged<int64_t> token_counts;  // of each sentence, as budgets count them
  // Ids of the sentences that token_counts are of, by the table's tokenizer: [token_offsets[i], token_offsets[i + 1])
  // are those of the one whose count is token_counts.values[i].
  std::span<const int32_t> token_ids;
  std::span<const int64_t> token_offsets;
  RaggedRows vectors;        // of each sentence, of unit length; beside a table they are that table's own
  RaggedRows table_vectors;  // of the same sentences by another encoder, for the table alone
  // How much each sentence belongs to the one before: nsp's probabilities, or adjacent cosines that a GPU computed. Or
  // what makes the probabilities from the sentence vectors.
  Ragged<float> pair_scores;
  const PairHead* pair_head = nullptr;
  const TopicHead* topic_head = nullptr;  // of topic: from the vectors and the text
  Texts summaries;                        // of pic, as text for the static encoder
  Matrix<const float> summary_vectors;    // or as vectors, one row a document
  Ragged<int64_t> page_starts;            // first bytes of pages
  GivenLayout layout;
  GivenCuts cuts;

  int64_t first_row = 0;  // number of the batch's first document in errors and in the table
  int threads = 1;

  // Whether the table's `tokens` and `page` columns are filled.
  bool counts_tokens() const;
  bool counts_pages() const;
  // Whether the table holds the tree of headings.
  bool outlines() const { return plan->method->outline; }
  // Whether sentence vectors must be there, given or by the table.
  bool needs_vectors() const;
  // Width of the vectors that the method sees.
  int64_t dim() const { return vectors.given() ? vectors.rows.cols : table.cols; }
  // What a chunk's score is the mean of.
  Scores scores() const;
};

}  // namespace pychunk
