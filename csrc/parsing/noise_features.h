// The features of each block of a page for the model of noise. pychunk/_engine/reference/parsing/noise_columns.py
// computes the same in NumPy and describes the columns.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/view.h"

namespace pychunk {

inline constexpr int kNoiseLevels = 5, kNoisePath = 12;  // LEVELS and PATH of noise_columns.py

// The b blocks and e elements of one page.
struct NoiseBlocks {
  std::string_view text;                // valid UTF-8
  std::span<const int64_t> start, end;  // characters, increasing
  std::span<const int8_t> kind;
  std::span<const int16_t> level;
  int64_t kinds = 0;  // the number of kinds that have a column
  // HtmlFacts
  std::span<const int32_t> element, text_chars, link_chars;
  std::span<const int16_t> links;
  std::span<const uint8_t> hidden, told;
  std::span<const int32_t> parent, last;
  std::span<const int16_t> depth;
  Ragged<uint32_t> names;
  // BlockWords, and hashes of the title's words, increasing
  std::span<const int64_t> words, stops, hashed;
  std::span<const uint8_t> ends_sentence;
  std::span<const uint32_t> hashes, title;
};

struct NoiseColumns {
  int64_t width = 0;
  std::vector<double> dense;               // [b, width], multiples of 1 / 64
  std::vector<int64_t> near, path, above;  // elements, [3, b], [kNoisePath, b] and [kNoiseLevels, b]
  std::vector<int64_t> like, copy;
};

NoiseColumns noise_columns(const NoiseBlocks& page);

}  // namespace pychunk
