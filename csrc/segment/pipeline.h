// The steps of segment() for a batch: sentences, tokens, vectors, cuts, budget and chunks. Each thread handles one
// document after the other, so that a document's data stays in cache and only chunks leave the call.
#pragma once
#include <cstdint>
#include <vector>

#include "document/inputs.h"
#include "segment/table.h"

namespace pychunk {

// Return the chunks of all documents, in order. Throw std::invalid_argument, which names the document, if given
// sentences, vectors or cuts do not fit the text.
Table segment(const Inputs& inputs);

// The decisions of the method, before chunks are fitted to a budget. See pychunk._engine.data.cuts.Cuts. `relevance`
// and `score` are empty if the method has none.
struct CutTable {
  std::vector<int32_t> first;
  std::vector<int64_t> offsets;
  std::vector<int8_t> relevance, reason;
  std::vector<float> score;
  std::vector<int64_t> score_offsets;
};
// Return the cuts of the documents. With `held`, the pair scores of a method whose window has several sentences are
// computed over that window: they are the values that the method compares with its threshold. Otherwise they are the
// scores of adjacent sentences.
CutTable cuts(const Inputs& inputs, bool held = false);

// The sum and count of the fixed-point scores of neighbouring sentences in a batch, which fit() averages (semantic,
// nsp).
struct AdjacentSums {
  int64_t sum = 0, count = 0;
};
AdjacentSums adjacent_sums(const Inputs& inputs);

}  // namespace pychunk
