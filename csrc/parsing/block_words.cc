#include "parsing/block_words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string>

#include "common/crc32.h"
#include "common/interrupt.h"
#include "text/graphemes.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Runs of digits beyond ASCII, as (first, count), of Python's str.isdigit with Unicode 14.
struct DigitRun {
  uint32_t first, count;
};
constexpr DigitRun kDigitRuns[] = {
    {0xB2, 2},     {0xB9, 1},     {0x660, 10},   {0x6F0, 10},   {0x7C0, 10},   {0x966, 10},   {0x9E6, 10},
    {0xA66, 10},   {0xAE6, 10},   {0xB66, 10},   {0xBE6, 10},   {0xC66, 10},   {0xCE6, 10},   {0xD66, 10},
    {0xDE6, 10},   {0xE50, 10},   {0xED0, 10},   {0xF20, 10},   {0x1040, 10},  {0x1090, 10},  {0x1369, 9},
    {0x17E0, 10},  {0x1810, 10},  {0x1946, 10},  {0x19D0, 11},  {0x1A80, 10},  {0x1A90, 10},  {0x1B50, 10},
    {0x1BB0, 10},  {0x1C40, 10},  {0x1C50, 10},  {0x2070, 1},   {0x2074, 6},   {0x2080, 10},  {0x2460, 9},
    {0x2474, 9},   {0x2488, 9},   {0x24EA, 1},   {0x24F5, 9},   {0x24FF, 1},   {0x2776, 9},   {0x2780, 9},
    {0x278A, 9},   {0xA620, 10},  {0xA8D0, 10},  {0xA900, 10},  {0xA9D0, 10},  {0xA9F0, 10},  {0xAA50, 10},
    {0xABF0, 10},  {0xFF10, 10},  {0x104A0, 10}, {0x10A40, 4},  {0x10D30, 10}, {0x10E60, 9},  {0x11052, 9},
    {0x11066, 10}, {0x110F0, 10}, {0x11136, 10}, {0x111D0, 10}, {0x112F0, 10}, {0x11450, 10}, {0x114D0, 10},
    {0x11650, 10}, {0x116C0, 10}, {0x11730, 10}, {0x118E0, 10}, {0x11950, 10}, {0x11C50, 10}, {0x11D50, 10},
    {0x11DA0, 10}, {0x16A60, 10}, {0x16AC0, 10}, {0x16B50, 10}, {0x1D7CE, 50}, {0x1E140, 10}, {0x1E2F0, 10},
    {0x1E950, 10}, {0x1F100, 11}, {0x1FBF0, 10}};

bool is_any_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  const auto run = std::ranges::upper_bound(kDigitRuns, static_cast<uint32_t>(c), {}, &DigitRun::first);
  return run != std::begin(kDigitRuns) && c - (run - 1)->first < (run - 1)->count;
}

// A set of characters.
class Marks {
 public:
  explicit Marks(std::string_view characters) {
    for (int64_t i = 0; i < static_cast<int64_t>(characters.size());) {
      const auto [c, length] = decode_utf8(characters, i);
      if (c < 0x80) ascii_[c] = true;
      if (c >= 0x80) others_.push_back(c);
      i += length;
    }
  }
  bool has(char32_t c) const { return c < 0x80 ? ascii_[c] : std::ranges::find(others_, c) != others_.end(); }
  // Return a word without these characters at its edges.
  std::string_view strip(std::string_view word) const {
    auto begin = int64_t{0}, end = static_cast<int64_t>(word.size());
    while (begin < end) {
      const auto [c, length] = decode_utf8(word, begin);
      if (!has(c)) break;
      begin += length;
    }
    while (begin < end) {
      const int64_t last = character_before(word, end, begin);
      if (!has(decode_utf8(word, last).code_point)) break;
      end = last;
    }
    return slice(word, begin, end);
  }

 private:
  bool ascii_[128] = {};
  std::vector<char32_t> others_;
};

// Return the number of characters of a word that has only digits, or 0 for other words.
int64_t digits_of(std::string_view word) {
  if (!word.empty()) {
    const auto first = static_cast<uint8_t>(word[0]);
    if (first >= ':' && first < 0x80) return 0;  // most words begin so
  }
  int64_t count = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(word.size()); ++count) {
    const auto [c, length] = decode_utf8(word, i);
    if (!is_any_digit(c)) return 0;
    i += length;
  }
  return count;
}

