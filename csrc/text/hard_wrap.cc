#include "text/hard_wrap.h"

#include <algorithm>

#include "common/interrupt.h"
#include "text/characters.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr int64_t kNarrowest = 16, kLoosest = 30, kWidest = 200;

bool blank(std::string_view line) { return line.find_first_not_of(" \t\r\v\f") == std::string_view::npos; }

std::string_view line_from(std::string_view text, int64_t begin) {
  const std::string_view rest = text.substr(static_cast<size_t>(begin));
  return rest.substr(0, rest.find('\n'));
}

std::string_view line_before(std::string_view text, int64_t end) {
  const std::string_view head = text.substr(0, static_cast<size_t>(end));
  const size_t at = head.rfind('\n');
  return at == std::string_view::npos ? head : head.substr(at + 1);
}

std::string_view stripped(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t>");  // '>' quotes e-mail
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

// Returns the width in characters, not bytes, so that lines of Cyrillic and Latin are equally wide.
int64_t columns(std::string_view s) {
  return std::count_if(s.begin(), s.end(), [](uint8_t byte) { return !continues_character(byte); });
}

// Returns the width up to the white space at the line's end.
int64_t line_columns(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? 0 : columns(line.substr(0, last + 1));
}

int64_t first_word(std::string_view line) {
  const std::string_view inside = stripped(line);
  return columns(inside.substr(0, std::min(inside.find(' '), inside.size())));
}

bool full(std::string_view line, std::string_view next, int64_t width) {
  return line_columns(line) + 1 + first_word(next) > width;
}

bool begins_item_or_heading_or_row(std::string_view line) {
  const std::string_view s = stripped(line);
  if (s.empty()) return true;
  if (s[0] == '#' || s[0] == '|' || s[0] == '+' || s.substr(0, 3) == "```" || s.substr(0, 3) == "===" ||
      s.substr(0, 3) == "---")
    return true;
  const auto space_at = [&](size_t i) { return i < s.size() && (s[i] == ' ' || s[i] == '\t'); };
  if ((s[0] == '-' || s[0] == '*' || s[0] == '+') && space_at(1)) return true;
  if (s.substr(0, 3) == "\u2022" && space_at(3)) return true;
  size_t digits = 0;
  while (digits < s.size() && digits < 4 && s[digits] >= '0' && s[digits] <= '9') ++digits;
  if (digits > 0 && digits < s.size() && (s[digits] == '.' || s[digits] == ')') && space_at(digits + 1)) return true;
  return s.size() > 2 && ((s[0] >= 'a' && s[0] <= 'z') || (s[0] >= 'A' && s[0] <= 'Z')) && s[1] == ')' && space_at(2);
}

bool ends_in_hyphen(std::string_view line, size_t& hyphen) {
  if (line.ends_with("\u2010")) return hyphen = line.size() - 3, true;
  return line.ends_with('-') ? (hyphen = line.size() - 1, true) : false;
}

// Returns whether a line ends with an ASCII mark or digit other than a hyphen.
bool closes_line(std::string_view line) {
  const char c = line[line.find_last_not_of(" \t\r")];
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return static_cast<unsigned char>(c) < 0x80 && !letter && c != '-';
}

std::string_view word_of(std::string_view line) {
  const std::string_view inside = stripped(line);
  return inside.substr(0, std::min(inside.find(' '), inside.size()));
}

// Counts of the lines that are followed by another line of their block. `number` counts all of them. Each other field
// except `spare` counts those for which its comment is true.
struct FilledLines {
  int64_t number = 0;
  int64_t full = 0;      // the next line's first word would not have fitted
  int64_t filled = 0;    // full, or at most a fifth of the width is free
  int64_t spare = 0;     // sum over these lines: the columns at which a line could end without being full
  int64_t capitals = 0;  // the next line begins with a capital
  int64_t marked = 0;    // the next line begins with a digit or a mark, as in records and table rows
  int64_t parted = 0;    // the next line begins with a capital, digit or mark, and this one ends with a mark or digit
  int64_t repeated = 0;  // both lines begin with the same word
};

bool is_wrapped(const FilledLines& seen, int64_t width) {
  if (2 * std::max({seen.marked, seen.parted, seen.repeated}) > seen.number) return false;
  // At least six in seven lines are full, and there are enough lines to decide: three lines of 72 columns, or four of
  // 28.
  if (7 * (seen.number - seen.full) <= seen.number && 4 * seen.spare >= 9 * width) {
    // In verse and lists every line begins with a capital. Names also have capitals, but the lines of lists rarely fill
    // a wide page.
    if (8 * (seen.capitals + seen.marked) <= 7 * seen.number) return true;
    if (4 * seen.parted <= seen.number && (width >= 50 || 2 * seen.spare >= 9 * width)) return true;
  }
  // Edited text is filled loosely, and a fifth of the width may be free. Verse is loose too, but most of its lines
  // begin with a capital.
  const bool loose = width >= kLoosest && 4 * seen.filled >= 3 * seen.number && 5 * seen.capitals <= 3 * seen.number;
  return loose && 3 * seen.parted <= seen.number;
}

}  // namespace

