#include "methods/methods.h"

#include "common/hash.h"
#include "methods/cluster.h"
#include "methods/structure.h"
#include "methods/threshold.h"
#include "methods/topic_cut.h"
#include "text/utf8_text.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

// Builds groups that begin at sentence 0 and at each sentence for which begins(s) is true.
template <typename Begins>
void groups_where(int64_t sentences, Begins begins, std::vector<Group>& groups) {
  // Nothing is decided by a branch, because nobody can predict where chunks begin: with vectors of 8 dimensions that
  // took a fifth of the time.
  const auto n = static_cast<size_t>(sentences);
  groups.resize(n);
  size_t made = std::min<size_t>(n, 1);
  if (n > 0) groups[0] = {0, 0, 0};
  for (size_t s = 1; s < n; ++s) {
    const auto at = static_cast<int32_t>(s);
    groups[made] = {at, at, at};
    made += begins(static_cast<int64_t>(s)) ? 1 : 0;
  }
  groups.resize(made);
  for (size_t g = 0; g < made; ++g) groups[g].last = g + 1 < made ? groups[g + 1].first : static_cast<int32_t>(n);
}

void sentence(const Plan&, Document& document, Grouping& out) {
  groups_where(document.sentences(), [](int64_t) { return true; }, out.groups);
}

void paragraph(const Plan&, Document& document, Grouping& out) {
  groups_where(document.sentences(), [&](int64_t s) { return (document.flags(s) & kParagraphStart) != 0; }, out.groups);
}

void page(const Plan&, Document& document, Grouping& out) {
  groups_where(
      document.sentences(),
      [&](int64_t s) { return document.page_at(document.begin(s)) != document.page_at(document.begin(s - 1)); },
      out.groups);
}

// Fills chunks up to a size. It takes the kinds of boundaries into account if spans are kept together, or if
// `by_structure` is set.
void filled(const Plan& plan, Document& document, bool by_structure, Grouping& out) {
  Filling filling{.by_structure = by_structure, .even = plan.balance, .sections = false};
  if (plan.keep_together || by_structure) filling.borders = &document.borders();
  // After each group of a section, this checks whether the rest of the section is too short. The rest always has the
  // same end, so its end without white space is computed only once.
  int64_t last = -1, end = 0;
  if (plan.min_characters > 0)
    filling.is_scrap = [&](int64_t i, int64_t j) {
      if (j != last) last = j, end = trim_end(document.text(), document.begin(j - 1), document.end(j - 1));
      return document.is_shorter(document.begin(i), end, plan.min_characters);
    };
  filling.tail = [&](int64_t s) { return document.tail(s - 1, plan.unit, plan.overlap).length; };
  fill_groups(0, document.sentences(), {&document.lengths(plan.unit), plan.size}, plan.overlap, filling, out.groups);
}

void fixed(const Plan& plan, Document& document, Grouping& out) { filled(plan, document, false, out); }

void recursive(const Plan& plan, Document& document, Grouping& out) { filled(plan, document, true, out); }

// Groups maximal runs of sentences with the same label.
void pic(const Plan& plan, Document& document, Grouping& out) {
  const Rows vectors = document.vectors();
  const float* summary = document.given_summary();
  thread_local std::vector<float> made;
  thread_local std::vector<int32_t> took;
  took.clear();
  if (summary == nullptr) {
    const uint64_t seed = is_drawn(plan.summary) ? hash128(document.text(), 0).low : 0;
    summary_vector(plan.summary, vectors, document.all_flags(), seed, made, took);
    summary = made.data();
  }
  if (plan.summaries_out) {
    out.summary.assign(summary, summary + vectors.cols);
    out.summary_sentences = took;
  }
  out.scores.resize(static_cast<size_t>(vectors.rows));
  cosines_to(vectors, summary, out.scores.data());
  label_by_mean(out.scores, plan.k, out.labels);
  const auto& labels = out.labels;
  groups_where(
      document.sentences(),
      [&](int64_t s) { return labels[static_cast<size_t>(s)] != labels[static_cast<size_t>(s - 1)]; }, out.groups);
}

// Serves nsp, too; the affinities are then probabilities.
void semantic(const Plan& plan, Document& document, Grouping& out) {
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
  groups_where(document.sentences(), [&](int64_t s) { return cut[static_cast<size_t>(s - 1)] != 0; }, out.groups);
}

