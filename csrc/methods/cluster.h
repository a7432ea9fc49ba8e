// The optimal partition of a document by similarity within chunks (Chroma's ClusterSemanticChunker). It takes O(n x
// window) time instead of O(n^2), because it scores only pairs of sentences that can share a chunk.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/rows.h"

namespace pychunk {

// Computes the partition of sentences 0..n-1 that maximises the sum over chunks of (s_ab - mu), for a < b in one chunk.
// Here s_ab = e_a . e_b, and mu is the mean of s_ab over all pairs that fit into one chunk of at most `most` (0: no
// limit). before[i] is the length of the text before sentence i, in any unit (n + 1 entries). A sentence that is too
// long is a chunk of its own.
//
// Of equal partitions it takes the one with the longest last chunk, then the longest one before that, and so on.
// `first` gets the first sentence of every chunk. Scores are fixed-point numbers, so the optimum is exact.
void optimal_partition(const Rows& vectors, std::span<const int64_t> before, int64_t most, std::vector<int32_t>& first);

}  // namespace pychunk
