#include "parsing/html/html_bytes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Letters and digits of ASCII in lower case; 0 for other characters.
constexpr auto kToldLetters = [] {
  std::array<char, 128> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) table[static_cast<size_t>(c)] = table[static_cast<size_t>(c - 'a' + 'A')] = c;
  return table;
}();

size_t after_character(std::string_view text, size_t at) {
  const auto c = static_cast<uint8_t>(text[at]);
  return at + (c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4);
}

// Append the first `most` letters and digits of a text of up to `within` characters, in lower case. Return false if it
// holds a character that kUnknown stands for.
bool append_bare(std::string_view text, int64_t within, int64_t most, std::string& out) {
  int64_t kept = 0;
  for (size_t at = 0; at < text.size() && within > 0; --within) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : uint8_t{0}; };
    const uint8_t first = byte(0), second = byte(1);
    char letters[2] = {};
    size_t length = 2;
    if (first < 0x80) {
      letters[0] = kToldLetters[first], length = 1;
    } else if (first == 0xC3) {  // U+00C0 to U+00FF: letters apart from the signs for products and quotients
      const bool is_capital = second < 0x9F;
      if (second != 0x97 && second != 0xB7) {
        letters[0] = static_cast<char>(first), letters[1] = static_cast<char>(second + (is_capital ? 0x20 : 0));
      }
    } else if (first == 0xE2 && (second == 0x80 || (second == 0x81 && byte(2) < 0xB0))) {
      length = 3;
    } else if (first != 0xC2 || (second != 0xA0 && second != 0xAB && second != 0xB7 && second != 0xBB)) {
      return false;
    }
    at += length;
    if (letters[0] == 0 || kept == most) continue;
    ++kept;
    out.append(letters, length);
  }
  return true;
}

// A filter that tells for most strings that a text does not hold them, by their first and their last eight bytes.
class EightGrams {
 public:
  explicit EightGrams(std::string_view text)
      : bits_(std::bit_ceil(text.size() / 4 + 64)), shift_(64 - 6 - std::countr_zero(bits_.size())) {
    for (size_t at = 0; at + 8 <= text.size(); ++at) {
      const uint64_t slot = slot_of(text.data() + at);
      bits_[slot / 64] |= uint64_t{1} << slot % 64;
    }
  }
  bool has(std::string_view part) const {
    if (part.size() < 8) return true;
    const auto is_set = [&](size_t at) {
      const uint64_t slot = slot_of(part.data() + at);
      return (bits_[slot / 64] >> slot % 64 & 1) != 0;
    };
    return is_set(0) && is_set(part.size() - 8);
  }

 private:
  uint64_t slot_of(const char* at) const {
    uint64_t value;
    std::memcpy(&value, at, sizeof(value));
    return value * 0x9E3779B97F4A7C15u >> shift_;
  }

  std::vector<uint64_t> bits_;  // sixteen for each byte of the text
  int shift_;
};

}  // namespace

std::vector<std::vector<int64_t>> find_keys(std::string_view page, std::span<const std::string_view> keys) {
  std::vector<std::vector<int64_t>> out(keys.size());
  std::vector<uint8_t> seconds;
  for (const std::string_view key : keys) seconds.push_back(static_cast<uint8_t>(key[1]));
  std::ranges::sort(seconds);
  seconds.erase(std::unique(seconds.begin(), seconds.end()), seconds.end());
  constexpr size_t kStep = 1 << 16;  // the part that is marked at a time, which overlaps the next by one byte
  std::vector<uint64_t> bits(kStep / 64 + 1);
  for (size_t begin = 0; begin < page.size(); begin += kStep) {
    checkpoint();
    const size_t size = std::min(kStep + 1, page.size() - begin);
    kernels().mark_pairs(reinterpret_cast<const uint8_t*>(page.data()) + begin, size, '"', seconds.data(),
                         seconds.size(), bits.data());
    for (size_t word = 0; word < std::min(kStep, size + 63) / 64; ++word) {
      for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
        const size_t at = begin + word * 64 + static_cast<size_t>(std::countr_zero(left));
        for (size_t k = 0; k < keys.size(); ++k) {
          if (page.substr(at).starts_with(keys[k])) {
            out[k].push_back(static_cast<int64_t>(at));
          }
        }
      }
    }
  }
  return out;
}

std::vector<uint8_t> find_told(const ToldBlocks& blocks, int64_t least, int64_t most) {
  std::vector<uint8_t> out(blocks.start.size(), kNotTold);
  const EightGrams grams(blocks.told);
  std::string bare;
  int64_t character = 0;
  size_t byte = 0;
  for (size_t row = 0; row < out.size(); ++row) {
    checkpoint_each(static_cast<int64_t>(row), 64);
    const int64_t start = blocks.start[row], size = blocks.end[row] - start;
    if (size < most) continue;
    for (; character < start && byte < blocks.text.size(); ++character) byte = after_character(blocks.text, byte);
    bare.clear();
    if (!append_bare(blocks.text.substr(std::min(byte, blocks.text.size())), std::min(size, 3 * most), most, bare)) {
      out[row] = kUnknown;
      continue;
    }
    if (count_characters(bare) < least || !grams.has(bare)) continue;
    if (blocks.told.find(bare) != std::string_view::npos) out[row] = kTold;
  }
  return out;
}

}  // namespace pychunk
