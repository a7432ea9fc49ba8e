// A tree over each document, built by joining similar neighbours. Every node is a run of sentences.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Returns the first sentences of the nodes of each level, from the level above `first` up to one node per document. The
// root of a low tree is on all levels above it, too. `first` has the first sentences of the m leaves and, at the end,
// the number of sentences.
//
// One level at a time, it joins neighbours that together have at most `branching` nodes of the level below. It takes
// the two whose weighted sums of sentence vectors have the highest cosine, and the first of equal ones. It stops if a
// level has at most 1 / branching of the nodes below, or if no two may be joined. If all nodes fit under one node, it
// joins them all.
//
// The cost, with a heap of neighbours, is O(m log m) comparisons and O(m) sums and cosines of dim numbers, over all
// levels.
std::vector<std::vector<int64_t>> agglomerate(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                              std::span<const int64_t> doc_offsets, std::span<const int64_t> first,
                                              int64_t branching, int threads);

}  // namespace pychunk
