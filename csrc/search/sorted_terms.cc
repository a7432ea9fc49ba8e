#include "search/sorted_terms.h"

#include <string_view>

namespace pychunk {

// Return the first position whose term is not before `wanted`. This is a loop because clang 14 (Debian 12) refuses
// std::ranges over libstdc++'s views, and std::lower_bound would need iterators of Texts.
static int64_t lower_bound(const Texts& sorted, std::string_view wanted) {
  int64_t from = 0;
  int64_t to = sorted.size();
  while (from < to) {
    const int64_t middle = from + (to - from) / 2;
    if (sorted[middle] < wanted) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  return from;
}

std::vector<int64_t> places_of(const Texts& sorted, const std::vector<std::string>& wanted) {
  std::vector<int64_t> places;
  places.reserve(wanted.size());
  for (const std::string& term : wanted) {
    const int64_t at = lower_bound(sorted, term);
    places.push_back(at < sorted.size() && sorted[at] == term ? at : -1);
  }
  return places;
}

}  // namespace pychunk
