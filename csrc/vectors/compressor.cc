#include "vectors/compressor.h"

#include <algorithm>

#include "common/deterministic_math.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

float quarter_log(int64_t n) { return log_length(n) * 0.25f; }

// The values of a turn's sentences that are the same for all nodes: the products with each head's query, and the
// logarithmic lengths.
struct AskedSentences {
  int64_t first = 0, count = 0;
  std::vector<float> products;  // [heads, sentences]
  std::vector<float> lengths;   // [sentences]
};

void ask_sentences(const Compressor& model, const Matrix<const float>& vectors, std::span<const int64_t> tokens,
                   int64_t first, int64_t last, AskedSentences& out) {
  const auto heads = static_cast<size_t>(model.queries.rows), dim = static_cast<size_t>(vectors.cols);
  const auto count = static_cast<size_t>(last - first);
  out.first = first, out.count = last - first;
  out.products.resize(count * heads);
  out.lengths.resize(count);
  std::vector<float> own(heads);
  for (size_t i = 0; i < count; ++i) {
    const int64_t s = first + static_cast<int64_t>(i);
    checkpoint_each(s, 4096);
    kernels().dot_rows(model.queries.data, heads, dim, vectors.row(s), own.data());
    for (size_t h = 0; h < heads; ++h) out.products[h * count + i] = own[h];
    out.lengths[i] = quarter_log(tokens[static_cast<size_t>(s)]);
  }
}

struct AttentionScratch {
  std::vector<float> place, near, scores, weights;
};

// Writes the weights of the sentences [first, last) to scratch.weights. Its loops are short enough to be vectorized.
void attention(const Compressor& model, const AskedSentences& asked, int64_t first, int64_t last,
               AttentionScratch& scratch) {
  const auto heads = static_cast<size_t>(model.queries.rows), count = static_cast<size_t>(last - first);
  const auto before = static_cast<size_t>(first - asked.first), all = static_cast<size_t>(asked.count);
  const float size = quarter_log(last - first), sentences = static_cast<float>(count);
  auto& [place, near, scores, weights] = scratch;
  place.resize(count), near.resize(count), scores.resize(count);
  weights.assign(count, 0.0f);
  for (size_t i = 0; i < count; ++i) {
    const auto number = static_cast<float>(static_cast<int32_t>(i));
    place[i] = number / sentences;
    near[i] = 1.0f / (1.0f + number);
  }
  const float* length = asked.lengths.data() + before;
  for (size_t h = 0; h < heads; ++h) {
    checkpoint();
    float own[kPlaceFeatures];
    for (int64_t f = 0; f < kPlaceFeatures; ++f)
      own[f] = model.places.row(f)[h] + size * model.places.row(kPlaceFeatures + f)[h];
    const float* product = asked.products.data() + h * all + before;
    for (size_t i = 0; i < count; ++i) {
      const float told = (own[0] * length[i] + own[1] * (length[i] * length[i])) +
                         (own[2] * place[i] + own[3] * (place[i] * place[i])) + own[4] * near[i];
      scores[i] = product[i] + told;
    }
    const float highest = *std::max_element(scores.begin(), scores.end());
    for (float& score : scores) score -= highest;
    kernels().exponentials(scores.data(), count);
    float sum = 0.0f;
    for (const float score : scores) sum += score;
    const float share = model.mix[h] / sum;
    for (size_t i = 0; i < count; ++i) weights[i] += share * scores[i];
  }
}

// Computes y = m + bias + size bias' + (m down) up for rows of unit length, in place. `hidden` is scratch memory.
void map_rows(const Compressor& model, std::span<const int64_t> first, std::span<const int64_t> last, float* rows,
              std::vector<float>& hidden) {
  const auto dim = static_cast<size_t>(model.queries.cols), rank = static_cast<size_t>(model.up.rows);
  hidden.assign(first.size() * rank, 0.0f);
  kernels().add_products(rows, first.size(), dim, dim, model.down.data, rank, hidden.data());
  for (size_t i = 0; i < first.size(); ++i) {
    float* row = rows + i * dim;
    if (std::all_of(row, row + dim, [](float x) { return x == 0.0f; })) continue;
    const float size = quarter_log(last[i] - first[i]);
    for (size_t c = 0; c < dim; ++c) row[c] += model.bias.row(0)[c] + size * model.bias.row(1)[c];
  }
  kernels().add_products(hidden.data(), first.size(), rank, rank, model.up.data, dim, rows);
  for (size_t i = 0; i < first.size(); ++i) normalize(rows + i * dim, static_cast<int64_t>(dim));
}

}  // namespace

std::vector<Buffer<float>> compressed_vectors(const Compressor& model, const Matrix<const float>& vectors,
                                              std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                              const std::vector<Spans>& levels, int threads) {
  const auto dim = static_cast<size_t>(vectors.cols);
  std::vector<Buffer<float>> out;
  for (const Spans& level : levels) out.emplace_back(static_cast<int64_t>(level.first.size()) * vectors.cols);
  const std::vector<size_t> turns = document_turns(doc_offsets);
  parallel_for(static_cast<int64_t>(turns.size()) - 1, threads, [&](int64_t turn) {
    const int64_t begin = doc_offsets[turns[static_cast<size_t>(turn)]];
    const int64_t end = doc_offsets[turns[static_cast<size_t>(turn) + 1]];
    AskedSentences asked;
    AttentionScratch scratch;
    std::vector<float> hidden;
    ask_sentences(model, vectors, tokens, begin, end, asked);
    for (size_t l = 0; l < levels.size(); ++l) {
      const auto& first = levels[l].first;
      const auto from = static_cast<size_t>(std::lower_bound(first.begin(), first.end(), begin) - first.begin());
      const auto to = static_cast<size_t>(std::lower_bound(first.begin(), first.end(), end) - first.begin());
      float* rows = out[l].data + from * dim;
      for (size_t node = from; node < to; ++node) {
        float* row = rows + (node - from) * dim;
        std::fill_n(row, dim, 0.0f);
        attention(model, asked, first[node], levels[l].last[node], scratch);
        for (int64_t s = first[node]; s < levels[l].last[node]; ++s) {
          checkpoint_each(s, 4096);
          kernels().add_scaled(vectors.row(s), dim, scratch.weights[static_cast<size_t>(s - first[node])], row);
        }
        normalize(row, vectors.cols);
      }
      map_rows(model, first.subspan(from, to - from), levels[l].last.subspan(from, to - from), rows, hidden);
    }
  });
  return out;
}

}  // namespace pychunk
