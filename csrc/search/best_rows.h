// The best rows by scores that are there already. 4 bytes read a row: one pass, which stops nowhere but at rows that
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

// Of each query the `count` best rows among those that score above 0, best first, of equals the first; scores
// [queries, rows]. allowed: one value a row, nullptr for all.
std::vector<std::vector<ScoredRow>> best_rows(const Matrix<const float>& scores, int64_t count, const bool* allowed,
                                              int threads);

// The same of each group, one pass for all: of query q and group g those of out[q * count_of_groups + g]. groups: a
// number a row, below count_of_groups; of rows with a negative one none is found.
std::vector<std::vector<ScoredRow>> best_rows_of_groups(const Matrix<const float>& scores, int64_t count,
                                                        std::span<const int8_t> groups, int64_t count_of_groups,
                                                        int threads);

}  // namespace pychunk
