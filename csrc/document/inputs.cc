#include "document/inputs.h"

namespace pychunk {

namespace {

// Return whether vectors are needed, by the method or for the chunk table.
bool wants_vectors(const Plan& plan) { return plan.method->vectors || plan.chunk_vectors || plan.sentence_vectors; }

bool needs_tokens(const Plan& plan) {
  const Method& method = *plan.method;
  const bool in_tokens = plan.unit == Unit::kTokens;
  return plan.max_tokens > 0 || plan.min_tokens > 0 || plan.chunk_vectors || method.tokens ||
         (method.sized && in_tokens) || (plan.overlap > 0 && (!method.sized || in_tokens));
}

}  // namespace

BlockSpans GivenLayout::blocks_of(int64_t i) const {
  if (block_offsets.empty()) return {};
  const auto at = static_cast<size_t>(block_offsets[i]), count = static_cast<size_t>(block_offsets[i + 1]) - at;
  return {blocks.kind.subspan(at, count), blocks.level.subspan(at, count), blocks.start.subspan(at, count),
          blocks.end.subspan(at, count), blocks.markup.empty() ? blocks.markup : blocks.markup.subspan(at, count)};
}

RemovedSpans GivenLayout::removed_of(int64_t i) const {
  if (removed_offsets.empty()) return {};
  const auto at = static_cast<size_t>(removed_offsets[i]), count = static_cast<size_t>(removed_offsets[i + 1]) - at;
  return {removed.start.subspan(at, count), removed.end.subspan(at, count)};
}

bool Inputs::counts_tokens() const {
  // The static encoder needs the tokens to compute vectors, so their counts take no further work.
  const bool encodes = wants_vectors(*plan) && (table.data != nullptr || !vectors.given());
  return encodes || needs_tokens(*plan);
}

bool Inputs::counts_pages() const { return plan->method->pages || page_starts.size() > 0; }

bool Inputs::needs_vectors() const {
  if (plan->chunk_vectors || plan->sentence_vectors) return true;
  if (!plan->method->vectors || cuts.given()) return false;
  // With a window of 1, `semantic` needs only the adjacent cosines, and no vectors if the caller passed these cosines.
  return !(plan->method->scores == Scores::kPairs && plan->window == 1 && pair_scores.size() > 0);
}

Scores Inputs::scores() const {
  if (!cuts.given()) return plan->method->scores;
  if (cuts.score.size() == 0) return Scores::kNone;
  return cuts.pairs ? Scores::kPairs : Scores::kSentences;
}

}  // namespace pychunk