void split_words(std::string_view text, std::vector<std::string_view>& out) {
  out.clear();
  const auto size = static_cast<int64_t>(text.size());
  for (int64_t i = trim_begin(text, 0, size); i < size; i = trim_begin(text, i, size)) {
    const int64_t begin = i;
    i = word_end(text, begin);
    out.push_back(slice(text, begin, i));
  }
}

// Return the number of words in a run without spaces. It is 1 except in scripts without spaces, whose letters take
// three bytes or more.
int64_t words_in(std::string_view run) {
  const bool spaced = std::ranges::none_of(run, [](char c) { return static_cast<uint8_t>(c) >= 0xE0; });
  return spaced ? 1 : words_of_run(run);
}

// A set of words that tells for most others, by three of their bytes and their length, that it does not hold them.
class WordSet {
 public:
  explicit WordSet(std::span<const std::string_view> words) : slots_(std::bit_ceil(4 * words.size() + 1)) {
    for (const std::string_view word : words) {
      if (word.empty() || has(word)) continue;
      longest_ = std::max(longest_, word.size());
      size_t at = slot_of(word);
      while (!slots_[at].empty()) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = word;
    }
  }
  bool has(std::string_view word) const {
    if (word.empty() || word.size() > longest_) return false;
    for (size_t at = slot_of(word); !slots_[at].empty(); at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == word) return true;
    }
    return false;
  }

 private:
  size_t slot_of(std::string_view word) const {
    const auto byte = [&](size_t i) { return uint32_t{static_cast<uint8_t>(word[i])}; };
    const uint32_t key = byte(0) | byte(word.size() / 2) << 8 | byte(word.size() - 1) << 16;
    return ((key ^ static_cast<uint32_t>(word.size()) << 24) * 0x9E3779B1u >> 16) & (slots_.size() - 1);
  }

  std::vector<std::string_view> slots_;
  size_t longest_ = 0;
};

bool ends_a_sentence(std::string_view last_word) {
  const auto begin = character_before(last_word, static_cast<int64_t>(last_word.size()));
  const char32_t c = decode_utf8(last_word, begin).code_point;
  return c == '.' || c == '!' || c == '?' || c == U'\u2026' || c == ':' || c == ';';
}

}  // namespace

BlockWords block_words(const Texts& texts, const BlockWordOptions& options) {
  std::vector<std::string_view> words;
  split_words(options.stop_words, words);
  const WordSet stops(words);
  const Marks marks(options.marks);
  BlockWords out;
  for (int64_t block = 0; block < texts.size(); ++block) {
    checkpoint_each(block, 1024);
    split_words(texts[block], words);
    const auto size = static_cast<int64_t>(words.size());
    out.words.push_back(std::transform_reduce(words.begin(), words.end(), int64_t{0}, std::plus<>(), words_in));
    out.stops.push_back(std::ranges::count_if(words, [&](std::string_view word) { return stops.has(word); }));
    out.ends_sentence.push_back(size == 0 || ends_a_sentence(words.back()));
    const size_t before = out.hashes.size();
    const bool cut = size > options.first + options.last;
    for (int64_t i = 0; i < size; ++i) {
      if (cut && i == options.first) i = size - options.last;
      if (i == size) break;  // no last words are wanted
      const std::string_view bare = marks.strip(words[static_cast<size_t>(i)]);
      const int64_t digits = digits_of(bare);
      const uint32_t hash = digits > 0 ? crc32_of(std::string(static_cast<size_t>(digits), '0')) : crc32_of(bare);
      if (hash != 0) out.hashes.push_back(hash);  // 0 is the hash of an empty word
    }
    out.hashed.push_back(static_cast<int64_t>(out.hashes.size() - before));
  }
  return out;
}

std::optional<std::vector<uint8_t>> lower_of(std::string_view text) {
  std::vector<uint8_t> out(text.begin(), text.end());
  for (size_t i = 0; i < out.size();) {
    const uint8_t c = out[i], next = i + 1 < out.size() ? out[i + 1] : 0;
    if (c < 0x80) {
      out[i] = static_cast<uint8_t>(c + (c >= 'A' && c <= 'Z' ? 0x20 : 0));
      i += 1;
    } else if (c == 0xC2 || c == 0xC3) {
      const bool is_capital =
          c == 0xC3 && next >= 0x80 && next <= 0x9E && next != 0x97;  // 0x97 is the sign of products
      if (is_capital) out[i + 1] = static_cast<uint8_t>(next + 0x20);
      i += 2;
    } else if ((c == 0xE2 && next <= 0x82) || (c >= 0xE3 && c <= 0xE9)) {
      i += 3;
    } else if (c == 0xF0 && next == 0x9F) {
      i += 4;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace pychunk
