// The walk over a run of chunks by the first numbers of their rows, which are laid side by side for a second search.
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

// Rows whose heads are looked at before any of them is looked at whole: so many that those left can be asked for
// together, and so few that the heads of many queries' rows stay in the first cache.
constexpr int64_t kHeadBlock = 512, kHeadBlockOfMany = 256;

// The heads of a scan's rows, made for its second search.
class HeadsWhenAsked {
 public:
  // Null for the first search, and where they are of no use or there is no memory for them.
  const RowHeads* get(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen, int threads);

 private:
  std::atomic<bool> asked_{false};
  std::once_flag made_;
  std::unique_ptr<RowHeads> heads_;
};

// As scan_run(), blocks of heads and of the rows that these leave all numbers; the heads are of all rows.
void scan_run_by_heads(const ScanCall& call, const RowHeads& heads, int64_t begin, int64_t end, const bool* allowed,
                       std::vector<BestHits>& found);
// The same by the heads of chosen rows, each of which is a chunk, of those [begin, end); begin is a multiple of
// kHeadBlock.
void scan_chosen_by_heads(const ScanCall& call, const RowHeads& heads, std::span<const int64_t> chosen, int64_t begin,
                          int64_t end, const bool* allowed, std::vector<BestHits>& found);

}  // namespace pychunk
