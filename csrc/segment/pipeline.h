// segment() for a batch: sentences, tokens, vectors, cuts, budget and chunks, one document after the other on each
// thread, so that what a document needs stays in cache and nothing but chunks leaves the call.
#pragma once
#include <cstdint>
#include <vector>

#include "document/inputs.h"
#include "segment/table.h"

namespace pychunk {

// The chunks of all documents, in order. Throws std::invalid_argument naming the document where given sentences,
// vectors or cuts do not fit the text.
Table segment(const Inputs& inputs);

// What the method decides before chunks are fitted to a budget: see pychunk._engine.data.cuts.Cuts. `kind` and `score`
// are empty where the method has none.
struct CutTable {
  std::vector<int32_t> first;
  std::vector<int64_t> offsets;
  std::vector<int8_t> kind, reason;
  std::vector<float> score;
  std::vector<int64_t> score_offsets;
};
// With `held`, scores of pairs are those that the method holds against its threshold, over its window.
CutTable cuts(const Inputs& inputs, bool held = false);

// Sum and count of the fixed-point scores between neighbours of a batch: what fit() averages (semantic, nsp).
struct AdjacentSums {
  int64_t sum = 0, count = 0;
};
AdjacentSums adjacent_sums(const Inputs& inputs);

}  // namespace pychunk
