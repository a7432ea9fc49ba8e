#include "text/recursive.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr size_t kWindow = 1024;  // boundaries found at a time: 16 kB with their counts, which stays in L1

// Counts the characters of text [begin, end), the white space at the end of a piece. Usually this is one character or
// none.
int64_t count_trimmed(std::string_view text, int64_t begin, int64_t end) {
  int64_t n = 0;
  for (int64_t i = begin; i < end; ++i) n += !continues_character(as_bytes(text)[i]);
  return n;
}

}  // namespace

RecursiveSplitter::RecursiveSplitter(const RecursiveOptions& options) : options_(options) {
  if (options.size < 1) throw std::invalid_argument("size must be >= 1, got " + std::to_string(options.size));
  if (options.overlap < 0 || options.overlap > options.size)
    throw std::invalid_argument("overlap must be between 0 and size (" + std::to_string(options.size) + "), got " +
                                std::to_string(options.overlap));
  if (options.separators.empty()) throw std::invalid_argument("separators must hold at least one string");
  for (const std::string& separator : options.separators) {
    ladder_.push_back({.kind = separator.empty() ? Kind::kCharacter : Kind::kSeparator,
                       .separator = separator,
                       .border = {},
                       .units = {}});
    if (separator.empty()) break;  // nothing is finer than a character
  }
}

void RecursiveSplitter::split(const RecursiveInput& input, std::vector<Piece>& out) {
  input_ = input;
  out_ = &out;
  const int64_t begin = input.begin, end = input.end;
  if (begin == end) return;
  int64_t units = 0;
  if (options_.unit == Unit::kCharacters)
    units = count_characters(slice(input.buffer, begin, end));
  else if (options_.unit == Unit::kTokens)
    units = static_cast<int64_t>(tokens_before(end) - tokens_before(begin));
  unit_is_byte_ = options_.unit == Unit::kCharacters && units == end - begin;
  split_section(0, begin, end, units);
}

// Splits a section at the first separator that occurs in it, and merges runs of short splits. The depth of the
// recursion is at most the number of separators.
void RecursiveSplitter::split_section(size_t rung, int64_t begin, int64_t end, int64_t units) {
  while (rung < ladder_.size() && !open(ladder_[rung], begin, end)) ++rung;
  if (rung == ladder_.size()) return emit(begin, end, units);

  Level& level = ladder_[rung];
  const int64_t size = options_.size, overlap = options_.overlap;
  size_t first = 0, next = 0;  // the current chunk has the splits first .. next - 1
  while (true) {
    const size_t known = level.count;
    const int64_t* border = level.border.data();
    const int64_t* sum = units_of(level);
    for (; next + 1 < known; ++next) {
      // Like LangChain, this also splits a split of exactly `size`, and counts white space at the end of a piece.
      const int64_t after = sum[next + 1];
      if (after - sum[first] <= size && after - sum[next] < size) continue;
      if (next > first) {
        if (const size_t last = emit(level, first, next); last < next) {  // the other splits begin the next piece
          next = last;
          first = after_overlap(sum, first, next);
          --next;
          continue;
        }
      }
      if (after - sum[next] >= size) {
        split_section(rung + 1, border[next], border[next + 1], sum[next + 1] - sum[next]);
        first = next + 1;
        continue;
      }
      while (first < next && (sum[next] - sum[first] > overlap || after - sum[first] > size)) ++first;
      // A split of size 0 is no overlap. If no overlap is requested, nothing at all may be repeated.
      while (first < next && sum[first + 1] == sum[first]) ++first;
    }
    if (level.complete) break;
    if (first > known / 2) {  // only if over half are done, so that each boundary is moved at most once
      std::copy(border + first, border + known, level.border.begin());
      if (!unit_is_byte_) std::copy(sum + first, sum + known, level.units.begin());
      level.count -= first;
      next -= first;
      first = 0;
    }
    refill(level);
  }
  while (next > first) {
    const size_t last = emit(level, first, next);
    if (last == next) break;
    first = after_overlap(units_of(level), first, last);
  }
}

// Returns the first split of the piece after the piece of the splits first .. last - 1.
size_t RecursiveSplitter::after_overlap(const int64_t* sum, size_t first, size_t last) const {
  ++first;
  while (first < last && (sum[last] - sum[first] > options_.overlap || sum[first + 1] == sum[first])) ++first;
  return first;
}

// Emits the splits first .. last - 1 as one piece, without those at its end with which it is larger than `size`, and
// returns the end of the piece.
size_t RecursiveSplitter::emit(const Level& level, size_t first, size_t last) {
  const int64_t* border = level.border.data();
  if (input_.count)
    while (last > first + 1 && input_.count(border[first], border[last]) > options_.size) --last;
  emit(border[first], border[last], units_of(level)[last] - units_of(level)[first]);
  return last;
}

