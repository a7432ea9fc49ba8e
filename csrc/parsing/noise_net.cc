#include "parsing/noise_net.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/interrupt.h"

namespace pychunk {
namespace {

constexpr int32_t kFlowSteps = 256, kWeightSteps = 1024, kVectorSteps = 64;
constexpr int32_t kMostFlow = 64 * kFlowSteps * kWeightSteps;  // before the division by the weights' steps

// Rows of int16 whose width is a multiple of the processor's vector width.
class Flow {
 public:
  Flow(int64_t rows, int64_t cols) : cols_((cols + 15) / 16 * 16), values_(static_cast<size_t>(rows * cols_)) {}
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

// The rows of a vocabulary's words, by their hash.
class WordFinder {
 public:
  explicit WordFinder(std::span<const uint32_t> known)
      : known_(known), slots_(std::bit_ceil(4 * known.size() + 2), -1), shift_(32 - std::countr_zero(slots_.size())) {
    for (size_t i = 0; i < known.size(); ++i) {
      size_t slot = slot_of(known[i]);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<int32_t>(i);
    }
  }
  // Return the row of a word, or -1 if it is unknown.
  int32_t operator()(uint32_t word) const {
    for (size_t slot = slot_of(word);; slot = (slot + 1) & (slots_.size() - 1)) {
      const int32_t row = slots_[slot];
      if (row < 0 || known_[static_cast<size_t>(row)] == word) return row;
    }
  }

 private:
  size_t slot_of(uint32_t word) const { return (word * 2654435769u) >> shift_; }

  std::span<const uint32_t> known_;
  std::vector<int32_t> slots_;
  int shift_;
};

void add_to(const int16_t* vector, int64_t width, int32_t* sums) {
  for (int64_t c = 0; c < width; ++c) sums[c] += vector[c];
}

// Append for each block the mean vector of the words of all its elements together.
void append_means_of_elements(const Ragged<uint32_t>& names, const std::vector<int32_t>& found, const NoiseWords& words,
                              const Matrix<const int64_t>& rows, Flow& out, int64_t at) {
  const int64_t width = words.vectors.cols, elements = names.size();
  std::vector<int32_t> sums(static_cast<size_t>(elements * width)), counts(static_cast<size_t>(elements));
  for (int64_t e = 0; e < elements; ++e) {
    for (int64_t i = names.offsets[e]; i < names.offsets[e + 1]; ++i) {
      if (found[i] < 0) continue;
      add_to(words.vectors.row(found[i]), width, sums.data() + e * width);
      ++counts[e];
    }
  }
  std::vector<int32_t> sum(static_cast<size_t>(width));
  for (int64_t b = 0; b < rows.cols; ++b) {
    std::ranges::fill(sum, 0);
    int32_t count = 0;
    for (int64_t level = 0; level < rows.rows; ++level) {
      const int64_t e = rows.row(level)[b];
      if (e < 0) continue;
      for (int64_t c = 0; c < width; ++c) sum[c] += sums[e * width + c];
      count += counts[e];
    }
    if (count == 0) continue;
    for (int64_t c = 0; c < width; ++c) out.row(b)[at + c] = rounded_mean(sum[c], count, kFlowSteps / kVectorSteps);
  }
}

// Append the mean vector of the known words of each row. Word i belongs to row_of(i).
void append_means(const NoiseWords& words, std::span<const uint32_t> values, auto row_of, int64_t count, Flow& out,
                  int64_t at) {
  const int64_t width = words.vectors.cols;
  const WordFinder find(words.known);
  std::vector<int32_t> sums(static_cast<size_t>(count * width)), counts(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const int32_t found = find(values[i]);
    if (found < 0) continue;
    const int64_t row = row_of(i);
    add_to(words.vectors.row(found), width, sums.data() + row * width);
    ++counts[row];
  }
  for (int64_t b = 0; b < count; ++b) {
    if (counts[b] == 0) continue;
    for (int64_t c = 0; c < width; ++c)
      out.row(b)[at + c] = rounded_mean(sums[b * width + c], counts[b], kFlowSteps / kVectorSteps);
  }
}

// Return the inputs of the first layer.
Flow inputs_of(const NoisePage& page, const NoiseVocabulary& vocabulary) {
  const int64_t blocks = page.dense.rows, dense = page.dense.cols;
  const int64_t near = dense, path = near + vocabulary.near.vectors.cols, wording = path + vocabulary.path.vectors.cols;
  const int64_t about = wording + vocabulary.wording.vectors.cols, about_width = vocabulary.page.vectors.cols;
  Flow out(blocks, about + about_width);
  for (int64_t b = 0; b < blocks; ++b) {
    for (int64_t c = 0; c < dense; ++c) out.row(b)[c] = static_cast<int16_t>(page.dense.row(b)[c] * kFlowSteps);
  }
  const WordFinder find(vocabulary.near.known);
  std::vector<int32_t> found(page.names.values.size());
  std::ranges::transform(page.names.values, found.begin(), [&](uint32_t word) { return find(word); });
  append_means_of_elements(page.names, found, vocabulary.near, page.near, out, near);
  append_means_of_elements(page.names, found, vocabulary.path, page.path, out, path);
  append_means(vocabulary.wording, page.wording, [&](size_t i) { return page.wording_rows[i]; }, blocks, out, wording);
  Flow own(1, about_width);
  append_means(vocabulary.page, page.page, [](size_t) { return int64_t{0}; }, 1, own, 0);
  for (int64_t b = 0; b < blocks; ++b) std::copy_n(own.row(0), about_width, out.row(b) + about);
  return out;
}

// A layer's weights in rows as wide as the values that they are multiplied with.
class LayerProduct {
 public:
  explicit LayerProduct(const NoiseLayer& layer) : weights_(layer.weights.rows, layer.weights.cols), bias_(layer.bias) {
    for (int64_t o = 0; o < layer.weights.rows; ++o) {
      std::copy_n(layer.weights.row(o), layer.weights.cols, weights_.row(o));
    }
  }
  int64_t outputs() const { return static_cast<int64_t>(bias_.size()); }
  // Return the sums of outputs from `o` on, times 256 * 1024. Several are computed at once, so that each value is read
  // once for all of them.
  template <size_t kCount>
  std::array<int32_t, kCount> sums(const int16_t* values, int64_t o) const {
    std::array<int32_t, kCount> found{};
    const int16_t* weights = weights_.row(o);
    const int64_t cols = weights_.cols();
    for (int64_t i = 0; i < cols; ++i) {
      for (size_t k = 0; k < kCount; ++k) {
        found[k] += int32_t{values[i]} * int32_t{weights[static_cast<int64_t>(k) * cols + i]};
      }
    }
    for (size_t k = 0; k < kCount; ++k) found[k] += bias_[static_cast<size_t>(o) + k] * kFlowSteps;
    return found;
  }
  // Write the outputs to the first columns of `out`, clipped to 0 to 64 and rounded half to even.
  void apply(const Flow& values, int64_t rows, Flow& out) const {
    for (int64_t b = 0; b < rows; ++b) {
      checkpoint_each(b, 1024);
      const auto put = [&](int64_t o, int32_t sum) {
        const int32_t kept = std::clamp(sum, 0, kMostFlow);
        out.row(b)[o] = static_cast<int16_t>((kept + kWeightSteps / 2 - 1 + (kept / kWeightSteps & 1)) / kWeightSteps);
      };
      int64_t o = 0;
      for (; o + 4 <= outputs(); o += 4) {
        const auto found = sums<4>(values.row(b), o);
        for (size_t k = 0; k < 4; ++k) put(o + static_cast<int64_t>(k), found[k]);
      }
      for (; o < outputs(); ++o) put(o, sums<1>(values.row(b), o)[0]);
    }
  }

