#include "text/folding.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/interrupt.h"
#include "text/paged_cells.h"
#include "text/unicode.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr uint32_t kPoints = 0x110000;
// The constants of Hangul arithmetic (Unicode standard, section 3.12): the first syllable, the first leading consonant,
// the first vowel, and the code point before the first trailing consonant. kLeads, kVowels, kTails and kSyllables are
// the numbers of each.
constexpr uint32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
constexpr uint32_t kLeads = 19, kVowels = 21, kTails = 28, kSyllables = kLeads * kVowels * kTails;
constexpr size_t kRoom = 256;  // more than the bytes that any character becomes

void check_point(uint32_t c) { PYCHUNK_CHECK(c < kPoints, "code points must be below 0x110000, got ", c); }

std::unordered_map<uint32_t, std::vector<uint32_t>> mappings_of(std::span<const uint32_t> rows) {
  std::unordered_map<uint32_t, std::vector<uint32_t>> out;
  for (size_t i = 0; i < rows.size();) {
    PYCHUNK_CHECK(i + 2 <= rows.size() && rows[i + 1] > 0 && rows[i + 1] <= rows.size() - i - 2,
                  "each row must hold a code point, a count and that number of code points");
    const auto to = rows.subspan(i + 2, rows[i + 1]);
    check_point(rows[i]);
    for (const uint32_t c : to) check_point(c);
    out[rows[i]].assign(to.begin(), to.end());
    i += 2 + rows[i + 1];
  }
  return out;
}

}  // namespace

Folding::Folding(const FoldingTables& tables)
    : cases_(mappings_of(tables.cases)),
      decompositions_(mappings_of(tables.decompositions)),
      plain_(mappings_of(tables.plain)),
      second_(kPoints),
      ignored_(kPoints),
      upper_(tables.cases.empty() ? 0 : 26) {
  PYCHUNK_CHECK(tables.classes.size() % 2 == 0 && tables.compositions.size() % 3 == 0 && tables.ignored.size() % 2 == 0,
                "classes and ignored must hold pairs of numbers, and compositions triples");
  for (const uint32_t c : tables.compositions) check_point(c);
  for (size_t i = 0; i < tables.classes.size(); i += 2) {
    check_point(tables.classes[i]);
    classes_[tables.classes[i]] = tables.classes[i + 1];
  }
  for (size_t i = 0; i < tables.compositions.size(); i += 3) {
    const uint32_t* row = tables.compositions.data() + i;
    compositions_[uint64_t{row[0]} << 32 | row[1]] = row[2];
    second_[row[1]] = true;
  }
  std::fill_n(second_.begin() + kVowel, kVowels, true);
  std::fill_n(second_.begin() + kTail + 1, kTails - 1, true);
  std::vector<uint32_t> changing;
  for (size_t i = 0; i < tables.ignored.size(); i += 2) {
    const uint32_t first = tables.ignored[i], last = tables.ignored[i + 1];
    check_point(last);
    for (uint32_t c = first; c <= last; ++c) ignored_[c] = true, changing.push_back(c);
  }
  for (const auto& [c, to] : cases_) changing.push_back(c);
  for (const auto& [c, to] : decompositions_) changing.push_back(c);
  for (const auto& [c, to] : plain_) changing.push_back(c);
  for (const auto& [c, value] : classes_) changing.push_back(c);
  for (size_t i = 1; i < tables.compositions.size(); i += 3) changing.push_back(tables.compositions[i]);
  for (uint32_t c = 0; c < kVowels; ++c) changing.push_back(kVowel + c);
  for (uint32_t c = 1; c < kTails; ++c) changing.push_back(kTail + c);
  std::sort(changing.begin(), changing.end());
  changing.erase(std::unique(changing.begin(), changing.end()), changing.end());
  PagedCells cells;
  for (const uint32_t c : changing) cells.set(c, make(c).bits);
  cells.finish(pages_, cells_);
}

Folding::Cell Folding::make(uint32_t c) {
  const auto cell_of = [](Kind kind, uint32_t value) { return Cell{static_cast<uint32_t>(kind) | value << 2}; };
  Points points{c};
  for (int round = 0; round < 2; ++round) {
    decompose(points);
    if (joins(points.front())) return cell_of(Kind::kJoins, 0);
    compose(points);
  }
  finish(points);
  if (points.size() == 1) return points[0] == c ? Cell{0} : cell_of(Kind::kOther, points[0]);
  const auto index = static_cast<uint32_t>(several_.size());
  several_.push_back(0);
  for (const uint32_t point : points) {
    uint8_t bytes[4];
    several_.insert(several_.end(), bytes, bytes + encode_utf8(point, bytes));
  }
  const size_t length = several_.size() - index - 1;
  PYCHUNK_CHECK(length < kRoom, "a character must fold to fewer than 256 bytes");
  several_[index] = static_cast<uint8_t>(length);
  return cell_of(Kind::kSeveral, index);
}

uint32_t Folding::combining_class(uint32_t c) const {
  const auto found = classes_.find(c);
  return found == classes_.end() ? 0 : found->second;
}

bool Folding::joins(uint32_t decomposed) const { return second_[decomposed] || combining_class(decomposed) != 0; }

