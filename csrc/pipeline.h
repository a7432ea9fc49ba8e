// segment() for a batch: sentences, tokens, vectors, cuts, budget and chunks, one document after the other on
// each thread, so that what a document needs stays in cache and nothing but chunks leaves the call.
#pragma once
#include <cstdint>
#include <span>

#include "pair_head.h"
#include "plan.h"
#include "table.h"
#include "view.h"
#include "wordpiece.h"

namespace pychunk {

// What a call is given. Everything but `texts` and `plan` may be left out where the plan does not need it.
struct Inputs {
  Texts texts;  // valid UTF-8
  const Plan* plan = nullptr;
  const WordPiece* tokenizer = nullptr;
  Matrix<const int8_t> table;         // static encoder: one row a token id
  std::span<const uint8_t> fallback;  // 1 for each token id that says little of a text: [UNK], single letters
  Texts ids;                          // the caller's document ids; without them the text's hash stands in

  // Sentences from elsewhere: first characters, ragged by document. Empty offsets: split here.
  Ragged<int64_t> sentence_starts;
  // Sentence vectors from elsewhere, unit length; rows of document i are vector_offsets[i] .. [i + 1]. Beside a table
  // they are that table's own.
  Matrix<const float> vectors;
  std::span<const int64_t> vector_offsets;
  // Vectors of the same sentences by another encoder, for the table alone; where they are is theirs: given vectors are
  // numbered over the whole call, these over the texts at hand.
  Matrix<const float> table_vectors;
  std::span<const int64_t> table_vector_offsets;

  // How much each sentence belongs to the one before, ragged by document: nsp's probabilities, or adjacent cosines that
  // a GPU computed. Or what makes the probabilities from the sentence vectors.
  Ragged<float> pair_scores;
  const PairHead* pair_head = nullptr;

  Texts summaries;                      // pic with given summaries, as text for the static encoder
  Matrix<const float> summary_vectors;  // or as vectors, one row a document
  // pic on a GPU: cosine of each sentence to the summary, and 1 where it reaches the threshold.
  Ragged<float> summary_scores;
  Ragged<int8_t> summary_labels;
  Ragged<int64_t> page_starts;  // first characters of pages, ragged by document

  int64_t first_row = 0;  // number of the batch's first document in errors and in the table
  int threads = 1;
};

// Whether the table's `tokens` and `page` columns are filled.
bool tokens_are_counted(const Inputs& inputs);
bool pages_are_counted(const Inputs& inputs);

// The chunks of all documents, in order. Throws std::invalid_argument naming the document where given
// sentences or vectors do not fit the text.
Table segment(const Inputs& inputs);

// Sentences of all documents, given ones and borders of given pages respected: byte spans [start, end) that tile each
// document, their SentenceFlags, and doc_offsets, k + 1 of them.
struct SentenceTable {
  Buffer<int64_t> spans;  // two a sentence
  Buffer<int64_t> doc_offsets;
  Buffer<uint8_t> flags;
};
SentenceTable split(const Inputs& inputs);

// Unit vectors of texts by the static encoder, rows x table.cols.
Buffer<float> encode_static(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                            int threads);

// The threshold that each document's scores are held against (pic: cosines to the summary; semantic: adjacent ones),
// NaN for documents without scores, and for the kind kGradient, whose threshold is for slopes.
std::vector<double> thresholds(const Plan& plan, const Ragged<float>& scores, int threads);

// Sum and count of the fixed-point scores between neighbours of a batch: what fit() averages (semantic, nsp).
struct AdjacentSums {
  int64_t sum = 0, count = 0;
};
AdjacentSums adjacent_sums(const Inputs& inputs);

}  // namespace pychunk