// Builds groups that begin at the increasing sentences `first`.
void groups_from(int64_t sentences, std::span<const int32_t> first, std::vector<Group>& groups) {
  size_t next = 0;
  groups_where(
      sentences,
      [&](int64_t s) {
        while (next < first.size() && first[next] < s) ++next;
        return next < first.size() && first[next] == s;
      },
      groups);
}

void cluster(const Plan&, Document& document, Grouping& out) {
  std::vector<int64_t> before{0};
  for (const int64_t length : document.limited_lengths()) before.push_back(before.back() + length);
  std::vector<int32_t> first;
  optimal_partition(document.vectors(), before, document.limits().most, first);
  groups_from(document.sentences(), first, out.groups);
}

void topic(const Plan& plan, Document& document, Grouping& out) {
  std::vector<int32_t> first;
  const std::span<const float> affinities = document.affinities();
  const LengthLimits limits = document.limits();
  cut_within(affinities, plan.threshold_value, document.limited_lengths(), limits.least, limits.most, first);
  groups_from(document.sentences(), first, out.groups);
}

void given(const Plan&, Document&, Grouping&) { fail("method 'given' needs cuts="); }

constexpr Method structure_by(bool vectors, bool pairs, bool topics) {
  return {.name = "structure",
          .group = group_by_structure,
          .vectors = vectors,
          .pairs = pairs,
          .topics = topics,
          .reason = CutReason::kSize,
          .sized = true,
          .outline = true};
}
// The entries are in the order of Within.
constexpr Method kStructures[] = {structure_by(false, false, false), structure_by(true, false, true),
                                  structure_by(true, false, false), structure_by(false, true, false)};

constexpr Method kMethods[] = {
    {.name = "sentence", .group = sentence, .reason = CutReason::kSentence},
    {.name = "paragraph", .group = paragraph, .reason = CutReason::kParagraph},
    {.name = "page", .group = page, .reason = CutReason::kPage, .pages = true},
    {.name = "fixed", .group = fixed, .reason = CutReason::kSize, .sized = true},
    {.name = "recursive", .group = recursive, .reason = CutReason::kSize, .sized = true},
    kStructures[0],
    {.name = "semantic", .group = semantic, .vectors = true, .scores = Scores::kPairs},
    {.name = "cluster", .group = cluster, .tokens = true, .vectors = true},
    {.name = "pic", .group = pic, .vectors = true, .summaries = true, .scores = Scores::kSentences},
    {.name = "precomputed", .group = given, .cuts = true, .reason = CutReason::kGiven},
    {.name = "nsp", .group = semantic, .pairs = true, .scores = Scores::kPairs},
    {.name = "topic", .group = topic, .tokens = true, .vectors = true, .topics = true, .scores = Scores::kPairs},
};

// Takes groups, labels and scores that the caller computed and has checked.
void take(const GivenCuts& cuts, int64_t row, Document& document, Grouping& out) {
  const std::span<const int32_t> first = cuts.first[row];
  for (size_t g = 0; g < first.size(); ++g) {
    const auto end = static_cast<int32_t>(document.sentences());
    const int32_t last = g + 1 < first.size() ? first[g + 1] : end;
    out.groups.push_back({first[g], last, first[g]});
    const size_t at = static_cast<size_t>(cuts.first.offsets[row]) + g;
    if (!cuts.reason.empty()) out.reasons.push_back(static_cast<CutReason>(cuts.reason[at]));
    if (!cuts.relevance.empty()) out.labels.resize(static_cast<size_t>(last), cuts.relevance[at]);
  }
  if (cuts.score.size() > 0 && !cuts.pairs) out.scores.assign(cuts.score[row].begin(), cuts.score[row].end());
}

}  // namespace

std::span<const Method> methods() { return kMethods; }

const Method* method_named(std::string_view name, Within within) {
  if (name == kStructures[0].name) return &kStructures[static_cast<size_t>(within)];
  for (const Method& method : kMethods)
    if (method.name == name) return &method;
  fail("unknown method '", name, "'");
}

void group_sentences(const Inputs& inputs, Document& document, Grouping& out) {
  out.scores.clear(), out.labels.clear(), out.groups.clear(), out.reasons.clear();
  out.outline.clear();
  out.summary.clear(), out.summary_sentences.clear();
  if (inputs.cuts.given()) return take(inputs.cuts, document.row(), document, out);
  inputs.plan->method->group(*inputs.plan, document, out);
}

}  // namespace pychunk
