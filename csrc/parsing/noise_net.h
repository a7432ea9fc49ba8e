// The network that tells noise from content in pages, in whole numbers: pychunk/_engine/reference/parsing/noise_net.py
// has the same in NumPy, and says what the parts are.
//
// What flows is int16 multiples of 1 / 256, weights are int16 multiples of 1 / 1024, sums are int32; where these hold
// every sum that may come up (the caller sees to it) nothing is rounded but as NumPy's float64 rounds it.
#pragma once
#include <cstdint>
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

// Vectors of words, multiples of 1 / 64: row i is that of the word of hash known[i], which rise.
struct NoiseWords {
  std::span<const uint32_t> known;
  Matrix<const int16_t> vectors;
};

struct NoiseVocabulary {
  NoiseWords near, path, wording, page;  // near and path know the same words
};

// Of b blocks and e elements of one page.
struct NoisePage {
  Matrix<const double> dense;  // [b, f]
  Ragged<uint32_t> names;      // of each element
  Matrix<const int64_t> near;  // [levels, b], elements; -1: none
  Matrix<const int64_t> path;
  std::span<const uint32_t> wording;      // hashes of words
  std::span<const int64_t> wording_rows;  // and their blocks
  std::span<const uint32_t> page;
  Matrix<const int64_t> groups;    // [g, b], numbers from 0 on: blocks with one number see the group's mean
  std::span<const double> weight;  // whole numbers
};

struct NoiseSurroundings {
  std::span<const int64_t> neighbours;  // -1: the block before
  std::span<const int64_t> windows;     // blocks on each side
};

// Of each block and each net, row by row: the sum before the logistic function, in multiples of 2^-18.
std::vector<int64_t> noise_sums(const NoisePage& page, const NoiseVocabulary& vocabulary,
                                const NoiseSurroundings& around, std::span<const NoiseNet> nets);

}  // namespace pychunk
