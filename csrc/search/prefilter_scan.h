// The walk over a run of chunks by the first numbers of their rows, which are copied side by side for the second
// search.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "search/prefilter.h"
#include "search/scan.h"
#include "search/scan_hits.h"
#include "search/scan_pass.h"

namespace pychunk {

// The number of rows whose heads are checked before any remaining row is scored. It is large enough to prefetch the
// remaining rows together, and small enough for the heads to stay in the first-level cache when there are many queries.
constexpr int64_t kHeadBlock = 512, kHeadBlockOfMany = 256;

// The heads of a scan's rows, made at its second search.
class HeadsWhenAsked {
 public:
  // Return the heads. Return null at the first search, and if heads are not useful or there is no memory for them.
  const RowHeads* get(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen, int threads);

 private:
  std::atomic<bool> asked_{false};
  std::once_flag made_;
  std::unique_ptr<RowHeads> heads_;
};

// Search the chunks [begin, end) as scan_run() does. Blocks of heads are checked first, and only remaining rows are
// read whole. `heads` must have the heads of all rows.
void scan_run_by_heads(const ScanCall& call, const RowHeads& heads, int64_t begin, int64_t end, const bool* allowed,
                       std::vector<BestHits>& found);
// Search the chosen rows [begin, end), each of which is a chunk, by their heads. `begin` must be a multiple of
// kHeadBlock.
void scan_chosen_by_heads(const ScanCall& call, const RowHeads& heads, std::span<const int64_t> chosen, int64_t begin,
                          int64_t end, const bool* allowed, std::vector<BestHits>& found);

}  // namespace pychunk