bool has_long_lines(std::string_view text, size_t line_breaks) {
  const size_t widest = static_cast<size_t>(kWidest) * (line_breaks + 1);
  return text.size() > widest && static_cast<size_t>(count_characters(text)) > widest;
}

int64_t wrap_width(std::string_view text, const std::vector<int64_t>& line_breaks) {
  // In most texts each paragraph is one line. Such lines are longer on average than any hard-wrapped line, so the text
  // is rejected before its lines are examined one by one.
  if (line_breaks.size() < 3 || has_long_lines(text, line_breaks.size())) return 0;
  struct Inner {
    int64_t length, next_word;
    bool capital, marked, parted, repeated;
  };
  std::vector<Inner> inner;  // lines followed by another line of their block
  int64_t begin = 0, line_number = 0;
  bool fenced = false;  // inside a block of code, whose lines nobody filled
  for (const int64_t end : line_breaks) {
    const std::string_view line = slice(text, begin, end);
    const std::string_view next = line_from(text, end + 1);
    checkpoint_each(line_number++, 4096);
    begin = end + 1;
    const bool fence = stripped(line).substr(0, 3) == "```";
    fenced ^= fence;
    if (fence || fenced || stripped(line).substr(0, 1) == "|") continue;
    if (blank(line) || blank(next) || begins_item_or_heading_or_row(next)) continue;
    const char32_t first = decode_utf8(stripped(next), 0).code_point;
    const bool capital = case_of(first) == Case::kUpper, marked = !is_letter(first);
    inner.push_back({line_columns(line), first_word(next), capital, marked, (capital || marked) && closes_line(line),
                     word_of(line) == word_of(next)});
  }
  if (inner.size() < 3) return 0;
  // Nine in ten lines keep to the width. A link or formula too long for any line does not determine it.
  std::vector<int64_t> lengths;
  for (const Inner& line : inner) lengths.push_back(line.length);
  const auto tenth = lengths.end() - 1 - static_cast<int64_t>(lengths.size() / 10);
  std::nth_element(lengths.begin(), tenth, lengths.end());
  const int64_t width = *tenth;
  if (width < kNarrowest || width > kWidest) return 0;
  FilledLines seen;
  for (const Inner& line : inner) {
    const int64_t with_word = line.length + 1 + line.next_word;
    ++seen.number;
    seen.full += with_word > width;
    seen.filled += with_word > width - width / 5;
    seen.spare += std::max<int64_t>(0, width - 1 - line.next_word);
    seen.capitals += line.capital;
    seen.marked += line.marked;
    seen.parted += line.parted;
    seen.repeated += line.repeated;
  }
  return is_wrapped(seen, width) ? width : 0;
}

bool hyphen_parts(std::string_view text, int64_t at) {
  // Most lines end without a hyphen, which a look at the last byte reveals.
  int64_t end = at;
  while (end > 0 && (text[static_cast<size_t>(end) - 1] == ' ' || text[static_cast<size_t>(end) - 1] == '\t' ||
                     text[static_cast<size_t>(end) - 1] == '\r'))
    --end;
  size_t hyphen = 0;
  if (!ends_in_hyphen(slice(text, 0, end), hyphen) || hyphen == 0) return false;
  const std::string_view after = stripped(line_from(text, at + 1));
  return is_letter(decode_utf8(text, character_before(text, static_cast<int64_t>(hyphen))).code_point) &&
         !after.empty() && case_of(decode_utf8(after, 0).code_point) == Case::kLower;
}

bool line_break_separates(std::string_view text, int64_t at, int64_t width) {
  const std::string_view before = line_before(text, at), after = line_from(text, at + 1);
  if (blank(before) || blank(after) || begins_item_or_heading_or_row(after)) return true;
  const std::string_view s = stripped(before);
  if (!s.empty() && (s[0] == '#' || s[0] == '|')) return true;
  return !full(before, after, 3 * width / 4) &&
         // A short line is a unit by itself, such as a heading or a signature.
         !hyphen_parts(text, at);
}

}  // namespace pychunk
