#include "methods/topic_cut.h"

#include <algorithm>

#include "common/arithmetic.h"
#include "common/buffer.h"
#include "common/interrupt.h"

namespace pychunk {
namespace {

// The value of a partition: fewer short chunks come first, then a larger sum.
struct Worth {
  int64_t short_chunks = 0, sum = 0;
  bool operator>(const Worth& other) const {
    return short_chunks != other.short_chunks ? short_chunks < other.short_chunks : sum > other.sum;
  }
};

// The best index in a sliding window of increasing indices, or the first of equally good ones. worth[i] is the value of
// index i.
class WindowBest {
 public:
  explicit WindowBest(const std::vector<Worth>& worth) : worth_(worth) {}
  void add(int32_t i) {
    while (begin_ < kept_.size() && worth_[static_cast<size_t>(i)] > worth_[static_cast<size_t>(kept_.back())])
      kept_.pop_back();
    kept_.push_back(i);
  }
  void drop_below(int32_t i) {
    while (begin_ < kept_.size() && kept_[begin_] < i) ++begin_;
  }
  bool empty() const { return begin_ == kept_.size(); }
  int32_t best() const { return kept_[begin_]; }

 private:
  const std::vector<Worth>& worth_;
  std::vector<int32_t> kept_;
  size_t begin_ = 0;
};

}  // namespace

void cut_within(std::span<const float> affinities, double threshold, std::span<const int64_t> tokens, int64_t least,
                int64_t most, std::vector<int32_t>& first) {
  first.clear();
  const size_t n = tokens.size();
  if (n == 0) return;
  const auto limit = static_cast<int64_t>(std::nearbyint(threshold / kFixedPointUnit));
  std::vector<int64_t> before(n + 1, 0);
  for (size_t s = 0; s < n; ++s) before[s + 1] = before[s] + tokens[s];
  // opened[s] is the value of the best partition of the sentences before s, including the cut at s.
  std::vector<Worth> opened(n);
  std::vector<int32_t> from(n + 1, 0);
  WindowBest enough(opened), few(opened);  // the i for which chunk [i, j) has at least `least` tokens, or fewer
  int32_t longest = 0, next = 0;           // the first i that `most` allows; the first i that is not in `enough`
  Worth best;
  for (size_t j = 1; j <= n; ++j) {
    checkpoint_each(static_cast<int64_t>(j), 1024);
    const auto own = static_cast<int32_t>(j - 1);
    if (own > 0) opened[j - 1] = {best.short_chunks, best.sum + limit - fixed_point(affinities[j - 2])};
    few.add(own);
    if (most > 0)
      while (longest < own && before[j] - before[static_cast<size_t>(longest)] > most) ++longest;
    for (; next <= own && before[j] - before[static_cast<size_t>(next)] >= least; ++next) enough.add(next);
    enough.drop_below(longest);
    few.drop_below(std::max(longest, next));
    Worth whole, short_one;
    if (!enough.empty()) whole = opened[static_cast<size_t>(enough.best())];
    if (!few.empty()) {
      short_one = opened[static_cast<size_t>(few.best())];
      ++short_one.short_chunks;
    }
    const bool is_short = enough.empty() || (!few.empty() && short_one > whole);
    best = is_short ? short_one : whole;
    from[j] = is_short ? few.best() : enough.best();
  }
  for (auto j = static_cast<int64_t>(n); j > 0; j = from[static_cast<size_t>(j)])
    first.push_back(from[static_cast<size_t>(j)]);
  std::reverse(first.begin(), first.end());
}

}  // namespace pychunk
