#include "parsing/noise_names.h"

#include <algorithm>
#include <bitset>
#include <vector>

#include "common/interrupt.h"

namespace pychunk {

void put_reasons(const NamedElements& page, const NameReasons& named, std::span<int64_t> why) {
  std::bitset<4096> maybe;  // most names are not among the known ones
  for (const uint32_t word : named.known) maybe.set(word % maybe.size());
  std::vector<int64_t> running{0};
  for (const int32_t chars : page.text_chars) running.push_back(running.back() + chars);
  const auto blocks_below = [&](int64_t row) {
    return static_cast<size_t>(std::ranges::lower_bound(page.element, row) - page.element.begin());
  };
  for (int64_t e = 0; e < page.names.size(); ++e) {
    checkpoint_each(e, 1 << 14);
    bool first_name = true;
    for (const uint32_t word : page.names[e]) {
      if (!maybe[word % maybe.size()]) continue;
      const auto found = std::ranges::lower_bound(named.known, word);
      if (found == named.known.end() || *found != word) continue;
      const size_t begin = blocks_below(e), end = blocks_below(page.last[static_cast<size_t>(e)]);
      if ((running[end] - running[begin]) * 2 > running.back()) break;
      const int64_t reason = named.reasons[static_cast<size_t>(found - named.known.begin())];
      if (begin < end && (first_name || reason < why[begin])) std::fill(&why[begin], &why[end - 1] + 1, reason);
      first_name = false;
    }
  }
}

}  // namespace pychunk
