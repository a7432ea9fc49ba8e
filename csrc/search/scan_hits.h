// The best chunks of each query in a run of rows, and the limits by which runs spare each other rows.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/dispatch.h"
#include "search/added_scores.h"
#include "search/scan.h"

namespace pychunk {

inline bool ranks_before(const ScanHit& a, const ScanHit& b) {
  return a.score > b.score || (a.score == b.score && a.chunk < b.chunk);
}

// The best of hits whose chunks come in rising order. Twice as many as wanted are kept until the worse half goes, which
// takes a few steps a hit, whatever their number.
struct BestHits {
  std::vector<ScanHit> hits;
  float limit = kBelowAll;  // what cannot be among the best scores at most this

  void add(const ScanHit& hit, size_t count) {
    hits.push_back(hit);
    if (hits.size() >= 2 * count && hits.size() >= 64) cut(count);
  }
  void cut(size_t count) {
    if (hits.size() <= count) return;
    std::nth_element(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(count) - 1, hits.end(), ranks_before);
    hits.resize(count);
    limit = hits.back().score;
  }
};

// For each query the highest limit of the hits of any run, or of those that are done together: what scores less is not
// among the best.
using SharedLimits = std::vector<std::atomic<float>>;

inline void raise_limit(std::atomic<float>& shared, float limit) {
  float known = shared.load(std::memory_order_relaxed);
  while (known < limit && !shared.compare_exchange_weak(known, limit, std::memory_order_relaxed)) {
  }
}

// The best chunks of each query in a run, of rows that come in rising order and could be above the limit; others of
// their chunks may be left out.
class RunHits {
 public:
  RunHits(size_t queries, size_t count, SharedLimits& shared, const ScoredBeside* beside, std::vector<BestHits>& found)
      : count_(count), shared_(shared), beside_(beside), found_(found), pending_(queries, {kBelowAll, -1, -1}) {}

  // What the sum of a chunk must be more than.
  float limit_of_sums(size_t q) const {
    const float shared = shared_[q].load(std::memory_order_relaxed);  // of equals the first chunk counts: not excluded
    return std::max(found_[q].limit, shared == kBelowAll ? kBelowAll : std::nextafterf(shared, kBelowAll));
  }
  // What a row of the chunks [first, last] must score more than, `limit` being that of sums.
  float limit_of(size_t q, int64_t first, int64_t last, float limit) const {
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q)) + first;
    const int64_t ahead = std::max(kChunksAhead, last - first + 1);
    for (int64_t k = 0; k <= last - first + kScoresALine; k += kScoresALine) __builtin_prefetch(scores + ahead + k);
    return without_beside(kernels().highest_of(scores, static_cast<size_t>(last - first + 1)), limit);
  }
  // The same of some rows, each of which is a chunk.
  float limit_of(size_t q, std::span<const int64_t> rows, float limit) const {
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q));
    float most = kBelowAll;
    for (const int64_t row : rows) most = scores[row] > most ? scores[row] : most;
    return without_beside(most, limit);
  }
  // The same of one chunk.
  float limit_of(size_t q, int64_t chunk, float limit) const {
    return beside_ == nullptr ? limit : without_beside(beside_->scores.row(static_cast<int64_t>(q))[chunk], limit);
  }
  void add(size_t q, const ScanHit& row) {
    if (pending_[q].chunk != row.chunk) {
      settle(q);
      pending_[q].chunk = row.chunk, pending_[q].row = row.row;
    }
    if (row.score > pending_[q].score) pending_[q].score = row.score, pending_[q].row = row.row;
  }
  void settle() {
    for (size_t q = 0; q < pending_.size(); ++q) settle(q);
  }

 private:
  // Scores beside are asked for so many chunks before their turn, two blocks: each query has its own, a megabyte apart,
  // which is too many streams for the processor to look ahead in. Without it they took 14 % of a scan for 64 queries.
  static constexpr int64_t kChunksAhead = 40, kScoresALine = 16;

  float without_beside(float most, float limit) const {
    return limit_without(static_cast<double>(beside_->weight) * static_cast<double>(most), limit);
  }

  // The chunk that a query's last rows were of is complete.
  void settle(size_t q) {
    ScanHit hit = std::exchange(pending_[q], {kBelowAll, -1, -1});
    if (hit.chunk < 0) return;
    hit.score = with_beside(beside_, static_cast<int64_t>(q), hit.chunk, hit.score);
    if (!(hit.score > found_[q].limit)) return;
    const float before = found_[q].limit;
    found_[q].add(hit, count_);
    if (found_[q].limit > before) raise_limit(shared_[q], found_[q].limit);
  }

  const size_t count_;
  SharedLimits& shared_;
  const ScoredBeside* const beside_;
  std::vector<BestHits>& found_;
  std::vector<ScanHit> pending_;  // of each query the chunk that its last row was of
};

}  // namespace pychunk
