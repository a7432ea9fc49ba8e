#include "vectors/level_spans.h"

#include <algorithm>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

// The number of sentences in one turn of a worker, which takes whole documents.
constexpr int64_t kTurnSentences = 512;

void span_vector(const Matrix<const float>& vectors, std::span<const int64_t> weights, int64_t first, int64_t last,
                 float* out) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(vectors.cols);
  std::fill_n(out, dim, 0.0f);
  bool weighs = false;
  for (int64_t s = first; s < last && !weighs; ++s) weighs = weights[static_cast<size_t>(s)] > 0;
  for (int64_t s = first; s < last; ++s) {
    checkpoint_each(s, 4096);
    run.add_scaled(vectors.row(s), dim, weighs ? static_cast<float>(weights[static_cast<size_t>(s)]) : 1.0f, out);
  }
  normalize(out, vectors.cols);
}

}  // namespace

std::vector<size_t> document_turns(std::span<const int64_t> doc_offsets) {
  std::vector<size_t> turns{0};
  for (size_t i = 1; i < doc_offsets.size(); ++i)
    if (i + 1 == doc_offsets.size() || doc_offsets[i] - doc_offsets[turns.back()] >= kTurnSentences) turns.push_back(i);
  return turns;
}

std::vector<Buffer<float>> span_vectors(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                        std::span<const int64_t> doc_offsets, const std::vector<Spans>& levels,
                                        int threads) {
  std::vector<Buffer<float>> out;
  for (const Spans& level : levels) out.emplace_back(static_cast<int64_t>(level.first.size()) * vectors.cols);
  const std::vector<size_t> turns = document_turns(doc_offsets);
  parallel_for(static_cast<int64_t>(turns.size()) - 1, threads, [&](int64_t turn) {
    const size_t begin = turns[static_cast<size_t>(turn)], end = turns[static_cast<size_t>(turn) + 1];
    std::vector<size_t> next;
    for (const Spans& level : levels) {
      const auto at = std::lower_bound(level.first.begin(), level.first.end(), doc_offsets[begin]);
      next.push_back(static_cast<size_t>(at - level.first.begin()));
    }
    for (size_t i = begin; i < end; ++i) {
      for (size_t l = 0; l < levels.size(); ++l) {
        const Spans& level = levels[l];
        for (size_t& node = next[l]; node < level.first.size() && level.first[node] < doc_offsets[i + 1]; ++node) {
          float* to = out[l].data + static_cast<int64_t>(node) * vectors.cols;
          span_vector(vectors, weights, level.first[node], level.last[node], to);
        }
      }
    }
  });
  return out;
}

std::vector<std::vector<int64_t>> token_windows(std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                                const std::vector<int64_t>& sizes) {
  std::vector<std::vector<int64_t>> out;
  std::vector<int64_t> units(tokens.size()), borders;
  for (size_t s = 0; s < units.size(); ++s) units[s] = static_cast<int64_t>(s);
  for (const int64_t size : sizes) {
    borders.clear();
    size_t document = 0;
    int64_t held = 0;
    for (size_t u = 0; u < units.size(); ++u) {
      checkpoint_each(static_cast<int64_t>(u), 65536);
      const int64_t end = u + 1 < units.size() ? units[u + 1] : static_cast<int64_t>(tokens.size());
      int64_t own = 0;
      for (int64_t s = units[u]; s < end; ++s) own += tokens[static_cast<size_t>(s)];
      bool begins = u == 0;
      while (doc_offsets[document + 1] <= units[u]) ++document, begins = true;
      if (begins || held + own > size) {
        borders.push_back(units[u]);
        held = 0;
      }
      held += own;
    }
    units = borders;
    out.push_back(borders);
  }
  return out;
}

}  // namespace pychunk
