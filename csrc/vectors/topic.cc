#include "vectors/topic.h"

#include <algorithm>
#include <cmath>

#include "common/buffer.h"
#include "common/dispatch.h"
#include "common/exp_simd.h"
#include "common/interrupt.h"
#include "common/kernels.h"

namespace pychunk {
namespace {

// The number of sentences that pass through the layers together, in addition to those around them that the layers see.
constexpr int64_t kBlock = 512;

// The rows of a block between the rows of zeros that the layers see before the first sentence and after the last. Each
// layer reads one of two such buffers and writes the other.
class HiddenRows {
 public:
  // Makes room for `count` rows, with `reach` zeros before and after them.
  void begin(size_t count, size_t reach, size_t width) {
    count_ = count, width_ = width, before_ = reach * width;
    const size_t size = before_ + (count + reach + kConvolvedRows) * width;
    for (std::vector<float>* buffer : {&in_, &out_}) {
      buffer->resize(size);
      std::fill_n(buffer->begin(), before_, 0.0f);
      std::fill(buffer->end() - static_cast<int64_t>((reach + kConvolvedRows) * width), buffer->end(), 0.0f);
    }
  }
  float* row(size_t i) { return in_.data() + before_ + i * width_; }
  // Replaces each row h by h + max(0, layer(h)).
  void apply(const TopicLayer& layer) {
    const size_t taps = static_cast<size_t>(layer.weights.rows) / width_;
    float* const out = out_.data() + before_;
    kernels().convolve(row(0), count_, width_, layer.weights.data, taps, static_cast<size_t>(layer.dilation),
                       layer.bias.data(), out);
    std::fill_n(out + count_ * width_, kConvolvedRows * width_, 0.0f);
    std::swap(in_, out_);
  }

 private:
  std::vector<float> in_, out_;
  size_t count_ = 0, width_ = 0, before_ = 0;
};

// The work buffers of topic_affinities().
struct TopicScratch {
  TopicInputs inputs;
  HiddenRows hidden;
  std::vector<float> mean, projected, of_mean;
};

// Returns the buffers of the thread. This is a separate function because otherwise the compiler looks up the address of
// the thread's variable at each use.
[[gnu::noinline]] TopicScratch& topic_scratch() {
  thread_local TopicScratch scratch;
  return scratch;
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
  auto& [inputs, hidden, mean, projected, of_mean] = topic_scratch();
  topic_text_inputs(head.words, text, inputs);
  topic_mean(vectors, mean);
  const auto seen = static_cast<size_t>(head.vectors.cols);  // number of channels that vectors add to
  of_mean.assign(seen, 0.0f);
  run.add_products(mean.data(), 1, dim, dim, head.vectors.data, seen, of_mean.data());
  int64_t reach = 0, farthest = 0;  // the number of sentences on either side that all layers see, or one of them
  for (const TopicLayer& layer : head.layers) {
    const int64_t own = layer.weights.rows / channels / 2 * layer.dilation;
    reach += own, farthest = std::max(farthest, own);
  }
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
    hidden.begin(rows_in, static_cast<size_t>(farthest), width);
    for (size_t s = 0; s < rows_in; ++s) {
      const int32_t* words = inputs.words.data() + 2 * (static_cast<size_t>(first) + s);
      const float *one = head.first.row(words[0]), *two = head.second.row(words[1]), *v = projected.data() + s * seen;
      float* h = hidden.row(s);
      for (size_t c = 0; c < width; ++c) h[c] = head.bias[c] + one[c] + two[c];
      for (size_t c = 0; c < seen; ++c) h[c] += v[c] - of_mean[c];
    }
    run.add_products(rows, rows_in, kinds, kinds, head.inputs.data, width, hidden.row(0));
    for (float* h = hidden.row(0); h < hidden.row(rows_in); ++h) *h = std::max(0.0f, *h);
    for (const TopicLayer& layer : head.layers) {
      checkpoint();
      hidden.apply(layer);
    }
    for (int64_t s = std::max<int64_t>(1, block); s < stop; ++s) {
      const float logit = head.out_bias + run.dot(hidden.row(static_cast<size_t>(s - first)), head.out.data(), width) +
                          run.dot(rows + (s - first) * kTopicInputs, head.skip.data(), kinds);
      affinities.push_back(exact_logistic(logit));
    }
  }
  forget_if_huge(inputs.rows, inputs.words);
}

}  // namespace pychunk
