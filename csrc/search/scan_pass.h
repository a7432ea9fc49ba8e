// The walk over a run of chunks by all numbers of their rows, in blocks that are compared with all queries.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/scan.h"
#include "search/scan_hits.h"
#include "search/scan_queries.h"

namespace pychunk {

// The numbers in a block of rows as float32. 16 KB stay in the first-level cache for one query after the other. For
// panels, which are as large as the first-level cache, 64 KB stay in the second-level cache.
constexpr int64_t kScanBlock = 4096, kPanelBlock = 16384;

// The data that all runs of a search share.
struct ScanCall {
  const Scan& scan;
  const ScanQueries& queries;
  size_t count;  // the number of hits wanted for each query
  const ScoredBeside* beside;
  SharedLimits& shared;
};

// Add the best of the chunks [begin, end) to the hits found for each query. allowed: one value for each chunk, nullptr
// for all.
void scan_run(const ScanCall& call, int64_t begin, int64_t end, const bool* allowed, std::vector<BestHits>& found);

}  // namespace pychunk
