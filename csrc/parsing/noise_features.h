// What a model of noise sees of each block of a page: pychunk/_engine/reference/parsing/noise_columns.py has the same
// in NumPy, and says what the columns are.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/view.h"

namespace pychunk {

inline constexpr int kNoiseLevels = 5, kNoisePath = 12;  // LEVELS and PATH there

// Of b blocks and e elements of one page.
struct NoiseBlocks {
  std::string_view text;                // valid UTF-8
  std::span<const int64_t> start, end;  // characters, rising
  std::span<const int8_t> kind;
  std::span<const int16_t> level;
  int64_t kinds = 0;  // kinds that have a column
  // HtmlFacts
  std::span<const int32_t> element, text_chars, link_chars;
  std::span<const int16_t> links;
  std::span<const uint8_t> hidden, told;
  std::span<const int32_t> parent, last;
  std::span<const int16_t> depth;
  Ragged<uint32_t> names;
  // BlockWords, and hashes of the title's words, rising
  std::span<const int64_t> words, stops, hashed;
  std::span<const uint8_t> ends_sentence;
  std::span<const uint32_t> hashes, title;
};

struct NoiseColumns {
  int64_t width = 0;
  std::vector<double> dense;               // [b, width], multiples of 1 / 64
  std::vector<int64_t> near, path, above;  // [3, b], [kNoisePath, b], [kNoiseLevels, b]: elements
  std::vector<int64_t> like, copy;
};

NoiseColumns noise_columns(const NoiseBlocks& page);

}  // namespace pychunk
