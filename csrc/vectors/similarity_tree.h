// A tree over each document by joining neighbours that are alike: every node is a run of sentences.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// First sentences of the nodes of each level of the trees, from the finest above `first` to one node a document; the
// root of a low tree is at all levels above it, too. `first`, of m nodes, and n behind them: what the trees stand on.
//
// One level up: of all neighbours that together hold at most `branching` nodes of the level below the two whose
// weighted sums of sentence vectors have the highest cosine are joined, the first on a tie, until a level has no more
// than 1 / branching of the nodes below, or no two may be joined. Where all fit under one node they do.
// A heap of neighbours: O(m log m) comparisons and O(m) sums and cosines of dim numbers, over all levels.
std::vector<std::vector<int64_t>> agglomerate(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                              std::span<const int64_t> doc_offsets, std::span<const int64_t> first,
                                              int64_t branching, int threads);

}  // namespace pychunk
