// The role of single characters in sentence splitting. Scripts without case have Case::kNone.
#pragma once
#include <cstdint>

namespace pychunk {

enum class Case : uint8_t { kNone, kLower, kUpper };

inline Case case_of(char32_t c) {
  const auto alternate = [&](bool even_is_upper) {
    return ((c & 1) == 0) == even_is_upper ? Case::kUpper : Case::kLower;
  };
  if (c < 0x80) {
    if (c >= 'a' && c <= 'z') return Case::kLower;
    return c >= 'A' && c <= 'Z' ? Case::kUpper : Case::kNone;
  }
  if (c < 0xC0) return c == 0xB5 ? Case::kLower : Case::kNone;
  if (c < 0x100) return c == 0xD7 || c == 0xF7 ? Case::kNone : c < 0xDF ? Case::kUpper : Case::kLower;
  if (c < 0x180) {
    if (c == 0x138 || c == 0x149 || c == 0x17F) return Case::kLower;
    if (c == 0x178) return Case::kUpper;
    return alternate(!((c >= 0x139 && c <= 0x148) || c >= 0x179));
  }
  // These are Latin letters of Romanian, Pinyin, Livonian and others. African letters are omitted, because their cases
  // follow no pattern.
  if (c < 0x250) {
    if (c >= 0x1CD && c <= 0x1DC) return alternate(false);
    const bool pairs = (c >= 0x1DE && c <= 0x1EF) || (c >= 0x1F8 && c <= 0x21F) || (c >= 0x222 && c <= 0x233) ||
                       (c >= 0x246 && c <= 0x24F);
    return pairs ? alternate(true) : Case::kNone;
  }
  if (c >= 0x386 && c <= 0x3CE) {
    if (c == 0x387 || c == 0x38B || c == 0x38D || c == 0x3A2) return Case::kNone;
    return c >= 0x3AC || c == 0x390 ? Case::kLower : Case::kUpper;
  }
  if (c >= 0x400 && c <= 0x52F) {
    if (c < 0x460) return c < 0x430 ? Case::kUpper : Case::kLower;
    if (c >= 0x482 && c <= 0x489) return Case::kNone;
    if (c == 0x4CF) return Case::kLower;
    return alternate(!(c > 0x4C0 && c < 0x4CF));
  }
  if (c >= 0x531 && c <= 0x556) return Case::kUpper;
  if (c >= 0x561 && c <= 0x587) return Case::kLower;
  if (c >= 0x1E00 && c <= 0x1EFF) return c >= 0x1E96 && c <= 0x1E9D ? Case::kLower : alternate(true);
  return Case::kNone;
}

inline bool is_ascii_lower(char c) { return c >= 'a' && c <= 'z'; }
inline bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char32_t c) { return case_of(c) != Case::kNone || (c >= 0x5D0 && c < 0x2000) || c >= 0x2C00; }

// Returns whether c is a letter of a caseless alphabet, which may be an initial. Chinese and Japanese characters are
// not.
inline bool is_caseless(char32_t c) { return is_letter(c) && case_of(c) == Case::kNone && c < 0x2000; }

// Returns whether c is an ASCII digit or a digit of a caseless alphabet.
inline bool is_script_digit(char32_t c) {
  if (c < 0x660) return is_digit(c);
  if (c < 0x900) return c <= 0x669 || (c >= 0x6F0 && c <= 0x6F9) || (c >= 0x7C0 && c <= 0x7C9);
  if (c < 0xE00) return (c & 0x7F) >= 0x66 && (c & 0x7F) <= 0x6F;
  if (c < 0xF00) return (c & 0x7F) >= 0x50 && (c & 0x7F) <= 0x59;
  return (c >= 0xF20 && c <= 0xF29) || (c >= 0x1040 && c <= 0x1049);
}

inline bool is_greek(char32_t c) { return (c >= 0x370 && c < 0x400) || (c >= 0x1F00 && c < 0x2000); }

// Returns whether c is a vowel sign or other mark of the scripts of India and Sri Lanka, which belongs to a letter.
inline bool is_sign(char32_t c) {
  const char32_t at = c & 0x7F;
  if (c >= 0xD80 && c <= 0xDFF) return at == 0x02 || at == 0x03 || (at >= 0x4A && at <= 0x5F) || at >= 0x72;
  if (c < 0x900 || c >= 0xD80) return false;
  return at <= 3 || at == 0x3C || (at >= 0x3E && at <= 0x4D) || (at >= 0x55 && at <= 0x57) || at == 0x62 || at == 0x63;
}

// Returns whether c is a stop after which a sentence may end only before white space. Joined stops, below, need none.
inline bool is_spaced_stop(char32_t c) {
  switch (c) {
    case '.':
    case '!':
    case '?':
    case 0x2026:
    case 0x203C:
    case 0x203D:
    case 0x2047:
    case 0x2048:
    case 0x2049:
    case 0x61F:
    case 0x6D4:
    case 0x37E:
    case 0x589:
    case 0x964:
    case 0x965:
    case 0xF0D:
    case 0xF0E:
    case 0xF0F:
    case 0xF10:
    case 0xF11:
    case 0x1362:
    case 0x1367:
    case 0x17D4:
    case 0x17D5:
    case 0x104A:
    case 0x104B:
      return true;
    default:
      return false;
  }
}
inline bool is_shad(char32_t c) { return c >= 0xF0D && c <= 0xF11; }
inline bool is_joined_stop(char32_t c) { return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF61; }
inline bool is_stop(char32_t c) { return is_spaced_stop(c) || is_joined_stop(c); }

inline bool is_closer(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '}':
    case 0xBB:
    case 0xAB:
    case 0x2019:
    case 0x201D:
    case 0x201C:
    case 0x203A:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0x3015:
    case 0x3009:
    case 0x300B:
    case 0xFF09:
    case 0xFF3D:
      return true;
    default:
      return false;
  }
}
inline bool is_opener_mark(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case '(':
    case '[':
    case '{':
    case '*':
    case '_':
    case 0xAB:
    case 0xBB:
    case 0x2018:
    case 0x2019:
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201A:
    case 0x2039:
    case 0xBF:
    case 0xA1:
      return true;
    default:
      return false;
  }
}

}  // namespace pychunk
