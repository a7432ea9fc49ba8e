// The best chunks of each query in a run of rows, and the limits with which runs let each other skip rows.
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

// The best hits so far, of hits that are added in rising order of their chunks. Up to twice as many hits as wanted are
// kept before the worse half is dropped. This takes a few steps for each hit, whatever the number wanted.
struct BestHits {
  std::vector<ScanHit> hits;
  float limit = kBelowAll;  // hits that are dropped score at most this

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

// The highest limit for each query among the hits of all runs, or of those that are done together. Chunks with lower
// scores are not among the best.
using SharedLimits = std::vector<std::atomic<float>>;

inline void raise_limit(std::atomic<float>& shared, float limit) {
  float known = shared.load(std::memory_order_relaxed);
  while (known < limit && !shared.compare_exchange_weak(known, limit, std::memory_order_relaxed)) {
  }
}

// The best chunks of each query in a run. Rows must come in rising order; rows that cannot exceed the limit may be
// omitted.
class RunHits {
 public:
  RunHits(size_t queries, size_t count, SharedLimits& shared, const ScoredBeside* beside, std::vector<BestHits>& found)
      : count_(count), shared_(shared), beside_(beside), found_(found), pending_(queries, {kBelowAll, -1, -1}) {}

  // Return the limit that the sum of a chunk's scores must exceed.
  float limit_of_sums(size_t q) const {
    // The first chunk of equals counts, so equal scores are not excluded.
    const float shared = shared_[q].load(std::memory_order_relaxed);
    return std::max(found_[q].limit, shared == kBelowAll ? kBelowAll : std::nextafterf(shared, kBelowAll));
  }
  // Return the limit that the score of a row of the chunks [first, last] must exceed, without its added score. `limit`
  // is the limit of the sums.
  float limit_of(size_t q, int64_t first, int64_t last, float limit) const {
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q)) + first;
    const int64_t ahead = std::max(kChunksAhead, last - first + 1);
    for (int64_t k = 0; k <= last - first + kScoresALine; k += kScoresALine) __builtin_prefetch(scores + ahead + k);
    return without_beside(kernels().highest_of(scores, static_cast<size_t>(last - first + 1)), limit);
  }
  // Return this limit for some rows, each of which is a chunk.
  float limit_of(size_t q, std::span<const int64_t> rows, float limit) const {
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q));
    float most = kBelowAll;
    for (const int64_t row : rows) most = scores[row] > most ? scores[row] : most;
    return without_beside(most, limit);
  }
  // Return this limit for the rows of one chunk.
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
  // The number of chunks, two blocks, by which added scores are prefetched ahead. Each query has its own scores, a
  // megabyte apart, which makes too many streams for the processor to look ahead in. Without prefetching, they took 14
  // % of a scan for 64 queries.
  static constexpr int64_t kChunksAhead = 40, kScoresALine = 16;

  float without_beside(float most, float limit) const {
    return limit_without(static_cast<double>(beside_->weight) * static_cast<double>(most), limit);
  }

  // Add the chunk of a query's last rows to its hits. All rows of the chunk have been scored.
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
  std::vector<ScanHit> pending_;  // the chunk of each query's last row
};

}  // namespace pychunk
