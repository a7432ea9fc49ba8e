// The inputs of a call: documents, what the caller already knows about them, the plan, and the models.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"
#include "document/document_blocks.h"
#include "document/plan.h"
#include "tokens/token_counter.h"
#include "tokens/wordpiece.h"
#include "vectors/nsp_head.h"
#include "vectors/scaled_rows.h"

namespace pychunk {

struct TopicHead;
struct KeptSentences;

// The rows of a matrix, grouped by document. If `rows` has no data, `raw` has the rows of each document as the caller
// has them, and `rows` has only their number and dimension.
struct RaggedRows {
  Matrix<const float> rows;
  std::span<const int64_t> offsets;
  std::span<const RawRows> raw;
  bool given() const { return rows.data != nullptr || rows.cols > 0; }
  int64_t count(int64_t i) const { return offsets[i + 1] - offsets[i]; }
  Matrix<const float> operator[](int64_t i) const { return rows.slice(offsets[i], offsets[i + 1]); }
};

// The cuts that a method outside the engine chose (pychunk._engine.data.cuts.Cuts).
struct GivenCuts {
  Ragged<int32_t> first;              // the first sentence of each chunk, counted from the start of its document
  std::span<const int8_t> reason;     // the reason for each cut (CutReason), laid out like `relevance`
  std::span<const int8_t> relevance;  // one for each chunk, at the offsets of `first`; empty: no chunk has one
  Ragged<float> score;                // one for each sentence, or with `pairs` one for each pair of neighbours
  bool pairs = false;
  bool given() const { return first.size() > 0; }
  bool scored_pairs() const { return pairs && score.size() > 0; }
};

// The layout that parsers found (document_blocks.h). Document i has the entries from offsets[i] to offsets[i + 1].
struct GivenLayout {
  BlockSpans blocks;
  RemovedSpans removed;
  std::span<const int64_t> block_offsets, removed_offsets;  // empty: none were passed
  BlockSpans blocks_of(int64_t i) const;
  RemovedSpans removed_of(int64_t i) const;
};

// The inputs of one call. Everything except `texts` and `plan` may be missing if the plan does not need it. All
// positions are bytes.
struct Inputs {
  Texts texts;  // valid UTF-8
  const Plan* plan = nullptr;
  const WordPiece* tokenizer = nullptr;   // of the table; it also counts tokens, unless a counter does
  const TokenCounter* counter = nullptr;  // null: `tokenizer` counts the tokens of limits and sizes
  Matrix<const int8_t> table;             // the static encoder: one row for each token id
  std::span<const uint8_t> fallback;      // 1 for each token id that says little about a text: [UNK] and single letters
  Texts ids;                              // the caller's document ids; without them the hash of the text is used

  Ragged<int64_t> sentences;     // the first bytes of sentences; without them the engine splits
  Ragged<uint8_t> flags;         // their SentenceFlags; without them the engine infers them from white space if it can
  Ragged<int64_t> token_counts;  // of each sentence, as budgets count them
  bool exact_counts = false;     // the counter, or else the tokenizer, made token_counts
  // The token ids, from the table's tokenizer, of the sentences that token_counts describes. The sentence whose count
  // is token_counts.values[i] has the ids [token_offsets[i], token_offsets[i + 1]).
  std::span<const int32_t> token_ids;
  std::span<const int64_t> token_offsets;
  RaggedRows vectors;        // of each sentence, of unit length; if `table` is set, too, they were computed from it
  RaggedRows table_vectors;  // of the same sentences by another encoder, only for the table
  // For each pair of adjacent sentences, the probability of nsp, or the cosine that a GPU computed. If there are none,
  // a head computes probabilities from sentence vectors.
  Ragged<float> pair_scores;
  const PairHead* pair_head = nullptr;
  const TopicHead* topic_head = nullptr;  // for topic; it reads vectors and text
  Texts summaries;                        // for pic, as text for the static encoder
  Matrix<const float> summary_vectors;    // or as vectors, one row for each document
  Ragged<int64_t> page_starts;            // the first bytes of pages
  // Lower limits for chunks that a counter finds too long, as pairs of (byte, tokens) by rising bytes: if the chunk
  // from there on is cut, its pieces have at most so many tokens, up to the next pair.
  Ragged<int64_t> lower_limits;
  GivenLayout layout;
  GivenCuts cuts;

  // For the only document of an edit: the sentences from before the edit, which are replaced by its own.
  KeptSentences* kept = nullptr;

  int64_t first_row = 0;  // the number of the batch's first document, in errors and in the table
  int threads = 1;

  // Return whether the chunk table's `tokens` column is filled. counts_pages() says the same about its `page` columns.
  bool counts_tokens() const;
  bool counts_pages() const;
  // Return whether the chunk table holds the tree of headings: if documents have blocks, or the method cuts by
  // headings.
  bool outlines() const { return plan->method->outline || !layout.block_offsets.empty(); }
  // Return whether sentence vectors are needed, from the caller or from the static encoder's table.
  bool needs_vectors() const;
  // Return the dimension of the vectors that the method reads.
  int64_t dim() const { return vectors.given() ? vectors.rows.cols : table.cols; }
  // Return the kind of scores whose mean is a chunk's score.
  Scores scores() const;
};

}  // namespace pychunk
