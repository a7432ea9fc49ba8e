#include "best_rows.h"

#include <algorithm>

#include "parallel.h"

namespace pychunk {
namespace {

constexpr int64_t kScoresTogether = 64;  // looked at as one before each on its own

bool row_ranks_before(const ScoredRow& a, const ScoredRow& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

std::vector<ScoredRow> best_of(const float* scores, int64_t rows, size_t count, const bool* allowed) {
  std::vector<ScoredRow> found;
  float limit = 0.0f;  // rows come in order: of equals the later one loses
  const auto cut = [&] {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count) - 1, found.end(),
                     row_ranks_before);
    found.resize(count);
    limit = found.back().score;
  };
  for (int64_t begin = 0; begin < rows; begin += kScoresTogether) {
    const int64_t end = std::min(begin + kScoresTogether, rows);
    int above = 0;
    for (int64_t row = begin; row < end; ++row) above |= scores[row] > limit;
    if (above == 0) continue;
    for (int64_t row = begin; row < end; ++row) {
      if (!(scores[row] > limit) || (allowed != nullptr && !allowed[row])) continue;
      found.push_back({scores[row], row});
      if (found.size() >= 2 * count && found.size() >= 64) cut();
    }
  }
  if (found.size() > count) cut();
  std::sort(found.begin(), found.end(), row_ranks_before);
  return found;
}

}  // namespace

std::vector<std::vector<ScoredRow>> best_rows(const Matrix<const float>& scores, int64_t count, const bool* allowed,
                                              int threads) {
  std::vector<std::vector<ScoredRow>> out(static_cast<size_t>(scores.rows));
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, scores.cols));
  if (wanted == 0) return out;
  parallel_for(scores.rows, threads, [&](int64_t query) {
    out[static_cast<size_t>(query)] = best_of(scores.row(query), scores.cols, wanted, allowed);
  });
  return out;
}

}  // namespace pychunk
