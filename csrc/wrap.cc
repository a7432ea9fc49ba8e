#include "wrap.h"

#include <algorithm>

#include "characters.h"
#include "interrupt.h"
#include "utf8_text.h"

namespace pychunk {
namespace {

constexpr int64_t kNarrowest = 30, kWidest = 200;

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

// Characters, not bytes: a line of Cyrillic is as wide as one of Latin.
int64_t columns(std::string_view s) {
  return std::count_if(s.begin(), s.end(), [](uint8_t byte) { return !continues_character(byte); });
}

// Columns up to the white space at the line's end.
int64_t line_columns(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? 0 : columns(line.substr(0, last + 1));
}

int64_t first_word(std::string_view line) {
  const std::string_view inside = stripped(line);
  return columns(inside.substr(0, std::min(inside.find(' '), inside.size())));
}

bool begins_with_capital(std::string_view line) {
  const std::string_view inside = stripped(line);
  return !inside.empty() && case_of(decode_utf8(inside, 0).code_point) == Case::kUpper;
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

}  // namespace

int64_t wrap_width(std::string_view text, const std::vector<int64_t>& line_breaks) {
  // Paragraphs of a line each, as in most text, are too long on average: they are not looked at one by one.
  if (line_breaks.size() < 3) return 0;
  const size_t widest = static_cast<size_t>(kWidest) * (line_breaks.size() + 1);
  if (text.size() > widest && static_cast<size_t>(count_characters(text)) > widest) return 0;
  struct Inner {
    int64_t length, next_word;
    bool capital;  // the next line begins with one
  };
  std::vector<Inner> inner;  // lines followed by another of their block
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
    inner.push_back({line_columns(line), first_word(next), begins_with_capital(next)});
  }
  if (inner.size() < 3) return 0;
  // Nine of ten lines keep to the width; a link or a formula that no line could hold does not set it.
  std::vector<int64_t> lengths;
  for (const Inner& line : inner) lengths.push_back(line.length);
  const auto tenth = lengths.end() - 1 - static_cast<int64_t>(lengths.size() / 10);
  std::nth_element(lengths.begin(), tenth, lengths.end());
  const int64_t width = *tenth;
  if (width < kNarrowest || width > kWidest) return 0;
  // Edited text is filled loosely: a fifth of the width may be free. Verse is, too, but each line has a capital.
  int64_t filled = 0, capitals = 0;
  for (const Inner& line : inner) {
    filled += line.length + 1 + line.next_word > width - width / 5;
    capitals += line.capital;
  }
  const auto lines = static_cast<int64_t>(inner.size());
  return 4 * filled >= 3 * lines && 5 * capitals <= 3 * lines ? width : 0;
}

bool line_break_separates(std::string_view text, int64_t at, int64_t width) {
  const std::string_view before = line_before(text, at), after = line_from(text, at + 1);
  if (blank(before) || blank(after) || begins_item_or_heading_or_row(after)) return true;
  const std::string_view s = stripped(before);
  if (!s.empty() && (s[0] == '#' || s[0] == '|')) return true;
  return !full(before, after, 3 * width / 4);  // a short line stands by itself: a heading, a signature
}

}  // namespace pychunk