void Folding::decompose(Points& points) const {
  Points out;
  const auto append = [&](uint32_t c) {
    if (c - kSyllable < kSyllables) {
      uint32_t jamo[3];
      const int count = decompose_hangul(c, jamo);
      out.insert(out.end(), jamo, jamo + count);
    } else if (const auto found = decompositions_.find(c); found != decompositions_.end()) {
      out.insert(out.end(), found->second.begin(), found->second.end());
    } else {
      out.push_back(c);
    }
  };
  for (const uint32_t c : points) {
    const auto found = cases_.find(c);
    if (found == cases_.end()) {
      append(c);
    } else {
      for (const uint32_t folded : found->second) append(folded);
    }
  }
  const auto starts = [&](uint32_t c) { return combining_class(c) == 0; };
  for (auto marks = out.begin();;) {
    marks = std::find_if_not(marks, out.end(), starts);
    if (marks == out.end()) break;
    const auto end = std::find_if(marks, out.end(), starts);
    std::stable_sort(marks, end, [&](uint32_t a, uint32_t b) { return combining_class(a) < combining_class(b); });
    marks = end;
  }
  points.swap(out);
}

uint32_t Folding::composite(uint32_t first, uint32_t second) const {
  if (first - kLead < kLeads && second - kVowel < kVowels)
    return kSyllable + ((first - kLead) * kVowels + second - kVowel) * kTails;
  if (first - kSyllable < kSyllables && (first - kSyllable) % kTails == 0 && second - kTail - 1 < kTails - 1)
    return first + second - kTail;
  const auto found = compositions_.find(uint64_t{first} << 32 | second);
  return found == compositions_.end() ? 0 : found->second;
}

// A mark combines with the last starter, unless a character of the same or a higher class is between them.
void Folding::compose(Points& points) const {
  Points out;
  size_t starter = 0;  // its position in `out`, from 1; 0 if there is none yet
  uint32_t last = 0;   // class of the last character that was kept
  for (const uint32_t c : points) {
    const uint32_t own = combining_class(c);
    const bool next_to_starter = starter == out.size();
    if (starter > 0 && (next_to_starter || (last != 0 && last < own))) {
      if (const uint32_t whole = composite(out[starter - 1], c); whole != 0) {
        out[starter - 1] = whole;
        continue;
      }
    }
    out.push_back(c);
    last = own;
    if (own == 0) starter = out.size();
  }
  points.swap(out);
}

void Folding::fold_slowly(Points& points) const {
  for (int round = 0; round < 2; ++round) {
    decompose(points);
    compose(points);
  }
  finish(points);
}

void Folding::finish(Points& points) const {
  std::erase_if(points, [&](uint32_t c) { return ignored_[c]; });
  if (plain_.empty()) return;
  Points out;
  for (const uint32_t c : points) {
    const auto found = plain_.find(c);
    if (found == plain_.end()) {
      out.push_back(c);
    } else {
      out.insert(out.end(), found->second.begin(), found->second.end());
    }
  }
  points.swap(out);
}

void Folding::fold(std::string_view text, Values<char>& out) const {
  const auto size = static_cast<int64_t>(text.size());
  const auto bytes_at = [&](size_t at) { return reinterpret_cast<uint8_t*>(out.data()) + at; };
  size_t at = out.size();  // where the next character goes
  size_t last = at;        // where the last one went
  Points run;
  for (int64_t i = 0, turn = 0; i < size; ++turn) {
    checkpoint_each(turn, 1 << 16);
    // Room for all remaining text if it is ASCII, and for one more character.
    if (const size_t room = static_cast<size_t>(size - i) + kRoom; out.size() - at < room)
      out.resize(std::max(at + room, out.size() + out.size() / 2));
    const int64_t begin = i;
    for (uint8_t* to = bytes_at(at); i < size && static_cast<uint8_t>(text[static_cast<size_t>(i)]) < 0x80; ++i) {
      const auto c = static_cast<uint8_t>(text[static_cast<size_t>(i)]);
      *to++ = static_cast<uint8_t>(c + (static_cast<uint8_t>(c - 'A') < upper_ ? 'a' - 'A' : 0));
    }
    if (i > begin) at += static_cast<size_t>(i - begin), last = at - 1;
    if (i == size) break;
    const auto [c, length] = decode_utf8(text, i);
    const Cell own = cell(c);
    if (own.kind() == Kind::kSame) {
      last = at;
      std::memcpy(bytes_at(at), text.data() + i, static_cast<size_t>(length));
      at += static_cast<size_t>(length);
      i += length;
    } else if (own.kind() == Kind::kOther) {
      last = at;
      at += static_cast<size_t>(encode_utf8(own.value(), bytes_at(at)));
      i += length;
    } else if (own.kind() == Kind::kSeveral) {
      last = at;
      const uint8_t* const several = several_.data() + own.value();
      std::memcpy(bytes_at(at), several + 1, several[0]);
      at += several[0];
      i += length;
    } else {
      // Folds the previous character, which combines with nothing before it, together with all following ones that may
      // combine.
      run.clear();
      if (i > 0) run.push_back(decode_utf8(text, character_before(text, i)).code_point);
      while (i < size) {
        const auto [next, bytes] = decode_utf8(text, i);
        if (cell(next).kind() != Kind::kJoins) break;
        run.push_back(next);
        i += bytes;
      }
      fold_slowly(run);
      at = last;
      if (out.size() - at < 4 * run.size()) out.resize(at + 4 * run.size());
      for (const uint32_t point : run) at += static_cast<size_t>(encode_utf8(point, bytes_at(at)));
    }
  }
  out.resize(at);
}

}  // namespace pychunk
