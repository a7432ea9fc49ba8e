#include "methods.h"

#include "cluster.h"
#include "hash.h"
#include "similarity.h"
#include "threshold.h"

namespace pychunk {
namespace {

// Groups that begin at sentence 0 and wherever begins(s) says so.
template <typename Begins>
void groups_where(int64_t sentences, Begins begins, std::vector<Group>& groups) {
  groups.clear();
  for (int64_t s = 0; s < sentences; ++s) {
    const auto at = static_cast<int32_t>(s);
    if (s == 0 || begins(s)) groups.push_back({at, at, at});
    groups.back().last = at + 1;
  }
}

void score_by_summary(const Plan& plan, Document& document, const float* summary, Grouping& out) {
  const Rows vectors = document.vectors();
  thread_local std::vector<float> made;
  if (summary == nullptr) {
    const uint64_t seed = hash128(document.text(), 0).low;
    summary_vector(plan.summary, vectors, document.all_flags(), seed, made);
    summary = made.data();
  }
  out.scores.resize(static_cast<size_t>(vectors.rows));
  cosines_to(vectors, summary, out.scores.data());
  label_by_mean(out.scores, plan.k, out.labels);
}

void pic(const Plan& plan, Document& document, const float* summary, Grouping& out) {
  if (const auto given = document.given_scores(); !given.empty()) {
    out.scores.assign(given.begin(), given.end());
    out.labels.assign(document.given_labels().begin(), document.given_labels().end());
  } else {
    score_by_summary(plan, document, summary, out);
  }
  const auto& labels = out.labels;
  groups_where(
      document.sentences(),
      [&](int64_t s) { return labels[static_cast<size_t>(s)] != labels[static_cast<size_t>(s - 1)]; }, out.groups);
}

void semantic(const Plan& plan, Document& document, std::vector<Group>& groups) {
  thread_local std::vector<float> windowed;
  thread_local std::vector<int8_t> cut;
  std::span<const float> scores;
  if (plan.window == 1) {
    scores = document.affinities();
  } else {
    adjacent_cosines(document.vectors(), plan.window, windowed);
    scores = windowed;
  }
  cut_below(scores, plan.threshold, plan.threshold_value, cut);
  groups_where(document.sentences(), [&](int64_t s) { return cut[static_cast<size_t>(s - 1)] != 0; }, groups);
}

void cluster(const Plan& plan, Document& document, std::vector<Group>& groups) {
  const std::vector<int64_t>& counts = document.token_counts();
  std::vector<int64_t> tokens_before{0};
  for (const int64_t count : counts) tokens_before.push_back(tokens_before.back() + count);
  std::vector<int32_t> first;
  optimal_partition(document.vectors(), tokens_before, plan.max_tokens, first);
  size_t next = 0;
  groups_where(
      document.sentences(),
      [&](int64_t s) {
        while (next < first.size() && first[next] < s) ++next;
        return next < first.size() && first[next] == s;
      },
      groups);
}

}  // namespace

void group_sentences(const Plan& plan, Document& document, const float* summary, Grouping& out) {
  const int64_t n = document.sentences();
  out.scores.clear(), out.labels.clear(), out.groups.clear();
  switch (plan.method) {
    case Method::kSentence:
      return groups_where(n, [](int64_t) { return true; }, out.groups);
    case Method::kParagraph:
      return groups_where(n, [&](int64_t s) { return (document.flags(s) & kParagraphStart) != 0; }, out.groups);
    case Method::kPage:
      return groups_where(
          n, [&](int64_t s) { return document.page_at(document.begin(s)) != document.page_at(document.begin(s - 1)); },
          out.groups);
    case Method::kFixed:
      return greedy_groups(n, {&document.lengths(plan.unit), plan.size}, plan.overlap, out.groups);
    case Method::kSemantic:
    case Method::kNsp:
      return semantic(plan, document, out.groups);
    case Method::kCluster:
      return cluster(plan, document, out.groups);
    case Method::kPic:
      return pic(plan, document, summary, out);
    case Method::kRecursive:
      fail("recursive does not group sentences");
  }
}

}  // namespace pychunk
