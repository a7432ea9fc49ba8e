#include "word_characters.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "check.h"

namespace pychunk {
namespace {

constexpr uint32_t kEndOfUnicode = 0x110000;

void fill_ranges(std::span<const uint32_t> ranges, Belongs value, std::vector<Belongs>& cells) {
  PYCHUNK_CHECK(ranges.size() % 2 == 0, "ranges must be pairs of code points, got ", ranges.size(), " numbers");
  for (size_t i = 0; i < ranges.size(); i += 2) {
    PYCHUNK_CHECK(ranges[i] <= ranges[i + 1] && ranges[i + 1] < kEndOfUnicode, "a range must be of code points, got ",
                  ranges[i], " to ", ranges[i + 1]);
    std::fill(cells.begin() + ranges[i], cells.begin() + ranges[i + 1] + 1, value);
  }
}

}  // namespace

WordCharacters::WordCharacters(std::span<const uint32_t> letters, std::span<const uint32_t> marks) {
  std::vector<Belongs> cells(kEndOfUnicode, Belongs::kNot);
  fill_ranges(marks, Belongs::kNotFirst, cells);
  fill_ranges(letters, Belongs::kAnywhere, cells);
  for (uint32_t c = 0; c < 0x80; ++c)
    if (cells[c] == Belongs::kAnywhere) ascii_[c] = static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  std::unordered_map<std::string_view, uint16_t> known;
  for (uint32_t page = 0; page < kEndOfUnicode >> 8; ++page) {
    const std::string_view bytes(reinterpret_cast<const char*>(&cells[page << 8]), 256);
    const auto [found, is_new] = known.try_emplace(bytes, static_cast<uint16_t>(known.size()));
    if (is_new) cells_.insert(cells_.end(), cells.begin() + (page << 8), cells.begin() + (page + 1) * 256);
    pages_.push_back(found->second);
  }
}

}  // namespace pychunk
