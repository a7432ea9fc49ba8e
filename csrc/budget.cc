#include "budget.h"

#include <algorithm>

namespace pychunk {
namespace {

bool all_allow(std::span<const Limit> limits, int64_t i, int64_t j) {
  return std::all_of(limits.begin(), limits.end(), [&](const Limit& limit) { return limit.allows(i, j); });
}

Group group(int64_t first, int64_t last) {
  return {static_cast<int32_t>(first), static_cast<int32_t>(last), static_cast<int32_t>(first)};
}

// Borders of sentences [first, last) by ascending cosine as a min-heap-ordered binary tree (Cartesian tree),
// so that cutting a group of n sentences takes O(n) whatever its affinities are.
class BorderTree {
 public:
  // Border b lies between sentences b and b + 1 and has affinity affinities[b].
  BorderTree(int64_t first, int64_t last, std::span<const float> affinities) : first_(first) {
    const size_t n = static_cast<size_t>(last - first - 1);
    left_.assign(n, -1), right_.assign(n, -1);
    std::vector<int64_t> spine;
    for (size_t b = 0; b < n; ++b) {
      int64_t below = -1;
      while (!spine.empty() && affinities[first + spine.back()] > affinities[first + b])
        below = spine.back(), spine.pop_back();
      left_[b] = below;
      if (!spine.empty()) right_[spine.back()] = static_cast<int64_t>(b);
      spine.push_back(static_cast<int64_t>(b));
    }
    root_ = spine.front();
  }
  // Appends the parts of [first, last) that are left when groups are cut at their lowest border until they
  // fit.
  void cut(int64_t last, const Limit& limit, std::vector<Group>& out) const {
    struct Part {
      int64_t first, last, border;
    };
    std::vector<Part> stack{{first_, last, root_}};
    while (!stack.empty()) {
      const Part part = stack.back();
      stack.pop_back();
      if (part.last - part.first == 1 || limit.allows(part.first, part.last)) {
        out.push_back(group(part.first, part.last));
        continue;
      }
      const int64_t middle = first_ + part.border + 1;
      stack.push_back({middle, part.last, right_[part.border]});
      stack.push_back({part.first, middle, left_[part.border]});
    }
  }

 private:
  int64_t first_, root_;
  std::vector<int64_t> left_, right_;
};

}  // namespace

void greedy_groups(int64_t sentences, const Limit& size, int64_t overlap, std::vector<Group>& groups) {
  groups.clear();
  int64_t previous = 0;  // where the group before begins
  for (int64_t first = 0; first < sentences;) {
    int64_t start = first;
    if (overlap > 0 && size.allows(first, first + 1)) {
      while (start > previous && (*size.lengths)(start - 1, first) <= overlap && size.allows(start - 1, first + 1))
        --start;
    }
    int64_t last = first + 1;
    while (last < sentences && size.allows(start, last + 1)) ++last;
    groups.push_back(group(first, last));
    previous = start, first = last;
  }
}

void join_short(std::vector<Group>& groups, const Lengths& tokens, int64_t min_tokens, std::span<const Limit> limits,
                const Affinities& affinities) {
  std::vector<Group> done;  // a stack: no group in it can be joined any further
  const auto is_short = [&](const Group& g) { return tokens(g.first, g.last) < min_tokens; };
  size_t next = 0;
  while (next < groups.size()) {
    Group current = groups[next++];
    for (;;) {
      // The one before is short only where nothing fitted beside it. A group that has grown since may fit all the same:
      // a word that lies across a border can have fewer tokens than its parts.
      const bool short_here = is_short(current), short_before = !done.empty() && is_short(done.back());
      const bool before =
          !done.empty() && (short_here || short_before) && all_allow(limits, done.back().first, current.last);
      const bool after = short_here && next < groups.size() && all_allow(limits, current.first, groups[next].last);
      if (!before && !after) break;
      bool take_before = before;
      if (before && after) {
        const std::span<const float> a = affinities();
        take_before = a.empty() || a[current.first - 1] >= a[current.last - 1];
      }
      if (take_before) {
        current = group(done.back().first, current.last);
        done.pop_back();
      } else {
        current = group(current.first, groups[next++].last);
      }
    }
    done.push_back(current);
  }
  groups = std::move(done);
}

void cut_long(std::vector<Group>& groups, const Limit& limit, const Affinities& affinities) {
  const auto too_long = [&](const Group& g) { return g.last - g.first > 1 && !limit.allows(g.first, g.last); };
  if (std::none_of(groups.begin(), groups.end(), too_long)) return;
  const std::span<const float> a = affinities();
  std::vector<Group> parts;
  for (const Group& g : groups) {
    if (!too_long(g)) {
      parts.push_back(g);
    } else if (!a.empty()) {
      BorderTree(g.first, g.last, a).cut(g.last, limit, parts);
    } else {
      for (int64_t first = g.first; first < g.last;) {
        int64_t last = first + 1;
        while (last < g.last && limit.allows(first, last + 1)) ++last;
        parts.push_back(group(first, last));
        first = last;
      }
    }
  }
  groups = std::move(parts);
}

void add_overlap(std::vector<Group>& groups, const Lengths& lengths, int64_t overlap, std::span<const Limit> limits,
                 std::span<const uint8_t> pieces) {
  const auto is_piece = [&](int64_t s) { return !pieces.empty() && pieces[static_cast<size_t>(s)] != 0; };
  for (size_t g = 1; g < groups.size(); ++g) {
    Group& current = groups[g];
    const Group& before = groups[g - 1];
    if (is_piece(current.first) || !all_allow(limits, current.first, current.last)) continue;
    int32_t start = current.first;
    while (start > before.overlap_first && !is_piece(start - 1) && lengths(start - 1, current.first) <= overlap &&
           all_allow(limits, start - 1, current.last))
      --start;
    current.overlap_first = start;
  }
}

}  // namespace pychunk
