#include "search/best_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/check.h"
#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr int64_t kScoresTogether = 64;  // scores compared with the limit at once; one by one only if any is above it
constexpr int64_t kRowsARun = 1 << 17;   // rows with several groups that one thread takes at a time

bool row_ranks_before(const ScoredRow& a, const ScoredRow& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

void cut_rows(std::vector<ScoredRow>& found, size_t count) {
  if (found.size() <= count) return;
  std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count) - 1, found.end(),
                   row_ranks_before);
  found.resize(count);
}

std::vector<ScoredRow> best_of(const float* scores, int64_t rows, size_t count, const bool* allowed) {
  std::vector<ScoredRow> found;
  float limit = 0.0f;  // rows come in order, so the later one of two equal rows loses
  const auto cut = [&] {
    cut_rows(found, count);
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

// Find the best rows of each group among the rows [begin, end), in any order. `known` holds for each group a score that
// enough rows of other runs reach, so that this run checks fewer rows.
void best_of_groups(const float* scores, int64_t begin, int64_t end, size_t count, std::span<const int8_t> groups,
                    std::span<std::atomic<float>> known, std::span<std::vector<ScoredRow>> found) {
  // The limits are indexed by a row's group as a byte. No score exceeds the limit for rows without a group.
  std::array<float, 256> limits;
  limits.fill(std::numeric_limits<float>::infinity());
  for (size_t group = 0; group < found.size(); ++group)  // equal scores pass: the first of equals may be in this run
    limits[group] = std::nextafterf(known[group].load(std::memory_order_relaxed), 0.0f);
  float least = *std::min_element(limits.begin(), limits.end());
  for (int64_t first = begin; first < end; first += kScoresTogether) {
    const int64_t last = std::min(first + kScoresTogether, end);
    int above = 0;
    for (int64_t row = first; row < last; ++row) above |= scores[row] > least;
    if (above == 0) continue;
    const auto group_of = [&](int64_t row) { return static_cast<uint8_t>(groups[static_cast<size_t>(row)]); };
    above = 0;
    for (int64_t row = first; row < last; ++row) above |= scores[row] > limits[group_of(row)];
    if (above == 0) continue;
    for (int64_t row = first; row < last; ++row) {
      const uint8_t group = group_of(row);
      if (!(scores[row] > limits[group])) continue;
      std::vector<ScoredRow>& own = found[group];
      own.push_back({scores[row], row});
      if (own.size() < 2 * count || own.size() < 64) continue;
      cut_rows(own, count);
      limits[group] = own.back().score;
      least = *std::min_element(limits.begin(), limits.end());
    }
  }
  for (size_t group = 0; group < found.size(); ++group) {
    if (found[group].size() <= count) continue;
    cut_rows(found[group], count);
    float before = known[group].load(std::memory_order_relaxed);
    const float limit = found[group].back().score;
    while (before < limit && !known[group].compare_exchange_weak(before, limit, std::memory_order_relaxed)) {
    }
  }
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

std::vector<std::vector<ScoredRow>> best_rows_of_groups(const Matrix<const float>& scores, int64_t count,
                                                        std::span<const int8_t> groups, int64_t count_of_groups,
                                                        int threads) {
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, scores.cols));
  const auto every = static_cast<size_t>(count_of_groups);
  const int64_t runs = (scores.cols + kRowsARun - 1) / kRowsARun;
  std::vector<std::vector<ScoredRow>> out(static_cast<size_t>(scores.rows) * every);
  if (wanted == 0 || every == 0) return out;
  int8_t most = -1;
  for (const int8_t group : groups) most = std::max(most, group);
  PYCHUNK_CHECK(most < count_of_groups, "groups must be below ", count_of_groups, ", got ", int{most});
  std::vector<std::vector<ScoredRow>> found(out.size() * static_cast<size_t>(runs));  // [queries, runs, groups]
  std::vector<std::atomic<float>> known(out.size());
  for (auto& limit : known) limit.store(0.0f, std::memory_order_relaxed);
  parallel_for(scores.rows * runs, threads, [&](int64_t item) {
    const int64_t begin = item % runs * kRowsARun, end = std::min(begin + kRowsARun, scores.cols);
    best_of_groups(scores.row(item / runs), begin, end, wanted, groups,
                   std::span(known).subspan(static_cast<size_t>(item / runs) * every, every),
                   std::span(found).subspan(static_cast<size_t>(item) * every, every));
  });
  for (size_t i = 0; i < out.size(); ++i) {
    std::vector<ScoredRow>& own = out[i];
    for (size_t run = 0; run < static_cast<size_t>(runs); ++run) {
      const auto& more = found[(i / every * static_cast<size_t>(runs) + run) * every + i % every];
      own.insert(own.end(), more.begin(), more.end());
    }
    cut_rows(own, wanted);
    std::sort(own.begin(), own.end(), row_ranks_before);
  }
  return out;
}

}  // namespace pychunk
