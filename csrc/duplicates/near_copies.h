// Near-copies among the documents of a batch.
//
// The share of two documents is the number of shingles that they have in common, each as often as it occurs in both,
// divided by that of the longer document. It is 1 only if the words are equal: other documents with the same shingles
// count as if one were different. Without shingles, the share is 0 or 1.
//
// Candidates come from sketches of kSketch values (Dahlgaard, Knudsen and Thorup, "Fast similarity sketching", 2017).
// Two documents have each value in common with a probability of their Jaccard similarity. They are candidates if they
// have all values of one band in common. The share of candidates is then counted.
#pragma once
#include <cstdint>
#include <vector>

#include "common/view.h"

namespace pychunk {

constexpr int kSketch = 128;

struct NearCopies {
  std::vector<int64_t> rows;  // in rising order
  std::vector<int64_t> of;
  std::vector<double> shares;
};

// Finds the documents that are near-copies of an earlier one. Each document is compared with the earlier documents that
// are not near-copies themselves, and is a near-copy of the first of them with a share of at least `share`. A band has
// `band` values. With a share of 1 there are no sketches. Texts must be valid UTF-8. The result does not depend on
// `threads`.
NearCopies find_near_copies(const Texts& texts, double share, int band, int threads);

}  // namespace pychunk
