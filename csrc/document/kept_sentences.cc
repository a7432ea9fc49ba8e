#include "document/kept_sentences.h"

#include <algorithm>

#include "common/work_counters.h"
#include "document/document.h"

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

void Document::find_kept() {
  const KeptSentences& kept = *inputs_->kept;
  sentences_.starts.push_back(static_cast<int64_t>(text_.size()));
  kept_runs_ = equal_sentences(kept.starts, sentences_.starts, kept.spans);
  sentences_.starts.pop_back();
}

// Give the tokens and vectors to the call after the next edit. What this call did not need is not kept.
void Document::keep() {
  KeptSentences& kept = *inputs_->kept;
  kept.starts.clear();
  kept.spans = {{0, 0, static_cast<int64_t>(text_.size())}};  // for another call of the same text
  if (!has_tokens_ || inputs_->token_counts.size() > 0) return;
  kept.starts = sentences_.starts;
  kept.starts.push_back(static_cast<int64_t>(text_.size()));
  ids_.swap(kept.ids), token_offsets_.swap(kept.token_offsets), token_counts_.swap(kept.token_counts);
  if (!has_vectors_) kept.vectors = {};
  kept.affinities.clear();
  if (keeps_affinities_) kept.affinities.swap(affinities_);
}

void Document::tokenize_rest() {
  const KeptSentences& kept = *inputs_->kept;
  Values<int32_t> ids;
  std::vector<int64_t> offsets, counts;
  token_offsets_.assign(1, 0), token_counts_.clear();
  token_offsets_.reserve(starts().size() + 1), token_counts_.reserve(starts().size());
  // Append sentences [begin, end) of these arrays.
  const auto add = [&](const auto& own_ids, const auto& own_offsets, const auto& own_counts, int64_t begin,
                       int64_t end) {
    const int64_t shift = token_offsets_.back() - own_offsets[static_cast<size_t>(begin)];
    ids_.insert(ids_.end(), own_ids.begin() + own_offsets[static_cast<size_t>(begin)],
                own_ids.begin() + own_offsets[static_cast<size_t>(end)]);
    token_counts_.insert(token_counts_.end(), own_counts.begin() + begin, own_counts.begin() + end);
    for (int64_t s = begin + 1; s <= end; ++s) token_offsets_.push_back(own_offsets[static_cast<size_t>(s)] + shift);
  };
  size_t next = 0;
  const auto add_kept = [&](int64_t end) {
    for (; next < kept_runs_.size() && kept_runs_[next].to < end; ++next) {
      const RowRun& run = kept_runs_[next];
      add(kept.ids, kept.token_offsets, kept.token_counts, run.from, run.from + run.count);
    }
  };
  sentences_.starts.push_back(static_cast<int64_t>(text_.size()));
  for_each_gap(kept_runs_, static_cast<int64_t>(starts().size()) - 1, [&](int64_t begin, int64_t end) {
    add_kept(begin);
    const auto count = static_cast<size_t>(end - begin);
    encode_and_count(*inputs_->tokenizer, text_, sentences_.starts.data() + begin, count, ids, offsets, counts);
    work().tokenized += static_cast<uint64_t>(sentences_.starts[static_cast<size_t>(end)] - this->begin(begin));
    add(ids, offsets, counts, 0, end - begin);
  });
  sentences_.starts.pop_back();
  add_kept(sentences());
}

// Only the vectors of new pairs are made, and no vectors are kept: they are 1 kB for each sentence, which an edit would
// have to move.
void Document::find_other_affinities() {
  constexpr int64_t kPairs = 1024;  // at a time, to bound the memory of their vectors
  tokenize();
  KeptSentences& kept = *inputs_->kept;
  std::vector<RowRun> pairs;
  affinities_.resize(static_cast<size_t>(std::max<int64_t>(0, sentences() - 1)));
  if (kept.affinities.size() + 2 == kept.starts.size())
    for (const RowRun& run : kept_runs_) {
      if (run.count < 2) continue;
      pairs.push_back({run.from, run.to, run.count - 1});
      std::copy_n(kept.affinities.begin() + run.from, run.count - 1, affinities_.begin() + run.to);
    }
  std::vector<float> rows, found;
  for_each_gap(pairs, sentences() - 1, [&](int64_t begin, int64_t end) {
    for (int64_t stop; begin < end; begin = stop) {
      stop = std::min(end, begin + kPairs);
      const int64_t count = stop - begin + 1, cols = inputs_->table.cols;
      rows.resize(static_cast<size_t>(count * cols));
      make_rows(begin, stop + 1, rows.data());
      pair_affinities(Rows({rows.data(), count, cols}), found);
      std::copy(found.begin(), found.end(), affinities_.begin() + begin);
    }
  });
  keeps_affinities_ = true;
}

}  // namespace pychunk
