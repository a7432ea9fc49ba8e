#include "document/budget.h"

#include <algorithm>

namespace pychunk {
namespace {

bool all_allow(std::span<const Limit> limits, int64_t i, int64_t j) {
  return std::all_of(limits.begin(), limits.end(), [&](const Limit& limit) { return limit.allows(i, j); });
}

Group group(int64_t first, int64_t last) {
  return {static_cast<int32_t>(first), static_cast<int32_t>(last), static_cast<int32_t>(first)};
}

// The boundaries of sentences [first, last) as a binary tree ordered like a min-heap by cosine (a Cartesian tree). With
// it, cutting a group of n sentences takes O(n), whatever its affinities are.
class BorderTree {
 public:
  // Boundary b is between sentences b and b + 1 and has affinity affinities[b].
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
  // Append the parts of [first, last) that remain after groups are cut at their weakest boundary until they fit. If all
  // boundaries of such a part are inside spans kept together, append runs of as many sentences as fit.
  void cut(int64_t last, const Limit& limit, const Filling& filling, std::vector<Group>& out) const {
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
      if (filling.knows_borders() && is_closed(filling.borders->cohesion[static_cast<size_t>(middle)])) {
        fill_groups(part.first, part.last, limit, 0, filling, out);
        continue;
      }
      stack.push_back({middle, part.last, right_[part.border]});
      stack.push_back({part.first, middle, left_[part.border]});
    }
  }

 private:
  int64_t first_, root_;
  std::vector<int64_t> left_, right_;
};

// A class that fills runs, section by section.
class Filler {
 public:
  Filler(int64_t end, const Limit& size, int64_t overlap, const Filling& filling, std::vector<Group>& groups)
      : end_(end), size_(size), overlap_(overlap), filling_(filling), groups_(groups) {}

  void run(int64_t first) {
    int64_t before = first;  // the start of the previous group, including its overlap
    while (first < end_) {
      int64_t stop = first + 1;
      if (filling_.knows_borders()) {
        while (stop < end_ && !begins_run(filling_.borders->cohesion[static_cast<size_t>(stop)])) ++stop;
      } else {
        stop = end_;
      }
      if (filling_.knows_borders() && filling_.borders->cohesion[static_cast<size_t>(first)] == Cohesion::kWall)
        before = first;
      before = fill(before, first, stop, size_, &groups_);
      first = stop;
    }
  }

 private:
  bool begins_run(Cohesion cohesion) const {
    return cohesion == Cohesion::kWall || (filling_.sections && cohesion == Cohesion::kSection);
  }

  // Return how strongly a boundary separates parts. Nothing inside a document is stronger than the start of a section.
  int strength(size_t border) const {
    const Break found = filling_.borders->breaks[border];
    const bool section = filling_.borders->cohesion[border] == Cohesion::kSection && found < Break::kDocument;
    return section ? 2 * static_cast<int>(Break::kPage) + 1 : 2 * static_cast<int>(found);
  }

  // Fill the parts [first, stop), after a group that begins at `before`. Return the start of the last group, including
  // its overlap.
  int64_t fill(int64_t before, int64_t first, int64_t stop, const Limit& size, std::vector<Group>* out) {
    if (!filling_.even || size.limit <= 0) return filled(before, first, stop, size, out).begin;
    const Filled plain = filled(before, first, stop, size, nullptr);
    Limit even = size;
    even.limit = even_limit(before, first, stop, size, plain.groups);
    // The lower limit is used only if the longest group does not become longer. With `by_structure` it may: a lower
    // limit may choose a stronger boundary, and so make a longer group.
    const bool shorter = filled(before, first, stop, even, nullptr).longest <= plain.longest;
    return filled(before, first, stop, shorter ? even : size, out).begin;
  }
  // Return the lowest limit with which no more than `groups` groups are needed.
  int64_t even_limit(int64_t before, int64_t first, int64_t stop, Limit size, int64_t groups) const {
    int64_t high = size.limit;
    int64_t low = std::min(high, std::max(filling_.least, ((*size.lengths)(first, stop) + groups - 1) / groups));
    while (low < high) {
      size.limit = low + (high - low) / 2;
      if (filled(before, first, stop, size, nullptr).groups <= groups) {
        high = size.limit;
      } else {
        low = size.limit + 1;
      }
    }
    return high;
  }

