#include "document/kept_sentences.h"

#include <algorithm>

namespace pychunk {

std::vector<RowRun> equal_sentences(std::span<const int64_t> before, std::span<const int64_t> after,
                                    std::span<const KeptSpan> spans) {
  std::vector<RowRun> runs;
  if (before.empty() || after.empty()) return runs;
  const auto at = [](std::span<const int64_t> starts, int64_t byte) {
    return static_cast<size_t>(std::lower_bound(starts.begin(), starts.end(), byte) - starts.begin());
  };
  for (const KeptSpan& span : spans) {
    const int64_t shift = span.to - span.from, end = span.to + span.length;
    size_t old = at(before, span.from), own = at(after, span.to);
    while (old + 1 < before.size() && own + 1 < after.size()) {
      const int64_t old_end = before[old + 1] + shift, own_end = after[own + 1];
      if (old_end > end || own_end > end) break;
      if (before[old] + shift == after[own] && old_end == own_end) {
        const auto from = static_cast<int64_t>(old), to = static_cast<int64_t>(own);
        const bool goes_on =
            !runs.empty() && runs.back().from + runs.back().count == from && runs.back().to + runs.back().count == to;
        if (!goes_on) runs.push_back({from, to, 0});
        ++runs.back().count;
      }
      old += old_end <= own_end ? 1 : 0;
      own += own_end <= old_end ? 1 : 0;
    }
  }
  return runs;
}

}  // namespace pychunk