 private:
  Flow weights_;
  std::span<const int32_t> bias_;
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
  const NoiseSurroundings& around_;
  std::vector<Group> groups_;
  double total_weight_ = 0;
};

}  // namespace

std::vector<int64_t> noise_sums(const NoisePage& page, const NoiseVocabulary& vocabulary,
                                const NoiseSurroundings& around, std::span<const NoiseNet> nets) {
  const int64_t blocks = page.dense.rows;
  const auto count = static_cast<int64_t>(nets.size());
  std::vector<int64_t> out(static_cast<size_t>(blocks * count));
  const Flow given = inputs_of(page, vocabulary);
  const Sight sight(page, around);
  for (int64_t n = 0; n < count; ++n) {
    const NoiseNet& net = nets[static_cast<size_t>(n)];
    const LayerProduct in(net.in), out_once(net.out), out_again(net.out2);
    Flow hidden(blocks, in.outputs());
    in.apply(given, blocks, hidden);
    const auto exchange = [&](const NoiseLayer& share, const NoiseLayer& mix, const LayerProduct& last) {
      const LayerProduct summary(share), mixed(mix);
      const int64_t own = mix.weights.cols - sight.parts() * summary.outputs();
      Flow shared(blocks, summary.outputs()), seen(blocks, mix.weights.cols), next(blocks, mixed.outputs());
      summary.apply(hidden, blocks, shared);
      for (int64_t b = 0; b < blocks; ++b) std::copy_n(hidden.row(b), own, seen.row(b));
      sight.see(shared, summary.outputs(), seen, own);
      mixed.apply(seen, blocks, next);
      hidden = std::move(next);
      for (int64_t b = 0; b < blocks; ++b) out[b * count + n] += last.sums<1>(hidden.row(b), 0)[0];
    };
    exchange(net.share, net.mix, out_once);
    exchange(net.share2, net.mix2, out_again);
  }
  return out;
}

}  // namespace pychunk