  // The result of filling a section: the number of groups, the length of the longest one without its overlap, and the
  // start of the last one, including its overlap.
  struct Filled {
    int64_t groups = 0, longest = 0, begin = 0;
  };
  Filled filled(int64_t before, int64_t first, int64_t stop, const Limit& whole, std::vector<Group>* out) const {
    Filled made;
    made.begin = first;
    // `previous` is the start of the previous group.
    for (int64_t at = first, previous = before; at < stop; ++made.groups) {
      int64_t start = at;
      if (overlap_ > 0 && whole.allows(at, at + 1))
        while (start > previous + 1 && (*whole.lengths)(start - 1, at) <= overlap_ && whole.allows(start - 1, at + 1))
          --start;
      Limit size = whole;
      if (overlap_ > 0 && start == at && at > previous && filling_.tail && size.limit > 0) {
        const Limit less{size.lengths, size.limit - filling_.tail(at)};
        if (less.limit > 0 && less.allows(at, at + 1)) size = less;
      }
      int64_t last = at + 1;
      while (last < stop && size.allows(start, last + 1)) ++last;
      if (last < stop && filling_.knows_borders()) last = chosen(start, at, last, stop, size);
      if (out != nullptr) out->push_back(group(at, last));
      if (filling_.even) made.longest = std::max(made.longest, (*size.lengths)(at, last));
      previous = made.begin = start, at = last;
    }
    return made;
  }

  // Return the end of a group that begins at `at` and reaches at most `reach`.
  int64_t chosen(int64_t start, int64_t at, int64_t reach, int64_t stop, const Limit& size) const {
    const int64_t best = best_border(start, at, reach, size);
    if (best == 0) return reach;
    if (!filling_.is_scrap || !filling_.is_scrap(best, stop)) return best;
    int64_t before = best - 1;  // the last boundary that leaves no short remainder
    while (before > at && filling_.is_scrap(before, stop)) --before;
    const int64_t other = before > at ? best_border(start, at, before, size) : 0;
    // The earlier boundary, `other`, is better only if the group before it is no short chunk either, and if all text
    // after it fits into one chunk.
    return other > 0 && size.allows(other, stop) && !filling_.is_scrap(at, other) ? other : best;
  }

  // Choose among the boundaries after `at`, up to `reach`, that are not inside spans kept together. Return the last
  // one, or with `by_structure` the strongest one that leaves the group full enough; 0 if there is none.
  int64_t best_border(int64_t start, int64_t at, int64_t reach, const Limit& size) const {
    const Borders& borders = *filling_.borders;
    int64_t found = 0;
    for (int64_t b = reach; b > at; --b) {
      const auto border = static_cast<size_t>(b);
      if (is_closed(borders.cohesion[border])) continue;
      if (!filling_.by_structure) return b;
      if (found > 0 && (*size.lengths)(start, b) < size.limit - size.limit / filling_.full * (filling_.full - 1)) break;
      if (found == 0 || strength(border) > strength(static_cast<size_t>(found))) found = b;
    }
    return found;
  }

  int64_t end_;
  const Limit& size_;
  int64_t overlap_;
  const Filling& filling_;
  std::vector<Group>& groups_;
};

}  // namespace

void fill_groups(int64_t first, int64_t last, const Limit& size, int64_t overlap, const Filling& filling,
                 std::vector<Group>& groups) {
  Filler(last, size, overlap, filling, groups).run(first);
}

void move_cuts(const Borders& borders, Sections sections, std::vector<CutReason>& cuts) {
  CutReason carried = CutReason::kEnd;
  const auto pass = [&](size_t s, Cohesion direction) {
    const Cohesion cohesion = borders.cohesion[s];
    if (is_closed(cohesion)) {
      if (cuts[s] == CutReason::kEnd || cohesion != direction) return;
      carried = cuts[s], cuts[s] = CutReason::kEnd;
    } else if (carried != CutReason::kEnd) {
      if (cuts[s] == CutReason::kEnd) cuts[s] = carried;
      carried = CutReason::kEnd;
    }
  };
  for (size_t s = cuts.size(); s-- > 1;) pass(s, Cohesion::kLead);
  carried = CutReason::kEnd;
  for (size_t s = 1; s < cuts.size(); ++s) pass(s, Cohesion::kTrail);
  for (size_t s = 1; s < cuts.size(); ++s) {
    if (borders.cohesion[s] == Cohesion::kWall) {
      cuts[s] = CutReason::kRemoved;
    } else if (borders.cohesion[s] == Cohesion::kSection) {
      const bool by_size = sections != Sections::kIgnored && cuts[s] == CutReason::kSize;
      if (by_size || (sections == Sections::kCut && cuts[s] == CutReason::kEnd)) cuts[s] = CutReason::kHeading;
    }
  }
}

