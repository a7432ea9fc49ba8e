#include "parsing/noise_net.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/dispatch.h"
#include "common/interrupt.h"

namespace pychunk {
// Parts of the network, in a namespace with a name because they are members of a class in a header.
namespace noise_net {

constexpr int32_t kFlowSteps = 256, kWeightSteps = 1024, kVectorSteps = 64;
constexpr int32_t kMostFlow = 64 * kFlowSteps * kWeightSteps;  // before the division by the weights' steps

// Rows of int16 whose width is a multiple of the processor's vector width, with zeros at their ends.
class Flow {
 public:
  Flow(int64_t rows, int64_t cols) : cols_((cols + 31) / 32 * 32), values_(static_cast<size_t>(rows * cols_)) {}
  int16_t* row(int64_t i) { return values_.data() + i * cols_; }
  const int16_t* row(int64_t i) const { return values_.data() + i * cols_; }
  int64_t cols() const { return cols_; }

 private:
  int64_t cols_;
  std::vector<int16_t> values_;
};

// Return a mean of integers times `scale`, rounded as NumPy's float64 rounds it, half to even.
int16_t rounded_mean(int64_t sum, double count, double scale = 1) {
  constexpr double kRound = 0x1.8p52;
  return static_cast<int16_t>(static_cast<double>(sum) / count * scale + kRound - kRound);
}

// The vectors of a vocabulary's words, found by the words' hashes. A row of vectors has a multiple of kStep numbers.
class Words {
 public:
  static constexpr int64_t kStep = 16;

  explicit Words(const NoiseWords& given)
      : width_(given.vectors.cols),
        steps_((width_ + kStep - 1) / kStep),
        known_(given.known.begin(), given.known.end()),
        vectors_(known_.size() * static_cast<size_t>(steps_ * kStep)),
        slots_(std::bit_ceil(4 * known_.size() + 2), -1),
        shift_(32 - std::countr_zero(slots_.size())) {
    for (size_t i = 0; i < known_.size(); ++i) {
      size_t slot = slot_of(known_[i]);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int32_t>(i);
      const auto row = static_cast<int64_t>(i);
      std::copy_n(given.vectors.row(row), width_, vectors_.data() + row * steps_ * kStep);
    }
  }
  // Return the row of a word, or -1 if it is unknown.
  int32_t find(uint32_t word) const {
    for (size_t slot = slot_of(word);; slot = (slot + 1) & (slots_.size() - 1)) {
      const int32_t row = slots_[slot];
      if (row < 0 || known_[static_cast<size_t>(row)] == word) return row;
    }
  }
  int64_t width() const { return width_; }
  // The number of sums that a mean takes.
  int64_t padded() const { return steps_ * kStep; }
  // Add a word's vector to sums.
  void add(int32_t row, int32_t* sums) const {
    const int16_t* vector = vectors_.data() + row * steps_ * kStep;
    for (int64_t step = 0; step < steps_; ++step, vector += kStep, sums += kStep) {
      for (int64_t c = 0; c < kStep; ++c) sums[c] += vector[c];
    }
  }
  // Add sums to sums.
  void add(const int32_t* more, int32_t* sums) const {
    for (int64_t step = 0; step < steps_; ++step, more += kStep, sums += kStep) {
      for (int64_t c = 0; c < kStep; ++c) sums[c] += more[c];
    }
  }
  // Write the mean of `count` vectors from their sums.
  void put_mean(const int32_t* sums, int32_t count, int16_t* out) const {
    if (count == 0) return;
    for (int64_t c = 0; c < width_; ++c) out[c] = rounded_mean(sums[c], count, kFlowSteps / kVectorSteps);
  }

 private:
  size_t slot_of(uint32_t word) const { return (word * 2654435769u) >> shift_; }

