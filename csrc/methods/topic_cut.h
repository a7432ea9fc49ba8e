// Where to cut by scores of gaps, where chunks have least and most lengths: a dynamic programme over whole documents.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pychunk {

// First sentences of the chunks of n sentences: of all partitions into chunks of at most `most` tokens (0: any; a
// longer sentence stands alone) those with the fewest chunks under `least`, and of these the one with the greatest sum
// over its cuts of threshold - affinities[s - 1], where s is the first sentence after the cut. Without limits that is a
// cut wherever the affinity is under the threshold. On a tie the last chunk is the longest one, and so on forwards.
// Scores are fixed point, so that sums are exact. tokens[s] are those of sentence s. Time and memory are linear.
void cut_within(std::span<const float> affinities, double threshold, std::span<const int64_t> tokens, int64_t least,
                int64_t most, std::vector<int32_t>& first);

}  // namespace pychunk
