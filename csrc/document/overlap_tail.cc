#include "document/overlap_tail.h"

#include <algorithm>
#include <vector>

#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr bool is_wide_comma(char32_t c) { return c == 0x3001 || c == 0xFF0C || c == 0xFF1B || c == 0xFF1A; }

// Return whether a character ends a clause: a comma, semicolon, colon or dash of any script.
constexpr bool ends_clause(char32_t c) {
  return c == ',' || c == ';' || c == ':' || c == 0x2013 || c == 0x2014 || c == 0x60C || c == 0x61B || is_wide_comma(c);
}

}  // namespace

Tail tail_of(std::string_view text, int64_t begin, int64_t end, int64_t most,
             const std::function<int64_t(std::string_view)>& measure) {
  const Trimmed inside = trim(text, begin, end);
  std::vector<int64_t> starts;  // of words, the last one first: at most `most`, as nearly every word measures 1 or more
  const Utf8Text utf8(text);
  for (int64_t at = inside.end; at > inside.begin && static_cast<int64_t>(starts.size()) < most;) {
    const int64_t before = utf8.before(at);
    const bool here = at < inside.end && space_length(text, at) == 0 &&
                      (space_length(text, before) > 0 || is_wide_comma(utf8.at(before)));
    if (here) starts.push_back(at);
    at = before;
  }
  const auto length = [&](int64_t start) {
    return measure(text.substr(static_cast<size_t>(start), static_cast<size_t>(inside.end - start)));
  };
  const auto fitting =
      std::partition_point(starts.begin(), starts.end(), [&](int64_t start) { return length(start) <= most; });
  if (fitting == starts.begin()) return {};
  const int64_t words = *(fitting - 1);
  for (auto start = fitting; start != starts.begin();) {
    --start;
    int64_t before = *start;
    while (before > inside.begin && utf8.space_before(before) > 0) before -= utf8.space_before(before);
    if (!ends_clause(utf8.at(utf8.before(before)))) continue;
    if (const int64_t clause = length(*start); 2 * clause >= most) return {*start, clause};
    break;
  }
  return {words, length(words)};
}

}  // namespace pychunk
