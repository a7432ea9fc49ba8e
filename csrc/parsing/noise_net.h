// The network that tells noise from content in pages, in integers. pychunk/_engine/reference/parsing/noise_net.py
// computes the same in NumPy and describes the parts.
//
// Values between layers are int16 multiples of 1 / 256, weights are int16 multiples of 1 / 1024, sums are int32. The
// caller makes sure that every possible sum fits. Then values are rounded only where NumPy's float64 also rounds them.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

struct NoiseLayer {
  Matrix<const int16_t> weights;  // [outputs, inputs]
  std::span<const int32_t> bias;  // [outputs], multiples of 1 / 1024
};

struct NoiseNet {
  NoiseLayer in, share, mix, share2, mix2, out, out2;
};

// The vectors of words, in multiples of 1 / 64. Row i belongs to the word with the hash known[i]. The hashes increase.
struct NoiseWords {
  std::span<const uint32_t> known;
  Matrix<const int16_t> vectors;
};

struct NoiseVocabulary {
  NoiseWords near, path, wording, page;  // the vocabularies of near and path have the same words
};

// The b blocks and e elements of one page.
struct NoisePage {
  Matrix<const double> dense;  // [b, f]
  Ragged<uint32_t> names;      // of each element
  Matrix<const int64_t> near;  // [levels, b], elements; -1: none
  Matrix<const int64_t> path;
  std::span<const uint32_t> wording;      // hashes of words
  std::span<const int64_t> wording_rows;  // and the block of each word
  std::span<const uint32_t> page;
  // [g, b]: g ways to group the blocks, with numbers from 0 on. Blocks with the same number receive the mean over them.
  Matrix<const int64_t> groups;
  std::span<const double> weight;  // integers
};

struct NoiseSurroundings {
  std::span<const int64_t> neighbours;  // distances; -1: the block before
  std::span<const int64_t> windows;     // blocks on each side
};

// Nets with their vocabulary, in the form in which each page uses them. It keeps no reference to what it is made from.
class NoiseNetwork {
 public:
  // Takes nets for pages of `groups` ways to group the blocks.
  NoiseNetwork(const NoiseVocabulary& vocabulary, const NoiseSurroundings& around, std::span<const NoiseNet> nets,
               int64_t groups);
  ~NoiseNetwork();

  // Return for each block and each net, row by row, the sum before the logistic function, in multiples of 2^-18. The
  // page must have as many features and groups as the nets take.
  std::vector<int64_t> sums(const NoisePage& page) const;
  // The number of features that the nets take, of groups, and of nets.
  int64_t features() const, groups() const, nets() const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace pychunk
