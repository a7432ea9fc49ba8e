// The cuts at the best gap scores, within limits on the lengths of chunks. A dynamic programme over the whole document
// finds them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace pychunk {

// Partitions n sentences into chunks, and writes the first sentence of each chunk to `first`. It considers all
// partitions into chunks of at most `most` tokens (0: no limit). A longer sentence is a chunk of its own. First it
// minimizes the number of chunks shorter than `least`. Then it maximizes the sum over all cuts of
// threshold - affinities[s - 1], where s is the first sentence after the cut. Without limits, this cuts wherever the
// affinity is below the threshold.
//
// Of equal partitions it takes the one with the longest last chunk, then the longest one before that, and so on. Scores
// are fixed-point numbers, so sums are exact. tokens[s] is the number of tokens of sentence s. Time and memory are
// linear in n.
void cut_within(std::span<const float> affinities, double threshold, std::span<const int64_t> tokens, int64_t least,
                int64_t most, std::vector<int32_t>& first);

}  // namespace pychunk
