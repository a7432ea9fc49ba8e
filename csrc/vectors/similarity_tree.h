// A tree over each document, built by joining similar neighbours. Every node is a run of sentences.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Returns the first sentences of the nodes of each level, from the level above `first` up to one node per document. If
// the tree of a document has fewer levels than the highest tree, its root is also on the levels above. `first` has the
// first sentences of the m leaves and, at the end, the number of sentences.
//
// One level at a time, it joins neighbours that together have at most `branching` nodes of the level below. It takes
// the two whose weighted sums of sentence vectors have the highest cosine, and the first of equal ones. A level is
// finished once it has at most 1 / branching of the nodes below, or once no two neighbours may be joined. If all nodes
// fit under one node, all are joined.
//
// The cost, with a heap of neighbours, is O(m log m) comparisons and O(m) sums and cosines of dim numbers, over all
// levels.
std::vector<std::vector<int64_t>> agglomerate(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                              std::span<const int64_t> doc_offsets, std::span<const int64_t> first,
                                              int64_t branching, int threads);

}  // namespace pychunk
