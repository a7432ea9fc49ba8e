// The ends of pre-tokens, found by bit masks of character classes.
#pragma once
#include "common/simd.h"
#include "tokens/byte_pair/pretoken_rules.h"

namespace pychunk {
namespace {

// Marks the classes of ASCII characters in up to PretokenMasks::kBytes bytes, and the bytes of other characters.
void mark_pretoken_classes(const uint8_t* text, size_t size, bool cased, PretokenMasks* masks) {
  for_each_block(text, size, [&](const Block& block, size_t at, size_t count) {
    const uint64_t inside = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    const uint64_t upper = block.range('A', 'Z'), lower = block.range('a', 'z'), number = block.range('0', '9');
    const uint64_t space = block.eq(' ') | block.range('\t', '\r'), wide = block.high();
    const size_t i = at / 64;
    masks->upper[i] = cased ? upper : upper | lower;
    masks->lower[i] = cased ? lower : 0;
    masks->number[i] = number;
    masks->space[i] = space;
    masks->wide[i] = wide;
    masks->other[i] = ~(upper | lower | number | space | wide) & inside;
  });
  for (size_t i = (size + 63) / 64; i < PretokenMasks::kWords; ++i)
    masks->upper[i] = masks->lower[i] = masks->number[i] = masks->space[i] = masks->wide[i] = masks->other[i] = 0;
}

// The most bytes of a run that a window shows whole.
constexpr size_t kWindow = 56;
// Longer pre-tokens are left to the slow function, which checks that their ends fit in 32 bits.
constexpr size_t kLong = 1 << 20;

// Returns the bits from bit `at` on. The highest 7 bits may be missing.
inline uint64_t window(const uint64_t* mask, size_t at) {
  uint64_t bits;
  memcpy(&bits, reinterpret_cast<const uint8_t*>(mask) + at / 8, sizeof bits);
  return bits >> at % 8;
}
inline bool bit(const uint64_t* mask, size_t at) { return mask[at / 64] >> at % 64 & 1; }
inline uint64_t below(size_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }
// Returns the number of set bits at the low end.
inline size_t run(uint64_t bits) { return bits == ~uint64_t{0} ? 64 : static_cast<size_t>(__builtin_ctzll(~bits)); }
inline size_t character_length(uint8_t first) { return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4; }

// Returns the length of the contraction that follows the apostrophe text[at], including the apostrophe, or 0.
inline size_t contraction(const uint8_t* text, size_t at, size_t end, bool any_case) {
  if (at + 1 >= end) return 0;
  const uint8_t fold = any_case ? 0x20 : 0;
  const uint8_t first = text[at + 1];
  switch (first < 0x80 ? first | fold : first) {
    case 's':
    case 'd':
    case 'm':
    case 't':
      return 2;
    case 'l':
      return at + 2 < end && (text[at + 2] | fold) == 'l' ? 3 : 0;
    case 'v':
    case 'r':
      return at + 2 < end && (text[at + 2] | fold) == 'e' ? 3 : 0;
    case 0xC5:  // U+017F, whose lower case is s
      return any_case && at + 2 < end && text[at + 2] == 0xBF ? 3 : 0;
    default:
      return 0;
  }
}

// Writes the ends of pre-tokens from scan.at on, until `stop` is reached, `room` pre-tokens are written, or one is
// found that only the slow function can delimit. The text ends at `end`; all positions count from `text`.
PretokenScan scan_pretokens(const PretokenRules& rules, const PretokenMasks& masks, const uint8_t* text, size_t at,
                            size_t stop, size_t end, uint32_t* ends, size_t room) {
  size_t count = 0;
  while (at < stop && count < room) {
    const uint8_t c = text[at];
    size_t to;
    size_t prefix;
    if (c < 0x80) {
      const bool is_word = static_cast<uint8_t>((c | 0x20) - 'a') < 26, is_digit = static_cast<uint8_t>(c - '0') < 10;
      prefix = rules.any_prefix ? !is_word && !is_digit && c != '\n' && c != '\r' : c == ' ';
    } else if (bit(masks.upper, at) || bit(masks.lower, at)) {
      if (bit(masks.other, at)) return {at, count, true};  // a mark, which may be a prefix or part of the word
      prefix = 0;
    } else {
      prefix = rules.any_prefix && !bit(masks.number, at) ? character_length(c) : 0;
    }
    if (c == '\'' && rules.contractions != Contractions::kAfterWord) {
      if (const size_t length = contraction(text, at, end, rules.contractions == Contractions::kBeforeAnyCase)) {
        to = at + length;
        ends[count++] = static_cast<uint32_t>(to);
        at = to;
        continue;
      }
    }
    const size_t from = at + prefix;
    if (from < end) {
      const uint64_t inside = below(end - from);
      const uint64_t upper = window(masks.upper, from) & inside, lower = window(masks.lower, from) & inside;
      const size_t first = run(upper), second = run(lower >> (first & 63));
      size_t length = first + second;
      if (length > 0) {
        if (length > kWindow) return {at, count, true};
        if (second == 0) {
          const uint64_t both = upper & lower & below(first);
          if (both != 0) length = 64 - static_cast<size_t>(__builtin_clzll(both));
        }
        to = from + length;
        if (rules.contractions == Contractions::kAfterWord && to < end && text[to] == '\'')
          to += contraction(text, to, end, true);
        ends[count++] = static_cast<uint32_t>(to);
        at = to;
        continue;
      }
    }

    const bool spaced = c == ' ' && at + 1 < end;
    size_t begin = at + (spaced && (bit(masks.other, at + 1) || (rules.most_digits == 0 && bit(masks.number, at + 1))));
    if (bit(masks.number, begin)) {
      if (rules.most_digits == 0) {
        const size_t length = run(window(masks.number, begin) & below(end - begin));
        if (length > kWindow) return {at, count, true};
        to = begin + length;
      } else {
        to = begin;
        for (int i = 0; i < rules.most_digits && to < end && bit(masks.number, to); ++i)
          to += character_length(text[to]);
      }
    } else if (bit(masks.other, begin)) {
      const size_t length = run(window(masks.other, begin) & below(end - begin));
      if (length > kWindow) return {at, count, true};
      to = begin + length;
      if (rules.lines_after_marks)
        while (to < end && (text[to] == '\n' || text[to] == '\r' || (rules.slashes_after_marks && text[to] == '/')))
          ++to;
      if (to - at > kLong) return {at, count, true};
    } else {
      const size_t length = run(window(masks.space, at) & below(end - at));
      if (length > kWindow || length == 0) return {at, count, true};
      const size_t whole = at + length;
      to = 0;
      if (rules.lines_end_spaces && !(rules.whole_tail && whole == end)) {
        size_t line = whole;
        while (line > at && text[line - 1] != '\n' && text[line - 1] != '\r') --line;
        if (line > at) to = line;
      }
      if (to == 0) {
        to = whole;
        if (whole < end) {
          do --to;
          while ((text[to] & 0xC0) == 0x80);
          if (to == at) to = whole;
        }
      }
    }
    ends[count++] = static_cast<uint32_t>(to);
    at = to;
  }
  return {at, count, false};
}

}  // namespace
}  // namespace pychunk
