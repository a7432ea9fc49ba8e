// Optimal partition of a document by within-chunk similarity (Chroma's ClusterSemanticChunker), in
// O(n x window) time instead of O(n^2): only pairs of sentences that can share a chunk are scored.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/rows.h"

namespace pychunk {

// Partition of sentences 0..n-1 that maximises the sum over chunks of (s_ab - mu), a < b in one chunk, where
// s_ab = e_a . e_b and mu is its mean over all pairs that fit into one chunk of at most `most` (0: no
// limit). before[i] is the length before sentence i, in any unit (n + 1 entries); a sentence that is too
// long is a chunk of its own. Among equal partitions the one whose last chunk is longest wins, and so on
// forwards. first gets the first sentence of every chunk. Scores are fixed point, so the optimum is exact.
void optimal_partition(const Rows& vectors, std::span<const int64_t> before, int64_t most, std::vector<int32_t>& first);

}  // namespace pychunk