  int64_t width_, steps_;
  std::vector<uint32_t> known_;
  std::vector<int16_t> vectors_;
  std::vector<int32_t> slots_;
  int shift_;
};

// Append for each block the mean vector of the words of all its elements together.
void append_means_of_elements(const Ragged<uint32_t>& names, const std::vector<int32_t>& found, const Words& words,
                              const Matrix<const int64_t>& rows, Flow& out, int64_t at) {
  const int64_t width = words.padded(), elements = names.size();
  std::vector<int32_t> sums(static_cast<size_t>(elements * width)), counts(static_cast<size_t>(elements));
  for (int64_t e = 0; e < elements; ++e) {
    for (int64_t i = names.offsets[e]; i < names.offsets[e + 1]; ++i) {
      if (found[i] < 0) continue;
      words.add(found[i], sums.data() + e * width);
      ++counts[e];
    }
  }
  std::vector<int32_t> sum(static_cast<size_t>(width));
  for (int64_t b = 0; b < rows.cols; ++b) {
    std::ranges::fill(sum, 0);
    int32_t count = 0;
    for (int64_t level = 0; level < rows.rows; ++level) {
      const int64_t e = rows.row(level)[b];
      if (e < 0 || counts[e] == 0) continue;
      words.add(sums.data() + e * width, sum.data());
      count += counts[e];
    }
    words.put_mean(sum.data(), count, out.row(b) + at);
  }
}

// Append the mean vector of the known words of each row. Word i belongs to row_of(i).
void append_means(const Words& words, std::span<const uint32_t> values, auto row_of, int64_t count, Flow& out,
                  int64_t at) {
  const int64_t width = words.padded();
  std::vector<int32_t> sums(static_cast<size_t>(count * width)), counts(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t found = words.find(values[i]);
    if (found < 0) continue;
    const int64_t row = row_of(i);
    words.add(found, sums.data() + row * width);
    ++counts[row];
  }
  for (int64_t b = 0; b < count; ++b) words.put_mean(sums.data() + b * width, counts[b], out.row(b) + at);
}

// A layer's weights in rows as wide as the values that they are multiplied with.
class Layer {
 public:
  explicit Layer(const NoiseLayer& given)
      : weights_(given.weights.rows, given.weights.cols), bias_(given.bias.begin(), given.bias.end()) {
    for (int64_t o = 0; o < given.weights.rows; ++o) {
      std::copy_n(given.weights.row(o), given.weights.cols, weights_.row(o));
    }
    for (int32_t& each : bias_) each *= kFlowSteps;
  }
  int64_t outputs() const { return static_cast<int64_t>(bias_.size()); }
  // Write the sums of the outputs for one row of values, times 256 * 1024.
  void sums(const int16_t* values, std::vector<int32_t>& out) const {
    out.resize(bias_.size());
    kernels().dot_shorts(values, weights_.row(0), static_cast<size_t>(weights_.cols()), bias_.size(), out.data());
    for (size_t o = 0; o < out.size(); ++o) out[o] += bias_[o];
  }
  // Write the outputs to the first columns of `out`, clipped to 0 to 64 and rounded half to even.
  void apply(const Flow& values, int64_t rows, Flow& out) const {
    std::vector<int32_t> found;
    for (int64_t b = 0; b < rows; ++b) {
      checkpoint_each(b, 1024);
      sums(values.row(b), found);
      int16_t* const to = out.row(b);
      for (size_t o = 0; o < found.size(); ++o) {
        const int32_t kept = std::clamp(found[o], 0, kMostFlow);
        to[o] = static_cast<int16_t>((kept + kWeightSteps / 2 - 1 + (kept / kWeightSteps & 1)) / kWeightSteps);
      }
    }
  }

 private:
  Flow weights_;
  std::vector<int32_t> bias_;
};

// The blocks whose vectors each block receives: neighbours, windows, groups and the whole page.
class Sight {
 public:
  Sight(const NoisePage& page, const NoiseSurroundings& around) : page_(page), around_(around) {
    const int64_t blocks = page.dense.rows;
    for (int64_t g = 0; g < page.groups.rows; ++g) {
      const std::span<const int64_t> given(page.groups.row(g), static_cast<size_t>(blocks));
      std::vector<int32_t> number(blocks == 0 ? 0 : static_cast<size_t>(std::ranges::max(given)) + 1, -1);
      Group& group = groups_.emplace_back();
      for (const int64_t each : given) {
        int32_t& own = number[static_cast<size_t>(each)];
        if (own < 0) own = static_cast<int32_t>(group.sizes.size()), group.sizes.push_back(0);
        ++group.sizes[static_cast<size_t>(own)];
        group.of.push_back(own);
      }
    }
    for (const double each : page.weight) total_weight_ += each + 1;
  }

