#include "text/word_characters.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "common/check.h"

namespace pychunk {
namespace {

constexpr uint32_t kEndOfUnicode = 0x110000;

template <typename Body>
void for_each_range(std::span<const uint32_t> ranges, Body body) {
  PYCHUNK_CHECK(ranges.size() % 2 == 0, "ranges must be pairs of code points, got ", ranges.size(), " numbers");
  for (size_t i = 0; i < ranges.size(); i += 2) {
    PYCHUNK_CHECK(ranges[i] <= ranges[i + 1] && ranges[i + 1] < kEndOfUnicode,
                  "a range must be two code points in increasing order, got ", ranges[i], " to ", ranges[i + 1]);
    body(ranges[i], ranges[i + 1] + 1);
  }
}

}  // namespace

WordCharacters::WordCharacters(std::span<const uint32_t> letters, std::span<const uint32_t> marks,
                               std::span<const uint32_t> paired, std::span<const uint32_t> tripled) {
  std::vector<Belongs> cells(kEndOfUnicode, Belongs::kNot);
  const auto fill = [&](Belongs value) {
    return
        [&cells, value](uint32_t begin, uint32_t end) { std::fill(cells.begin() + begin, cells.begin() + end, value); };
  };
  for_each_range(marks, fill(Belongs::kNotFirst));
  for_each_range(letters, fill(Belongs::kAnywhere));
  const auto put = [&](Belongs value) {
    return [&cells, value](uint32_t begin, uint32_t end) {
      std::replace(cells.begin() + begin, cells.begin() + end, Belongs::kAnywhere, value);
    };
  };
  for_each_range(paired, put(Belongs::kPaired));
  for_each_range(tripled, put(Belongs::kTripled));
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
