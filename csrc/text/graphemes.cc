#include "text/graphemes.h"

#include <algorithm>
#include <iterator>

#include "text/characters.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

#include "text/grapheme_tables.inc"

bool between(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool is_regional(char32_t c) { return between(c, 0x1F1E6, 0x1F1FF); }
// Returns whether a joiner may join c. The ranges include some symbols near emoji, which never follow a joiner.
bool is_pictographic(char32_t c) {
  return c == 0xA9 || c == 0xAE || between(c, 0x203C, 0x3299) || between(c, 0x1F000, 0x1FFFD);
}
// Returns whether c joins the consonants before and after it, in Devanagari, Bengali, Gujarati, Oriya, Telugu or
// Malayalam.
bool is_linker(char32_t c) { return c == 0x94D || c == 0x9CD || c == 0xACD || c == 0xB4D || c == 0xC4D || c == 0xD4D; }
bool is_consonant(char32_t c, char32_t linker) {
  const char32_t at = c & 0x7F;  // Indic scripts have the same layout in Unicode
  return (c & ~char32_t{0x7F}) == (linker & ~char32_t{0x7F}) && (between(at, 0x15, 0x39) || between(at, 0x58, 0x5F));
}

enum class Hangul { kNone, kLead, kVowel, kTail, kOpen, kClosed };
Hangul hangul_of(char32_t c) {
  if (between(c, 0x1100, 0x115F) || between(c, 0xA960, 0xA97C)) return Hangul::kLead;
  if (between(c, 0x1160, 0x11A7) || between(c, 0xD7B0, 0xD7C6)) return Hangul::kVowel;
  if (between(c, 0x11A8, 0x11FF) || between(c, 0xD7CB, 0xD7FB)) return Hangul::kTail;
  if (!between(c, 0xAC00, 0xD7A3)) return Hangul::kNone;
  return (c - 0xAC00) % 28 == 0 ? Hangul::kOpen : Hangul::kClosed;
}
bool is_one_syllable(Hangul before, Hangul after) {
  switch (before) {
    case Hangul::kLead:
      return after == Hangul::kLead || after == Hangul::kVowel || after == Hangul::kOpen || after == Hangul::kClosed;
    case Hangul::kVowel:
    case Hangul::kOpen:
      return after == Hangul::kVowel || after == Hangul::kTail;
    case Hangul::kTail:
    case Hangul::kClosed:
      return after == Hangul::kTail;
    case Hangul::kNone:
      return false;
  }
  return false;
}

// Returns whether a cluster ends at `at`, between two characters of text. `begin` is a boundary.
bool is_cluster_border(std::string_view text, int64_t begin, int64_t at) {
  const char32_t after = decode_utf8(text, at).code_point;
  if (extends_cluster(after)) return false;
  int64_t i = character_before(text, at, begin);
  const char32_t before = decode_utf8(text, i).code_point;
  if (before == 0x200D && is_pictographic(after)) return false;
  if (is_one_syllable(hangul_of(before), hangul_of(after))) return false;
  if (is_regional(before) && is_regional(after)) {
    int64_t flags = 1;  // regional letters before `at`: an even number makes whole flags
    while (i > begin && is_regional(decode_utf8(text, i = character_before(text, i, begin)).code_point)) ++flags;
    return flags % 2 == 0;
  }
  for (char32_t c = before; extends_cluster(c); c = decode_utf8(text, i).code_point) {
    if (is_linker(c)) return !is_consonant(after, c);
    if (i == begin) break;
    i = character_before(text, i, begin);
  }
  return true;
}

bool is_ideograph(char32_t c) {
  return between(c, 0x3041, 0x30FF) || between(c, 0x31F0, 0x31FF) || between(c, 0x3400, 0x4DBF) ||
         between(c, 0x4E00, 0x9FFF) || between(c, 0xF900, 0xFAFF) || between(c, 0x20000, 0x3FFFD);
}
// Returns whether c is Thai, Lao, Burmese or Khmer.
bool is_unspaced(char32_t c) {
  return between(c, 0xE01, 0xE4E) || between(c, 0xE81, 0xECD) || between(c, 0x1000, 0x109F) ||
         between(c, 0x1780, 0x17D3);
}
// Returns whether c is a letter or digit of a script that separates words by spaces.
bool is_of_word(char32_t c) {
  return is_digit(c) || (c < 0x2000 && is_letter(c)) || between(c, 0xAC00, 0xD7A3) || between(c, 0xFF10, 0xFF19) ||
         between(c, 0xFF21, 0xFF3A) || between(c, 0xFF41, 0xFF5A);
}

}  // namespace

bool extends_cluster(char32_t c) {
  if (c < 0x300) return false;
  size_t low = 0, high = std::size(kExtendRuns) / 2;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (kExtendRuns[2 * middle + 1] < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < std::size(kExtendRuns) / 2 && kExtendRuns[2 * low] <= c;
}

int64_t cluster_border(std::string_view text, int64_t begin, int64_t at) {
  for (int64_t i = at; i > begin; i = character_before(text, i, begin))
    if (i >= static_cast<int64_t>(text.size()) || is_cluster_border(text, begin, i)) return i;
  return at;
}

int64_t words_of_run(std::string_view run) {
  int64_t words = 0;
  bool inside = false;  // in a word of letters of other scripts
  for (size_t i = 0; i < run.size();) {
    const Decoded c = decode_utf8(run, static_cast<int64_t>(i));
    i += static_cast<size_t>(c.length);
    const bool ideograph = is_ideograph(c.code_point);
    if (ideograph || is_unspaced(c.code_point)) {
      words += ideograph || !extends_cluster(c.code_point);
      inside = false;
    } else if (!inside && is_of_word(c.code_point)) {
      ++words, inside = true;
    }
  }
  return std::max<int64_t>(1, words);
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || c == 0x180E || c == 0x200B || c == 0x200E ||
         c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF0 && c <= 0xFFFB) || (c >= 0x13430 && c <= 0x1343F) || (c >= 0x1BCA0 && c <= 0x1BCA3) ||
         (c >= 0x1D173 && c <= 0x1D17A) || (c >= 0xE0000 && c <= 0xE001F) || (c >= 0xE0080 && c <= 0xE00FF) ||
         (c >= 0xE01F0 && c <= 0xE0FFF);
}

bool prepends_cluster(char32_t c) {
  return (c >= 0x600 && c <= 0x605) || c == 0x6DD || c == 0x70F || c == 0x890 || c == 0x891 || c == 0x8E2 ||
         c == 0xD4E || c == 0x110BD || c == 0x110CD || c == 0x111C2 || c == 0x111C3 || c == 0x113D1 || c == 0x1193F ||
         c == 0x11941 || (c >= 0x11A84 && c <= 0x11A89) || c == 0x11D46 || c == 0x11F02;
}

std::vector<uint32_t> cluster_extending() { return {std::begin(kExtendRuns), std::end(kExtendRuns)}; }

}  // namespace pychunk
