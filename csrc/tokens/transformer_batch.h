// The batches of a transformer. Rows are sorted by length, divided into batches by a token budget, and written into
// tensors. A row is one tokenized sentence or a pair of them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// The rows of a model's input: sentence first[i], followed by sentence second[i] unless `second` is empty.
struct ModelRows {
  Ragged<int32_t> sentences;  // token ids of each sentence
  std::span<const int64_t> first, second;
  int64_t size() const { return static_cast<int64_t>(first.size()); }
};

// The special tokens that a model expects around its sentences. BERT's [CLS] a [SEP] b [SEP] is {[CLS]}, {[SEP]},
// {[SEP]}.
struct Template {
  std::span<const int32_t> prefix, middle, suffix;
  int32_t pad = 0;
  int64_t max_length = 512;  // of a row, including special tokens
  int64_t special(bool pair) const {
    return static_cast<int64_t>(prefix.size() + (pair ? middle.size() : 0) + suffix.size());
  }
};

// The number of tokens that a row keeps of its first and its second sentence.
struct Kept {
  int64_t first = 0, second = 0;
};
// Returns how many tokens of each sentence fit into max_length. Tokens are cut from the end, of the longer sentence
// first. If both are too long, each keeps half. An odd token goes to the longer sentence, or to the second one if they
// are equally long. This is "longest_first" of Hugging Face's tokenizers.
Kept kept(const ModelRows& rows, int64_t row, const Template& shape);

// Writes the length of every row, including its special tokens.
void row_lengths(const ModelRows& rows, const Template& shape, int64_t* out);

// The row numbers, batch by batch. Batch b has the rows order[borders[b]] .. order[borders[b + 1]], the longest first.
struct Batches {
  std::vector<int64_t> order, borders;
};
// Plans batches with the longest rows first, and rows of equal length in input order. A batch has rows of one length,
// up to `budget` tokens but at least one row. A batch with fewer than `least` tokens also takes shorter rows, which are
// padded. For rare lengths, a call with a single row costs more than some padding.
Batches plan_batches(std::span<const int64_t> lengths, int64_t budget, int64_t least);

// Fills the tensors [rows, width] of one batch: ids, a mask (1 on real tokens) and token types (0: prefix, first
// sentence, middle; 1: second sentence, suffix). The mask and types may be null. Padding is `pad`, 0 and 0.
template <typename Id>
void fill(const ModelRows& rows, std::span<const int64_t> chosen, const Template& shape, int64_t width, Id* ids,
          Id* mask, Id* types);

}  // namespace pychunk
