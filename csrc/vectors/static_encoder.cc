#include "vectors/static_encoder.h"

#include <algorithm>
#include <vector>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "common/work_counters.h"
#include "common/work_split.h"
#include "text/sentence_splitter.h"
#include "tokens/length.h"
#include "vectors/similarity.h"

namespace pychunk {

void embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids, std::span<const int64_t> offsets,
                    float* out) {
  thread_local std::vector<int32_t> sums;
  const auto dim = static_cast<size_t>(table.cols);
  const Kernels& run = kernels();
  sums.resize(dim);
  int32_t* const sum = sums.data();
  for (size_t i = 0; i + 1 < offsets.size(); ++i, out += dim) {
    checkpoint_each(static_cast<int64_t>(i), 1024);
    const auto from = static_cast<size_t>(offsets[i]), to = static_cast<size_t>(offsets[i + 1]);
    run.unit_bag(table.data, dim, ids.data() + from, to - from, ids.size() - from, sum, out);
  }
}

void encode_static(std::string_view text, const WordPiece& tokenizer, const Matrix<const int8_t>& table, float* out) {
  thread_local Values<int32_t> ids;
  thread_local std::vector<int64_t> offsets;
  const int64_t bounds[] = {0, static_cast<int64_t>(text.size())};
  ids.clear(), offsets.clear();
  tokenizer.encode(text, bounds, 1, ids, offsets, nullptr);
  embedding_bags(table, ids, offsets, out);
  forget_if_huge(ids);
}

Buffer<float> embedding_bags(const Matrix<const int8_t>& table, std::span<const int32_t> ids,
                             std::span<const int64_t> offsets, int threads) {
  constexpr size_t kRuns = 1024;  // runs in one turn of a worker
  const size_t runs = offsets.size() - 1;
  Buffer<float> out(static_cast<int64_t>(runs) * table.cols);
  parallel_for(static_cast<int64_t>((runs + kRuns - 1) / kRuns), threads, [&](int64_t turn) {
    const size_t first = static_cast<size_t>(turn) * kRuns, count = std::min(kRuns, runs - first);
    embedding_bags(table, ids, offsets.subspan(first, count + 1), &out[static_cast<int64_t>(first) * table.cols]);
  });
  return out;
}

Buffer<float> weighted_bags(const Matrix<const int16_t>& table, std::span<const int32_t> rows,
                            std::span<const float> weights, std::span<const int64_t> offsets, int threads) {
  // A row costs the read of 512 bytes for 256 dimensions, mostly from the third-level cache. The next rows are
  // prefetched, because their order is not the memory's. One core encoded 95 MB/s of Wikipedia in sentences, 71 with
  // rows of 8 bits and 39 with floats, each in a run of its own on a busy machine. 8 bits also lost too much of rows
  // with a few large numbers (cosine 0.99989).
  constexpr size_t kRuns = 1024, kAhead = 8;
  constexpr int64_t kLineValues = 32;
  const size_t runs = offsets.size() - 1, dim = static_cast<size_t>(table.cols);
  Buffer<float> out(static_cast<int64_t>(runs) * table.cols);
  parallel_for(static_cast<int64_t>((runs + kRuns - 1) / kRuns), threads, [&](int64_t turn) {
    const size_t first = static_cast<size_t>(turn) * kRuns, last = std::min(first + kRuns, runs);
    const Kernels& run = kernels();
    checkpoint();
    for (size_t i = first; i < last; ++i) {
      float* const sum = &out[static_cast<int64_t>(i) * table.cols];
      std::fill_n(sum, dim, 0.0f);
      for (auto t = static_cast<size_t>(offsets[i]), end = static_cast<size_t>(offsets[i + 1]); t < end; ++t) {
        if (t + kAhead < rows.size())
          for (int64_t c = 0; c < table.cols; c += kLineValues) __builtin_prefetch(table.row(rows[t + kAhead]) + c);
        run.add_scaled_shorts(table.row(rows[t]), dim, weights[t], sum);
      }
      normalize(sum, table.cols);
    }
  });
  return out;
}

Buffer<float> encode_static(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                            int threads) {
  Buffer<float> out(texts.size() * table.cols);
  const std::vector<int64_t> borders = plan_blocks(texts);
  parallel_for(static_cast<int64_t>(borders.size()) - 1, threads, [&](int64_t b) {
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i)
      encode_static(texts[i], tokenizer, table, &out[i * table.cols]);
  });
  if (texts.size() > 0) work().tokenized += static_cast<uint64_t>(texts.offsets.back() - texts.offsets.front());
  return out;
}

Buffer<float> encode_passages(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                              int threads) {
  constexpr size_t kAtOnce = 64;  // sentences whose vectors are kept
  const size_t dim = static_cast<size_t>(table.cols);
  const Kernels& run = kernels();
  Buffer<float> out(texts.size() * table.cols);
  const std::vector<int64_t> borders = plan_blocks(texts);
  parallel_for(static_cast<int64_t>(borders.size()) - 1, threads, [&](int64_t b) {
    SentenceList sentences;
    Values<int32_t> ids;
    std::vector<int64_t> offsets, counts;
    std::vector<float> vectors(kAtOnce * dim), plain(dim);
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const std::string_view text = texts[i];
      float* const sum = &out[i * table.cols];
      std::fill_n(sum, dim, 0.0f);
      std::fill(plain.begin(), plain.end(), 0.0f);
      split_sentences(text, Wrap::kAuto, sentences);
      const size_t count = sentences.starts.size();
      sentences.starts.push_back(static_cast<int64_t>(text.size()));
      encode_and_count(tokenizer, text, sentences.starts.data(), count, ids, offsets, counts);
      int64_t weight = 0;
      for (size_t s = 0; s < count; ++s) {
        if (s % kAtOnce == 0)
          embedding_bags(table, ids, std::span<const int64_t>(offsets).subspan(s, std::min(kAtOnce, count - s) + 1),
                         vectors.data());
        const float* const vector = &vectors[s % kAtOnce * dim];
        run.add_scaled(vector, dim, static_cast<float>(counts[s]), sum);
        run.add_scaled(vector, dim, 1.0f, plain.data());
        weight += counts[s];
      }
      if (weight == 0) std::copy(plain.begin(), plain.end(), sum);
      normalize(sum, table.cols);
    }
  });
  if (texts.size() > 0) {
    const auto bytes = static_cast<uint64_t>(texts.offsets.back() - texts.offsets.front());
    work().split += bytes, work().tokenized += bytes;
  }
  return out;
}

}  // namespace pychunk
