#include "search/added_scores.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "search/best_rows.h"

namespace pychunk {
namespace {

// Chunks that score best beside are scored first, for a limit to begin with: of 40 hybrid queries for ten chunks of
// 250,954 the tenth best of 32 is within .08 of the tenth best of all, of 160 within .05.
constexpr int64_t kFirstBeside = 4, kLeastBeside = 32;

}  // namespace

float least_with_beside(const Scan& scan, const float* query, int64_t q, int64_t count, const bool* allowed,
                        const ScoredBeside& beside) {
  const int64_t first = std::max(count * kFirstBeside, kLeastBeside);
  std::vector<int64_t> chosen;
  const auto best = best_rows(beside.scores.slice(q, q + 1), first, allowed, 1);
  for (const ScoredRow& each : best[0]) chosen.push_back(each.row);
  if (static_cast<int64_t>(chosen.size()) < count) return kBelowAll;
  std::vector<float> scores(chosen.size());
  std::vector<int64_t> rows(chosen.size());
  scan.score_chunks(query, chosen, scores.data(), rows.data());
  for (size_t i = 0; i < chosen.size(); ++i) scores[i] = with_beside(&beside, q, chosen[i], scores[i]);
  std::nth_element(scores.begin(), scores.begin() + count - 1, scores.end(), std::greater<>());
  return scores[static_cast<size_t>(count) - 1];
}

}  // namespace pychunk
