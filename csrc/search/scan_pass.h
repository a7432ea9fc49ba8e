// The walk over a run of chunks by all numbers of their rows, in blocks that all queries are held against.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/scan.h"
#include "search/scan_hits.h"
#include "search/scan_queries.h"

namespace pychunk {

// Numbers of a block of rows as float32: 16 KB stay in the first cache for one query after the other, 64 KB in the
// second for panels, which are as large as the first.
constexpr int64_t kScanBlock = 4096, kPanelBlock = 16384;

// What all runs of a search have in common.
struct ScanCall {
  const Scan& scan;
  const ScanQueries& queries;
  size_t count;  // hits wanted of each query
  const ScoredBeside* beside;
  SharedLimits& shared;
};

// Adds to what was found for each query the best of the chunks [begin, end). allowed: one value a chunk, nullptr for
// all.
void scan_run(const ScanCall& call, int64_t begin, int64_t end, const bool* allowed, std::vector<BestHits>& found);

}  // namespace pychunk