void join_short(std::vector<Group>& groups, const Joining& joining, std::span<const Limit> limits,
                const Affinities& affinities) {
  std::vector<Group> done;  // a stack of groups that cannot be joined any further
  const auto is_short = [&](const Group& g) { return joining.is_short(g.first, g.last); };
  const bool knows = joining.knows_borders();
  const auto is_section = [&](int32_t s) {
    return knows && begins_section(joining.borders->cohesion[static_cast<size_t>(s)]);
  };
  const auto may_cross = [&](int32_t s) {
    if (knows && joining.borders->cohesion[static_cast<size_t>(s)] == Cohesion::kWall) return false;
    return joining.across_sections || !is_section(s);
  };
  // Return whether the boundary before the group is the better one to join across, rather than the one after it.
  const auto before_is_better = [&](const Group& g) {
    if (is_section(g.first) != is_section(g.last)) return !is_section(g.first);
    const std::span<const float> a = affinities();
    if (!a.empty()) return a[g.first - 1] >= a[g.last - 1];
    return !knows || joining.borders->breaks[static_cast<size_t>(g.first)] <=
                         joining.borders->breaks[static_cast<size_t>(g.last)];
  };
  size_t next = 0;
  while (next < groups.size()) {
    Group current = groups[next++];
    for (;;) {
      // The previous group is short only if nothing fitted next to it. The current group has grown since, but may fit
      // now, because a word across a boundary can have fewer tokens than its parts.
      const bool short_here = is_short(current), short_before = !done.empty() && is_short(done.back());
      const bool before = !done.empty() && (short_here || short_before) && may_cross(current.first) &&
                          all_allow(limits, done.back().first, current.last);
      const bool after = short_here && next < groups.size() && may_cross(current.last) &&
                         all_allow(limits, current.first, groups[next].last);
      if (!before && !after) break;
      if (before && (!after || before_is_better(current))) {
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

void cut_long(std::vector<Group>& groups, const Limit& limit, const Affinities& affinities, const Filling& filling) {
  const auto too_long = [&](const Group& g) { return g.last - g.first > 1 && !limit.allows(g.first, g.last); };
  if (std::none_of(groups.begin(), groups.end(), too_long)) return;
  const std::span<const float> a = affinities();
  std::vector<Group> parts;
  for (const Group& g : groups) {
    if (!too_long(g)) {
      parts.push_back(g);
    } else if (!a.empty()) {
      BorderTree(g.first, g.last, a).cut(g.last, limit, filling, parts);
    } else {
      fill_groups(g.first, g.last, limit, 0, filling, parts);
    }
  }
  groups = std::move(parts);
}

void add_overlap(std::vector<Group>& groups, const Lengths& lengths, int64_t overlap, std::span<const Limit> limits,
                 std::span<const uint8_t> pieces, const Borders* borders, const TailOf& tail) {
  const auto is_wall = [&](int64_t s) {
    return borders != nullptr && borders->known() && borders->cohesion[static_cast<size_t>(s)] == Cohesion::kWall;
  };
  const auto is_piece = [&](int64_t s) { return !pieces.empty() && pieces[static_cast<size_t>(s)] != 0; };
  for (size_t g = 1; g < groups.size(); ++g) {
    Group& current = groups[g];
    const Group& before = groups[g - 1];
    if (is_piece(current.first) || !all_allow(limits, current.first, current.last)) continue;
    if (is_wall(current.first) || is_piece(current.first - 1)) continue;
    int32_t start = current.first;
    // An overlap never repeats the whole previous group.
    const int32_t least = before.overlap_first + (before.tail < 0 ? 1 : 0);
    while (start > least && !is_wall(start) && !is_piece(start - 1) && lengths(start - 1, current.first) <= overlap &&
           all_allow(limits, start - 1, current.last))
      --start;
    current.overlap_first = start;
    if (start == current.first) current.tail = tail(current);
  }
}

}  // namespace pychunk
