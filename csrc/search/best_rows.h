// The best rows by scores that are already computed. One pass reads 4 bytes for each row, and stops only at rows that
// are among the best so far.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

struct ScoredRow {
  float score;
  int64_t row;
};

// Return the `count` best rows of each query among those that score above 0, best first, and the first of equals first.
// scores: [queries, rows]. allowed: one value for each row, nullptr for all.
std::vector<std::vector<ScoredRow>> best_rows(const Matrix<const float>& scores, int64_t count, const bool* allowed,
                                              int threads);

// Return the best rows of each group, in one pass for all groups. Those of query q and group g are in out[q *
// count_of_groups + g]. groups: one number for each row, below count_of_groups; rows with a negative number are never
// returned.
std::vector<std::vector<ScoredRow>> best_rows_of_groups(const Matrix<const float>& scores, int64_t count,
                                                        std::span<const int8_t> groups, int64_t count_of_groups,
                                                        int threads);

}  // namespace pychunk
