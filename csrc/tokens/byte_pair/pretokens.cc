#include "tokens/byte_pair/pretokens.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>

#include "common/check.h"
#include "common/dispatch.h"
#include "text/categories.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

// The bytes of a tile after which a pre-token may begin only if the text ends with the tile. The scan looks no further
// ahead than one window of masks.
constexpr size_t kWindowBytes = 80;
// The ends of a tile's pre-tokens are stored in 32 bits.
constexpr size_t kMostEnd = std::numeric_limits<uint32_t>::max();

constexpr PretokenRules kGpt2{Contractions::kBeforeExact, false, false, 0, false, false, false, false};
constexpr PretokenRules kCl100k{Contractions::kBeforeAnyCase, false, true, 3, true, false, true, true};
constexpr PretokenRules kLlama3{Contractions::kBeforeAnyCase, false, true, 3, true, false, true, false};
constexpr PretokenRules kQwen2{Contractions::kBeforeAnyCase, false, true, 1, true, false, true, false};
constexpr PretokenRules kO200k{Contractions::kAfterWord, true, true, 3, true, true, true, false};

bool is_cr_or_lf(uint32_t c) { return c == '\n' || c == '\r'; }

// A character of the text and its category.
struct Categorized {
  uint32_t c;
  uint8_t category;
  size_t next;
  bool is(uint8_t flags) const { return (category & flags) != 0; }
};
Categorized character_of(const uint8_t* text, size_t at) {
  const auto [c, length] = decode_utf8(text + at);
  return {c, categories()[c], at + static_cast<size_t>(length)};
}

// Returns the first position from `at` on whose character has none of the flags.
size_t skip_category(uint8_t flags, const uint8_t* text, size_t at, size_t end) {
  while (at < end) {
    const Categorized r = character_of(text, at);
    if (!r.is(flags)) break;
    at = r.next;
  }
  return at;
}
bool is_punctuation(uint8_t category) {
  return (category & (Category::kLetter | Category::kNumber | Category::kSpace)) == 0;
}
size_t skip_punctuation(const uint8_t* text, size_t at, size_t end) {
  while (at < end) {
    const Categorized r = character_of(text, at);
    if (!is_punctuation(r.category)) break;
    at = r.next;
  }
  return at;
}

// Returns the end of the contraction that begins at text[at], or `at` if there is none.
size_t skip_contraction(const uint8_t* text, size_t at, size_t end, bool any_case) {
  if (at >= end || text[at] != '\'') return at;
  const auto letter = [&](size_t i, char wanted) {
    if (at + i >= end) return false;
    const uint8_t c = text[at + i];
    return c == wanted || (any_case && c < 0x80 && (c | 0x20) == wanted);
  };
  for (const char c : {'s', 't', 'm', 'd'})
    if (letter(1, c)) return at + 2;
  if ((letter(1, 'r') && letter(2, 'e')) || (letter(1, 'v') && letter(2, 'e')) || (letter(1, 'l') && letter(2, 'l')))
    return at + 3;
  // U+017F is a long s.
  if (any_case && at + 3 <= end && text[at + 1] == 0xC5 && text[at + 2] == 0xBF) return at + 3;
  return at;
}

// Returns the end of the word whose first letter is text[at], or `at` if there is none.
size_t skip_cased_word(const uint8_t* text, size_t at, size_t end) {
  constexpr uint8_t kNoCase = Category::kCaseless | Category::kMark;
  size_t upper = at, caseless = at;  // the end of the upper-case part, and of its last character without case
  while (upper < end) {
    const Categorized r = character_of(text, upper);
    if (!r.is(Category::kUpper | kNoCase)) break;
    upper = r.next;
    if (r.is(kNoCase)) caseless = upper;
  }
  const size_t lower = skip_category(Category::kLower | kNoCase, text, upper, end);
  if (lower > upper) return lower;
  return caseless > at ? caseless : upper;
}

size_t end_of_spaces(const PretokenRules& rules, const uint8_t* text, size_t at, size_t end) {
  size_t last = at, line = at, to = at;  // the last character's begin; the end after the last line break
  while (to < end) {
    const Categorized r = character_of(text, to);
    if (!r.is(Category::kSpace)) break;
    last = to;
    to = r.next;
    if (is_cr_or_lf(r.c)) line = to;
  }
  if (rules.whole_tail && to == end) return end;
  if (rules.lines_end_spaces && line > at) return line;
  return to == end || last == at ? to : last;
}

}  // namespace

PretokenRules pretoken_rules(std::string_view name) {
  if (name == "gpt2") return kGpt2;
  if (name == "cl100k") return kCl100k;
  if (name == "llama3") return kLlama3;
  if (name == "qwen2") return kQwen2;
  PYCHUNK_CHECK(name == "o200k", "the pattern must be gpt2, cl100k, o200k, llama3 or qwen2, got '", name, "'");
  return kO200k;
}

