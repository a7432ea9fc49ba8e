#include "vectors/topic.h"

#include <algorithm>
#include <cmath>

#include "common/buffer.h"
#include "common/dispatch.h"
#include "common/exp_simd.h"
#include "common/interrupt.h"

namespace pychunk {
namespace {

// The number of sentences that pass through the layers together, in addition to those around them that the layers see.
constexpr int64_t kBlock = 512;

// Adds the layer's taps on rows [0, count) of `in` to `sums`. Rows outside count as zero.
void add_layer(const TopicLayer& layer, const std::vector<float>& in, int64_t count, std::vector<float>& sums) {
  const int64_t channels = layer.weights.cols, taps = layer.weights.rows / channels;
  const auto width = static_cast<size_t>(channels);
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t shift = (tap - taps / 2) * layer.dilation;
    const int64_t begin = std::max<int64_t>(0, -shift), end = std::min(count, count - shift);
    if (begin >= end) continue;
    kernels().add_products(in.data() + (begin + shift) * channels, static_cast<size_t>(end - begin), width, width,
                           layer.weights.row(tap * channels), width, sums.data() + begin * channels);
  }
}

}  // namespace

float exact_logistic(float x) { return static_cast<float>(1.0 / (1.0 + exact_exp(static_cast<double>(x)))); }

void topic_affinities(const TopicHead& head, const TopicText& text, const Rows& vectors,
                      std::vector<float>& affinities) {
  const Kernels& run = kernels();
  const int64_t n = vectors.rows, channels = head.inputs.cols;
  const auto dim = static_cast<size_t>(vectors.cols), width = static_cast<size_t>(channels);
  affinities.clear();
  if (n < 2) return;
  struct Scratch {
    TopicInputs inputs;
    std::vector<float> mean, hidden, sums, projected, of_mean;
  };
  thread_local Scratch scratch;
  auto& [inputs, mean, hidden, sums, projected, of_mean] = scratch;  // one look-up for the thread
  topic_text_inputs(head.words, text, inputs);
  topic_mean(vectors, mean);
  const auto seen = static_cast<size_t>(head.vectors.cols);  // number of channels that vectors add to
  of_mean.assign(seen, 0.0f);
  run.add_products(mean.data(), 1, dim, dim, head.vectors.data, seen, of_mean.data());
  int64_t reach = 0;  // the number of sentences on either side that the layers see
  for (const TopicLayer& layer : head.layers) reach += layer.weights.rows / channels / 2 * layer.dilation;
  affinities.reserve(static_cast<size_t>(n - 1));
  for (int64_t block = 0; block < n; block += kBlock) {
    const int64_t stop = std::min(n, block + kBlock);
    const int64_t first = std::max<int64_t>(0, block - reach), last = std::min(n, stop + reach), count = last - first;
    float* rows = inputs.rows.data() + first * kTopicInputs;
    // Requests all rows of this block at once, since a row that is dropped would have to be computed again.
    vectors.get(std::max<int64_t>(0, first - kTopicAround), std::min(n, last + kTopicAround));
    topic_cosines(vectors, mean.data(), first, last, rows);
    const Matrix<const float> own = vectors.get(first, last);
    const auto rows_in = static_cast<size_t>(count), kinds = static_cast<size_t>(kTopicInputs);
    projected.assign(rows_in * seen, 0.0f);
    run.add_products(own.data, rows_in, dim, dim, head.vectors.data, seen, projected.data());
    hidden.resize(rows_in * width);
    for (size_t s = 0; s < rows_in; ++s) {
      const int32_t* words = inputs.words.data() + 2 * (static_cast<size_t>(first) + s);
      const float *one = head.first.row(words[0]), *two = head.second.row(words[1]), *v = projected.data() + s * seen;
      float* h = hidden.data() + s * width;
      for (size_t c = 0; c < width; ++c) h[c] = head.bias[c] + one[c] + two[c];
      for (size_t c = 0; c < seen; ++c) h[c] += v[c] - of_mean[c];
    }
    run.add_products(rows, rows_in, kinds, kinds, head.inputs.data, width, hidden.data());
    for (float& h : hidden) h = std::max(0.0f, h);
    for (const TopicLayer& layer : head.layers) {
      checkpoint();
      sums.resize(hidden.size());
      for (size_t i = 0; i < sums.size(); i += width) std::copy(layer.bias.begin(), layer.bias.end(), sums.data() + i);
      add_layer(layer, hidden, count, sums);
      for (size_t i = 0; i < hidden.size(); ++i) hidden[i] += std::max(0.0f, sums[i]);
    }
    for (int64_t s = std::max<int64_t>(1, block); s < stop; ++s) {
      const float logit = head.out_bias + run.dot(hidden.data() + (s - first) * channels, head.out.data(), width) +
                          run.dot(rows + (s - first) * kTopicInputs, head.skip.data(), kinds);
      affinities.push_back(exact_logistic(logit));
    }
  }
  forget_if_huge(inputs.rows, inputs.words);
}

}  // namespace pychunk