const int64_t* RecursiveSplitter::units_of(const Level& level) const {
  return (unit_is_byte_ ? level.border : level.units).data();
}

// Starts to split [begin, end) at this level. Returns false if its separator does not occur.
bool RecursiveSplitter::open(Level& level, int64_t begin, int64_t end) {
  level.cursor = begin;
  level.end = end;
  level.complete = false;
  level.count = 1;
  if (level.border.empty()) level.border.resize(1), level.units.resize(1);
  level.border[0] = begin;
  level.units[0] = 0;
  if (options_.unit == Unit::kTokens) {
    level.token = tokens_before(begin);
    level.units[0] = static_cast<int64_t>(level.token);
  }
  // A separator at the very start adds no boundary, but it counts as an occurrence.
  const bool at_start = level.kind == Kind::kSeparator && slice(input_.buffer, begin, end).starts_with(level.separator);
  if (at_start) level.cursor += static_cast<int64_t>(level.separator.size());
  refill(level);
  return at_start || level.kind == Kind::kCharacter || level.count > 2;
}

// Finds and measures the next window of boundaries. The end of the section follows the last one.
void RecursiveSplitter::refill(Level& level) {
  checkpoint();
  const size_t first = level.count;
  if (level.border.size() < first + kWindow + 1) {
    level.border.resize(std::max(first + kWindow + 1, level.border.size() * 2));
    level.units.resize(level.border.size());
  }
  const size_t found = find_borders(level, level.border.data() + first, kWindow);
  level.count += found;
  if (found < kWindow) {
    level.border[level.count++] = level.end;
    level.complete = true;
  }
  measure(level, first);
}

// Writes up to `room` boundaries after the cursor, and fewer only if there are no more. Boundaries are inside the
// section, never at its ends.
size_t RecursiveSplitter::find_borders(Level& level, int64_t* out, size_t room) {
  const uint8_t* text = as_bytes(input_.buffer);
  const size_t begin = static_cast<size_t>(level.cursor), end = static_cast<size_t>(level.end);
  size_t n = 0;
  switch (level.kind) {
    case Kind::kSeparator:
      n = kernels().find_separator(text, begin, end, as_bytes(level.separator), level.separator.size(), out, room);
      if (n > 0) level.cursor = out[n - 1] + static_cast<int64_t>(level.separator.size());
      break;
    case Kind::kCharacter: {
      int64_t i = level.cursor;
      while (n < room) {
        i = next_border(input_.buffer, i + 1, level.end);
        if (i >= level.end) break;
        out[n++] = i;
      }
      level.cursor = i;
      break;
    }
  }
  return n;
}

// Computes the sums up to the boundaries from `first` on. The sum up to the boundary before is known.
void RecursiveSplitter::measure(Level& level, size_t first) {
  const size_t n = level.count - first;
  if (unit_is_byte_ || n == 0) return;
  const uint8_t* text = as_bytes(input_.buffer);
  const int64_t* at = level.border.data() + first;
  int64_t* sums = level.units.data() + first;
  const size_t begin = static_cast<size_t>(at[-1]);
  switch (options_.unit) {
    case Unit::kCharacters:
      return kernels().count_characters_at(text, begin, at, n, sums[-1], sums);
    case Unit::kWords:
      return kernels().count_words_at(text, begin, at, n, sums[-1], sums);
    case Unit::kTokens: {
      const auto starts = input_.token_starts;
      for (size_t i = 0; i < n; ++i) {
        while (level.token < starts.size() && starts[level.token] < at[i]) ++level.token;
        sums[i] = static_cast<int64_t>(level.token);
      }
    }
  }
}

void RecursiveSplitter::emit(int64_t start, int64_t end, int64_t units) {
  const std::string_view text = input_.buffer;
  const auto [from, to] = trim(text, start, end);
  if (from == to) return;
  switch (options_.unit) {
    case Unit::kCharacters:
      units -= count_trimmed(text, start, from) + count_trimmed(text, to, end);
      break;
    // The words are counted again, because the sum `units` counts a word once for each split that contains part of it.
    case Unit::kWords:
      kernels().count_words_at(as_bytes(text), static_cast<size_t>(from), &to, 1, 0, &units);
      break;
    case Unit::kTokens:
      if (from != start || to != end) units = static_cast<int64_t>(tokens_before(to) - tokens_before(from));
  }
  out_->push_back({from, to, units});
}

size_t RecursiveSplitter::tokens_before(int64_t offset) const {
  const auto starts = input_.token_starts;
  return static_cast<size_t>(std::lower_bound(starts.begin(), starts.end(), offset) - starts.begin());
}

}  // namespace pychunk