  int64_t parts() const {
    return static_cast<int64_t>(around_.neighbours.size() + around_.windows.size() + groups_.size()) + 2;
  }

  // Write the means of other blocks' vectors that each block receives, `width` columns wide, from column `at` on.
  void see(const Flow& shared, int64_t width, Flow& out, int64_t at) const {
    const int64_t blocks = page_.dense.rows;
    for (const int64_t step : around_.neighbours) {
      for (int64_t b = 0; b < blocks; ++b) {
        if (b + step >= 0 && b + step < blocks) {
          std::copy_n(shared.row(b + step), width, out.row(b) + at);
        } else {
          std::fill_n(out.row(b) + at, width, int16_t{0});
        }
      }
      at += width;
    }
    std::vector<int64_t> running(static_cast<size_t>((blocks + 1) * width)), heavy(static_cast<size_t>(width));
    for (int64_t b = 0; b < blocks; ++b) {
      const auto weight = static_cast<int64_t>(page_.weight[static_cast<size_t>(b)]) + 1;
      for (int64_t c = 0; c < width; ++c) {
        running[(b + 1) * width + c] = running[b * width + c] + shared.row(b)[c];
        heavy[c] += weight * shared.row(b)[c];
      }
    }
    for (const int64_t size : around_.windows) {
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t first = std::max<int64_t>(b - size, 0), last = std::min(b + size + 1, blocks);
        for (int64_t c = 0; c < width; ++c) {
          const int64_t sum = running[last * width + c] - running[first * width + c];
          out.row(b)[at + c] = rounded_mean(sum, static_cast<double>(last - first));
        }
      }
      at += width;
    }
    for (const Group& group : groups_) {
      see_group(group, shared, width, out, at);
      at += width;
    }
    for (int64_t c = 0; c < width; ++c) {
      const int16_t every = rounded_mean(running[blocks * width + c], static_cast<double>(blocks));
      const int16_t weighted = rounded_mean(heavy[c], total_weight_);
      for (int64_t b = 0; b < blocks; ++b) out.row(b)[at + c] = every, out.row(b)[at + width + c] = weighted;
    }
  }

 private:
  struct Group {
    std::vector<int32_t> of, sizes;  // the group of each block; the number of blocks of each group
  };

  static void see_group(const Group& group, const Flow& shared, int64_t width, Flow& out, int64_t at) {
    std::vector<int64_t> sums(group.sizes.size() * static_cast<size_t>(width));
    for (size_t b = 0; b < group.of.size(); ++b) {
      for (int64_t c = 0; c < width; ++c) sums[group.of[b] * width + c] += shared.row(b)[c];
    }
    std::vector<int16_t> means(sums.size());
    for (size_t g = 0; g < group.sizes.size(); ++g) {
      for (int64_t c = 0; c < width; ++c) {
        means[g * width + c] = rounded_mean(sums[g * width + c], group.sizes[g]);
      }
    }
    for (size_t b = 0; b < group.of.size(); ++b) {
      std::copy_n(means.data() + group.of[b] * width, width, out.row(b) + at);
    }
  }

  const NoisePage& page_;
  const NoiseSurroundings around_;
  std::vector<Group> groups_;
  double total_weight_ = 0;
};

}  // namespace noise_net

using namespace noise_net;

struct NoiseNetwork::Parts {
  struct Net {
    Layer in, share, mix, share2, mix2, out, out2;
    int64_t own, own2;  // the inputs of mix and mix2 that are the block's own
  };

  Words near, path, wording, page;
  std::vector<int64_t> neighbours, windows;
  std::vector<Net> nets;
  int64_t features, groups;

