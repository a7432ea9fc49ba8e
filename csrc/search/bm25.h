// The BM25 scores of all rows for the terms of queries, from the postings of an index's parts. The score that a term
// adds to a row is computed once for all queries in which the term has the same weight. This takes a division and 12
// bytes. For each query, 6 of these bytes are read and one score changes in the first-level cache. There is one
// addition for each row and term, in the order of a query's terms. Scores are therefore the same for any number of
// threads, parts and queries in a call.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"

namespace pychunk {

// Unsigned integers of 1, 2 or 4 bytes each.
struct Numbers {
  const void* data = nullptr;
  int64_t size = 0;
  int bytes = 1;
};

// The postings of a part: rows, counted from the part's first row, and how often each contains the term. Term t has the
// postings [begins[t], ends[t]).
struct PartPostings {
  Numbers rows, counts;
  std::span<const int64_t> begins, ends;
  int64_t first_row = 0, row_count = 0;
};

// The terms of each query, by number, with their weights, and the bound that the sum is divided by. A bound of 0 means
// that none is known; the sum is then not divided.
struct WeightedTerms {
  Ragged<int64_t> terms;
  std::span<const float> weights, bounds;
};

// Compute the scores out[q, r] in float32: the sum of weight * c / (c + base[r]) over the query's terms that row r
// contains c times, divided by the query's bound. Rows that are not alive score 0; if `alive` is null, all are. out:
// [queries, base.size()]. Throw std::invalid_argument if a row or an offset is out of range.
void bm25_scores(std::span<const PartPostings> parts, const WeightedTerms& queries, std::span<const float> base,
                 const bool* alive, float* out, int threads);

// Return how many of the rows have a 1 in `alive`.
int64_t count_alive(const Numbers& rows, std::span<const uint8_t> alive);

}  // namespace pychunk