size_t pretoken_end(const PretokenRules& rules, const uint8_t* text, size_t at, size_t end) {
  const bool after = rules.contractions == Contractions::kAfterWord;
  if (!after)
    if (const size_t to = skip_contraction(text, at, end, rules.contractions == Contractions::kBeforeAnyCase); to > at)
      return to;
  const Categorized first = character_of(text, at);
  const auto word = [&](size_t from) {
    if (!rules.cased) return skip_category(Category::kLetter, text, from, end);
    return skip_cased_word(text, from, end);
  };
  const auto finish = [&](size_t to) { return after ? skip_contraction(text, to, end, true) : to; };
  const bool may_precede =
      rules.any_prefix ? !first.is(Category::kLetter | Category::kNumber) && !is_cr_or_lf(first.c) : first.c == ' ';
  if (rules.cased && first.is(Category::kMark)) {
    // A mark is a letter, and it may also precede a word. It precedes the word only if the word ends in letters that
    // need not be upper case; the pattern prefers that, and takes the mark alone or as a letter otherwise.
    const size_t upper = skip_category(Category::kUpper, text, first.next, end), to = word(first.next);
    return finish(to > upper ? to : first.next);
  }
  if (may_precede)
    if (const size_t to = word(first.next); to > first.next) return finish(to);
  if (const size_t to = word(at); to > at) return finish(to);

  const size_t unspaced = first.c == ' ' ? first.next : at;
  if (rules.most_digits == 0) {
    if (const size_t to = skip_category(Category::kNumber, text, unspaced, end); to > unspaced) return to;
  } else if (first.is(Category::kNumber)) {
    size_t to = first.next;
    for (int i = 1; i < rules.most_digits && to < end; ++i) {
      const Categorized r = character_of(text, to);
      if (!r.is(Category::kNumber)) break;
      to = r.next;
    }
    return to;
  }
  if (size_t to = skip_punctuation(text, unspaced, end); to > unspaced) {
    if (rules.lines_after_marks)
      while (to < end && (is_cr_or_lf(text[to]) || (rules.slashes_after_marks && text[to] == '/'))) ++to;
    return to;
  }
  return end_of_spaces(rules, text, at, end);
}

PretokenScanner::PretokenScanner(const PretokenRules& rules, const uint8_t* text, size_t size)
    : rules_(rules), text_(text), size_(size), masks_(std::make_unique_for_overwrite<PretokenMasks>()) {}

void PretokenScanner::fill(size_t at) {
  tile_ = at;
  tile_end_ = std::min(size_, at + PretokenMasks::kBytes);
  const size_t size = tile_end_ - tile_;
  const uint8_t* const text = text_ + tile_;
  PretokenMasks& masks = *masks_;
  kernels().mark_pretoken_classes(text, size, rules_.cased, &masks);
  const CategoryTable& table = categories();
  uint64_t* const sets[] = {masks.upper, masks.lower, masks.other, masks.number, masks.space};
  // The masks of a category, one bit for each of `sets`.
  uint8_t bits_of[64];
  for (uint8_t category = 0; category < 64; ++category) {
    const bool mark = (category & Category::kMark) != 0, other_letter = (category & Category::kCaseless) != 0;
    const bool upper =
        rules_.cased ? (category & Category::kUpper) != 0 || mark || other_letter : (category & Category::kLetter) != 0;
    const bool lower = rules_.cased && ((category & Category::kLower) != 0 || mark || other_letter);
    bits_of[category] =
        static_cast<uint8_t>(upper | lower << 1 | is_punctuation(category) << 2 |
                             ((category & Category::kNumber) != 0) << 3 | ((category & Category::kSpace) != 0) << 4);
  }
  for (size_t word = 0; word * 64 < size; ++word) {
    for (uint64_t wide = masks.wide[word]; wide != 0;) {
      const auto bit = static_cast<size_t>(std::countr_zero(wide));
      const size_t i = word * 64 + bit;
      if (continues_character(text[i])) {  // of a character that begins in the word before
        wide &= wide - 1;
        continue;
      }
      const auto [c, length] = decode_utf8(text + i);
      const uint64_t all = (uint64_t{1} << length) - 1;
      const uint8_t chosen = bits_of[table[c]];
      for (size_t set = 0; set < std::size(sets); ++set) {
        uint8_t* const bytes = reinterpret_cast<uint8_t*>(sets[set]) + i / 8;
        uint32_t cell;
        std::memcpy(&cell, bytes, sizeof cell);
        cell |= static_cast<uint32_t>((chosen >> set & 1 ? all : 0) << i % 8);
        std::memcpy(bytes, &cell, sizeof cell);
      }
      wide &= ~(all << bit);
    }
  }
}

size_t PretokenScanner::scan(size_t at, size_t end, uint32_t* ends, size_t room) {
  if (at < tile_ || at + kWindowBytes >= tile_end_) {
    if (tile_end_ != size_ || at < tile_ || at >= tile_end_) fill(at);
  }
  const size_t safe = tile_end_ == size_ ? size_ : tile_end_ - kWindowBytes;
  const PretokenScan found = kernels().scan_pretokens(rules_, *masks_, text_ + tile_, at - tile_,
                                                      std::min(safe, end) - tile_, end - tile_, ends, room);
  if (!found.stuck) return found.count;
  if (found.count == 0) {
    const size_t to = pretoken_end(rules_, text_, at, end) - tile_;
    PYCHUNK_CHECK(to < kMostEnd, "a word must be shorter than 4 GiB, got one that ends after ", to, " bytes");
    ends[0] = static_cast<uint32_t>(to);
    return 1;
  }
  return found.count;
}

}  // namespace pychunk