  // Return the inputs of the first layer.
  Flow inputs_of(const NoisePage& given) const {
    const int64_t blocks = given.dense.rows, dense = given.dense.cols;
    const int64_t at_path = dense + near.width(), at_wording = at_path + path.width();
    const int64_t at_page = at_wording + wording.width();
    Flow out(blocks, at_page + page.width());
    for (int64_t b = 0; b < blocks; ++b) {
      const double* const from = given.dense.row(b);
      int16_t* const to = out.row(b);
      for (int64_t c = 0; c < dense; ++c) to[c] = static_cast<int16_t>(static_cast<int32_t>(from[c] * kFlowSteps));
    }
    std::vector<int32_t> found(given.names.values.size());
    std::ranges::transform(given.names.values, found.begin(), [&](uint32_t word) { return near.find(word); });
    append_means_of_elements(given.names, found, near, given.near, out, dense);
    append_means_of_elements(given.names, found, path, given.path, out, at_path);
    append_means(wording, given.wording, [&](size_t i) { return given.wording_rows[i]; }, blocks, out, at_wording);
    Flow own(1, page.width());
    append_means(page, given.page, [](size_t) { return int64_t{0}; }, 1, own, 0);
    for (int64_t b = 0; b < blocks; ++b) std::copy_n(own.row(0), page.width(), out.row(b) + at_page);
    return out;
  }
};

NoiseNetwork::NoiseNetwork(const NoiseVocabulary& vocabulary, const NoiseSurroundings& around,
                           std::span<const NoiseNet> nets, int64_t groups) {
  std::vector<Parts::Net> made;
  for (const NoiseNet& net : nets) {
    made.push_back({Layer(net.in), Layer(net.share), Layer(net.mix), Layer(net.share2), Layer(net.mix2), Layer(net.out),
                    Layer(net.out2), net.in.weights.rows, net.mix.weights.rows});
  }
  const auto words = vocabulary.near.vectors.cols + vocabulary.path.vectors.cols + vocabulary.wording.vectors.cols +
                     vocabulary.page.vectors.cols;
  const int64_t features = nets.empty() ? 0 : nets[0].in.weights.cols - words;
  parts_.reset(new Parts{Words(vocabulary.near),
                         Words(vocabulary.path),
                         Words(vocabulary.wording),
                         Words(vocabulary.page),
                         {around.neighbours.begin(), around.neighbours.end()},
                         {around.windows.begin(), around.windows.end()},
                         std::move(made),
                         features,
                         groups});
}

NoiseNetwork::~NoiseNetwork() = default;

int64_t NoiseNetwork::features() const { return parts_->features; }
int64_t NoiseNetwork::groups() const { return parts_->groups; }
int64_t NoiseNetwork::nets() const { return static_cast<int64_t>(parts_->nets.size()); }

std::vector<int64_t> NoiseNetwork::sums(const NoisePage& page) const {
  const int64_t blocks = page.dense.rows, count = nets();
  std::vector<int64_t> out(static_cast<size_t>(blocks * count));
  const Flow given = parts_->inputs_of(page);
  const Sight sight(page, {parts_->neighbours, parts_->windows});
  std::vector<int32_t> sum;
  for (int64_t n = 0; n < count; ++n) {
    const Parts::Net& net = parts_->nets[static_cast<size_t>(n)];
    Flow hidden(blocks, net.in.outputs());
    net.in.apply(given, blocks, hidden);
    const auto exchange = [&](const Layer& share, const Layer& mix, int64_t own, const Layer& last) {
      Flow shared(blocks, share.outputs()), seen(blocks, own + sight.parts() * share.outputs());
      Flow next(blocks, mix.outputs());
      share.apply(hidden, blocks, shared);
      for (int64_t b = 0; b < blocks; ++b) std::copy_n(hidden.row(b), own, seen.row(b));
      sight.see(shared, share.outputs(), seen, own);
      mix.apply(seen, blocks, next);
      hidden = std::move(next);
      for (int64_t b = 0; b < blocks; ++b) {
        last.sums(hidden.row(b), sum);
        out[b * count + n] += sum[0];
      }
    };
    exchange(net.share, net.mix, net.own, net.out);
    exchange(net.share2, net.mix2, net.own2, net.out2);
  }
  return out;
}

}  // namespace pychunk
