// Batches for a transformer: rows in the order of their length, cut under a token budget, filled into tensors. A row is
// one sentence or a pair of them, tokenised before.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Rows of a model's input: sentence first[i], followed by sentence second[i] where `second` is not empty.
struct ModelRows {
  Ragged<int32_t> sentences;  // token ids of each sentence
  std::span<const int64_t> first, second;
  int64_t size() const { return static_cast<int64_t>(first.size()); }
};

// What a model wants around its sentences: BERT's [CLS] a [SEP] b [SEP] is {[CLS]}, {[SEP]}, {[SEP]}.
struct Template {
  std::span<const int32_t> prefix, middle, suffix;
  int32_t pad = 0;
  int64_t max_length = 512;  // of a row, with its special tokens
  int64_t special(bool pair) const {
    return static_cast<int64_t>(prefix.size() + (pair ? middle.size() : 0) + suffix.size());
  }
};

// Tokens that a row keeps of its first and its second sentence.
struct Kept {
  int64_t first = 0, second = 0;
};
// Cut to what max_length leaves, from the end: the longer one first; where both are too long, to halves, of which the
// longer one (of equal ones the second) keeps the odd token. That is "longest_first" of Hugging Face's tokenizers.
Kept kept(const ModelRows& rows, int64_t row, const Template& shape);

// Length of every row with its special tokens.
void row_lengths(const ModelRows& rows, const Template& shape, int64_t* out);

// Row numbers batch by batch: order[borders[b]] .. order[borders[b + 1]] have batch b, whose longest row comes first.
struct Batches {
  std::vector<int64_t> order, borders;
};
// Longest rows first, those of one length in the order they came in. A batch holds rows of one length, up to `budget`
// tokens (one row at least); one with fewer than `least` tokens takes shorter rows, too, which are padded: where
// lengths are rare, a call on a single row costs more than a few pads.
Batches plan_batches(std::span<const int64_t> lengths, int64_t budget, int64_t least);

// Tensors [rows, width] of one batch: ids, then where they are not null a mask (1 on real tokens) and token types
// (0: prefix, first sentence, middle; 1: second sentence, suffix). What is not a token is `pad`, 0 and 0.
template <typename Id>
void fill(const ModelRows& rows, std::span<const int64_t> chosen, const Template& shape, int64_t width, Id* ids,
          Id* mask, Id* types);

}  // namespace pychunk
