#include "vectors/similarity_tree.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"

namespace pychunk {
namespace {

// Two adjacent nodes, with their ages at the time of their comparison. If a node has another age now, it was joined
// since, and the comparison is out of date.
struct Neighbours {
  double cosine;
  int64_t left, right;
  int64_t left_age, right_age;
};
struct IsWorse {
  bool operator()(const Neighbours& a, const Neighbours& b) const {
    return a.cosine != b.cosine ? a.cosine < b.cosine : a.left > b.left;
  }
};

// The builder of the tree of one document.
class Agglomerator {
 public:
  Agglomerator(const Matrix<const float>& vectors, std::span<const int64_t> weights, int64_t branching)
      : vectors_(vectors), weights_(weights), dim_(static_cast<size_t>(vectors.cols)), branching_(branching) {}

  // Builds the levels above the nodes [first[i], first[i + 1]), of which the last one ends at `end`.
  std::vector<std::vector<int64_t>> run(std::span<const int64_t> first, int64_t end) {
    first_.assign(first.begin(), first.end());
    sums_.assign(first_.size() * dim_, 0.0f);
    squares_.resize(first_.size());
    for (size_t i = 0; i < first_.size(); ++i) sum(i, i + 1 < first_.size() ? first_[i + 1] : end);
    std::vector<std::vector<int64_t>> levels;
    while (first_.size() > 1) {
      join();
      levels.push_back(first_);
    }
    return levels;
  }

 private:
  float* row(int64_t i) { return sums_.data() + static_cast<size_t>(i) * dim_; }

  void sum(size_t i, int64_t last) {
    float* const out = row(static_cast<int64_t>(i));
    bool weighs = false;
    for (int64_t s = first_[i]; s < last; ++s) weighs = weighs || weights_[static_cast<size_t>(s)] > 0;
    for (int64_t s = first_[i]; s < last; ++s) {
      checkpoint_each(s, 4096);
      const auto weight = weighs ? static_cast<float>(weights_[static_cast<size_t>(s)]) : 1.0f;
      kernels().add_scaled(vectors_.row(s), dim_, weight, out);
    }
    squares_[i] = kernels().dot(out, out, dim_);
  }

  void compare(int64_t left, int64_t right) {
    const auto l = static_cast<size_t>(left), r = static_cast<size_t>(right);
    if (held_[l] + held_[r] > branching_) return;
    const double lengths = std::sqrt(static_cast<double>(squares_[l]) * static_cast<double>(squares_[r]));
    const double product = kernels().dot(row(left), row(right), dim_);
    heap_.push({lengths > 0.0 ? product / lengths : 0.0, left, right, age_[l], age_[r]});
  }

  // Builds the next level.
  void join() {
    const auto count = static_cast<int64_t>(first_.size());
    const int64_t wanted = (count + branching_ - 1) / branching_;
    held_.assign(first_.size(), 1), age_.assign(first_.size(), 0);
    before_.resize(first_.size()), after_.resize(first_.size());
    for (int64_t i = 0; i < count; ++i) {
      before_[static_cast<size_t>(i)] = i - 1;
      after_[static_cast<size_t>(i)] = i + 1 < count ? i + 1 : -1;
    }
    heap_ = {};
    if (count > branching_)
      for (int64_t i = 0; i + 1 < count; ++i) compare(i, i + 1);
    int64_t left = count;
    while (count > branching_ && left > wanted && !heap_.empty()) {
      const Neighbours best = heap_.top();
      heap_.pop();
      if (age_[static_cast<size_t>(best.left)] != best.left_age ||
          age_[static_cast<size_t>(best.right)] != best.right_age)
        continue;
      checkpoint_each(left, 1024);
      merge(best.left, best.right);
      --left;
    }
    if (count <= branching_)
      for (int64_t i = 1; i < count; ++i) merge(0, i);
    keep();
  }

  void merge(int64_t left, int64_t right) {
    const auto l = static_cast<size_t>(left), r = static_cast<size_t>(right);
    kernels().add_scaled(row(right), dim_, 1.0f, row(left));
    squares_[l] = kernels().dot(row(left), row(left), dim_);
    held_[l] += held_[r], held_[r] = 0;
    ++age_[l], ++age_[r];
    after_[l] = after_[r];
    if (after_[l] >= 0) {
      before_[static_cast<size_t>(after_[l])] = left;
      compare(left, after_[l]);
    }
    if (before_[l] >= 0) compare(before_[l], left);
  }

  // Moves the nodes that remain after joining to the front, without gaps.
  void keep() {
    size_t to = 0;
    for (size_t i = 0; i < first_.size(); ++i) {
      if (held_[i] == 0) continue;
      first_[to] = first_[i], squares_[to] = squares_[i];
      if (to != i) std::copy_n(row(static_cast<int64_t>(i)), dim_, row(static_cast<int64_t>(to)));
      ++to;
    }
    first_.resize(to), squares_.resize(to);
  }

  const Matrix<const float>& vectors_;
  std::span<const int64_t> weights_;
  size_t dim_;
  int64_t branching_;
  std::vector<int64_t> first_, held_, age_, before_, after_;
  std::vector<float> sums_, squares_;
  std::priority_queue<Neighbours, std::vector<Neighbours>, IsWorse> heap_;
};

}  // namespace

std::vector<std::vector<int64_t>> agglomerate(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                              std::span<const int64_t> doc_offsets, std::span<const int64_t> first,
                                              int64_t branching, int threads) {
  const size_t documents = doc_offsets.size() - 1;
  const std::span<const int64_t> nodes = first.first(first.size() - 1);
  std::vector<std::vector<std::vector<int64_t>>> trees(documents);
  parallel_for(static_cast<int64_t>(documents), threads, [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    const auto begin = std::lower_bound(nodes.begin(), nodes.end(), doc_offsets[at]);
    const auto end = std::lower_bound(begin, nodes.end(), doc_offsets[at + 1]);
    Agglomerator maker(vectors, weights, branching);
    trees[at] = maker.run({begin, end}, doc_offsets[at + 1]);
  });
  size_t depth = 0;
  for (const auto& tree : trees) depth = std::max(depth, tree.size());
  std::vector<std::vector<int64_t>> levels(depth);
  for (size_t i = 0; i < documents; ++i) {
    if (doc_offsets[i] == doc_offsets[i + 1]) continue;
    for (size_t l = 0; l < depth; ++l) {
      if (l < trees[i].size()) {
        levels[l].insert(levels[l].end(), trees[i][l].begin(), trees[i][l].end());
      } else {
        levels[l].push_back(doc_offsets[i]);
      }
    }
  }
  return levels;
}

}  // namespace pychunk
