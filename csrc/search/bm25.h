// BM25 scores of all rows for the terms of queries, from the postings of an index's parts. What a term adds to a row is
// found once for all queries where it weighs as much: a division and 12 bytes; for each query 6 bytes of that are read
// and one score changed, in the first cache. Additions are one a row and term, in the order of a query's terms, so that
// scores are the same for any number of threads, parts and queries in a call.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"

namespace pychunk {

// Whole numbers, unsigned, of 1, 2 or 4 bytes each.
struct Numbers {
  const void* data = nullptr;
  int64_t size = 0;
  int bytes = 1;
};

// The postings of a part: rows, counted from the part's first, and how often they hold the term. Term t has
// [begins[t], ends[t]) of them.
struct PartPostings {
  Numbers rows, counts;
  std::span<const int64_t> begins, ends;
  int64_t first_row = 0, row_count = 0;
};

// Of each query its terms, by number, what each weighs, and what the sum is divided by; 0: nothing is known of it.
struct WeightedTerms {
  Ragged<int64_t> terms;
  std::span<const float> weights, bounds;
};

// out[q, r] = sum of weight * c / (c + base[r]) over the query's terms that row r holds c times, divided by the query's
// bound, in float32, as written; 0 of rows that are not alive (null: all are). out: [queries, base.size()].
// Throws std::invalid_argument where a row or a border is out of range.
void bm25_scores(std::span<const PartPostings> parts, const WeightedTerms& queries, std::span<const float> base,
                 const bool* alive, float* out, int threads);

// How many of the rows have a 1 in `alive`.
int64_t count_alive(const Numbers& rows, std::span<const uint8_t> alive);

}  // namespace pychunk
