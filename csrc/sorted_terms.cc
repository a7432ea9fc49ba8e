#include "sorted_terms.h"

#include <algorithm>
#include <ranges>
#include <string_view>

namespace pychunk {

std::vector<int64_t> places_of(const Texts& sorted, const std::vector<std::string>& wanted) {
  const auto numbers = std::views::iota(int64_t{0}, sorted.size());
  std::vector<int64_t> places;
  places.reserve(wanted.size());
  for (const std::string& term : wanted) {
    const auto at =
        std::ranges::lower_bound(numbers, std::string_view(term), std::less<>{}, [&](int64_t i) { return sorted[i]; });
    places.push_back(at != numbers.end() && sorted[*at] == term ? *at : -1);
  }
  return places;
}

}  // namespace pychunk
