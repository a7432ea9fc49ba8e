#include "text/unicode.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <unordered_map>

#include "text/paged_cells.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

#include "text/unicode_tables.inc"

enum Flag : uint32_t { kOther = 1, kWhite = 2, kChinese = 4, kMark = 8, kPunctuation = 16 };

constexpr uint32_t kFirstHangul = 0xAC00, kLastHangul = 0xD7A3;

// Returns the value of the run that contains c, or 0.
template <size_t N>
uint32_t find_run(const uint32_t (&runs)[N], uint32_t c) {
  size_t low = 0, high = N / 3;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (runs[3 * middle + 1] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low < N / 3 && runs[3 * low] <= c ? runs[3 * low + 2] : 0;
}

uint32_t flags_of(uint32_t c) { return find_run(kFlagRuns, c); }
uint32_t combining_class(uint32_t c) { return find_run(kClassRuns, c); }

// A map from a code point to a count and that number of code points. It copies the rows into a hash table, because rows
// of different lengths cannot be searched.
class Mappings {
 public:
  template <size_t N>
  void add_rows(const uint32_t (&rows)[N]) {
    for (size_t i = 0; i < N; i += 2 + rows[i + 1]) add(rows[i], rows + i + 2, rows[i + 1]);
  }
  void add(uint32_t from, const uint32_t* to, uint32_t count) {
    at_[from] = pool_.size();
    pool_.push_back(count);
    pool_.insert(pool_.end(), to, to + count);
  }
  const uint32_t* find(uint32_t from) const {
    const auto found = at_.find(from);
    return found == at_.end() ? nullptr : pool_.data() + found->second;
  }
  template <typename Body>
  void for_each(Body body) const {
    for (const auto& [from, index] : at_) body(from);
  }

 private:
  std::unordered_map<uint32_t, size_t> at_;
  std::vector<uint32_t> pool_;
};

const Mappings& lower_case() {
  static const Mappings& mappings = *new Mappings([] {
    Mappings m;
    for (size_t i = 0; i < std::size(kLowerRuns); i += 4)
      for (uint32_t c = kLowerRuns[i]; c <= kLowerRuns[i + 1]; c += kLowerRuns[i + 2]) {
        const uint32_t lower = c + kLowerRuns[i + 3] - kLowerRuns[i + 1];
        m.add(c, &lower, 1);
      }
    m.add_rows(kLowerLong);
    return m;
  }());
  return mappings;
}

const Mappings& decompositions() {
  static const Mappings& mappings = *new Mappings([] {
    Mappings m;
    m.add_rows(kDecompositions);
    return m;
  }());
  return mappings;
}

bool is_hangul(uint32_t c) { return c >= kFirstHangul && c <= kLastHangul; }

template <typename Body>
void for_each_decomposed(uint32_t c, Body body) {
  if (is_hangul(c)) {
    uint32_t jamo[3];
    const int count = decompose_hangul(c, jamo);
    for (int i = 0; i < count; ++i) body(jamo[i]);
  } else if (const uint32_t* to = decompositions().find(c)) {
    for (uint32_t i = 1; i <= to[0]; ++i) body(to[i]);
  } else {
    body(c);
  }
}

Character make(CharacterKind kind, uint32_t value) { return {static_cast<uint32_t>(kind) | value << 3}; }

}  // namespace

void prepare_unicode() { lower_case(), decompositions(); }

std::vector<std::pair<const char*, std::vector<uint32_t>>> unicode_tables() {
  const auto whole = [](const auto& table) { return std::vector<uint32_t>(std::begin(table), std::end(table)); };
  return {{"flags", whole(kFlagRuns)},
          {"classes", whole(kClassRuns)},
          {"lower", whole(kLowerRuns)},
          {"lower_long", whole(kLowerLong)},
          {"decompositions", whole(kDecompositions)}};
}

CharacterTable::CharacterTable(const NormaliserOptions& options) : options_(options) {
  PagedCells cells;
  for (size_t i = 0; i < std::size(kFlagRuns); i += 3) {
    const uint32_t first = kFlagRuns[i], last = kFlagRuns[i + 1], flags = kFlagRuns[i + 2];
    if (options.clean_text && (flags & kOther))
      cells.fill(first, last, make(CharacterKind::kDropped, 0).bits);
    else if (flags == kChinese)  // the loop below sets the characters that decompose
      cells.fill(first, last,
                 make(options.handle_chinese_chars ? CharacterKind::kIsolated : CharacterKind::kLetter, 0).bits);
    else if (flags != kOther)
      for (uint32_t c = first; c <= last; ++c) cells.set(c, compose(c).bits);
  }
  const auto fill = [&](uint32_t c) { cells.set(c, compose(c).bits); };
  if (options.lowercase) lower_case().for_each(fill);
  if (options.strip_accents) {
    decompositions().for_each(fill);
    for (size_t i = 0; i < std::size(kClassRuns); i += 3)
      for (uint32_t c = kClassRuns[i]; c <= kClassRuns[i + 1]; ++c) fill(c);
    cells.fill(kFirstHangul, kLastHangul, make(CharacterKind::kHangul, 0).bits);
  }
  cells.finish(pages_, cells_);
}

void CharacterTable::finish(uint32_t decomposed, std::vector<Character>& out) const {
  if (options_.strip_accents && (flags_of(decomposed) & kMark)) return;
  const auto append = [&](uint32_t c) {
    out.push_back(make(flags_of(c) & kPunctuation ? CharacterKind::kIsolated : CharacterKind::kLetter, c));
  };
  const uint32_t* lower = options_.lowercase ? lower_case().find(decomposed) : nullptr;
  if (lower == nullptr) return append(decomposed);
  for (uint32_t i = 1; i <= lower[0]; ++i) append(lower[i]);
}

Character CharacterTable::compose(uint32_t code_point) {
  const uint32_t flags = flags_of(code_point);
  if (options_.clean_text && (flags & kOther)) return make(CharacterKind::kDropped, 0);
  if (flags & kWhite) return make(CharacterKind::kSpace, 0);

  std::vector<Character> becomes;
  bool reorders = false;
  if (options_.strip_accents)
    for_each_decomposed(code_point, [&](uint32_t c) {
      reorders |= combining_class(c) != 0 && !(flags_of(c) & kMark);
      finish(c, becomes);
    });
  else
    finish(code_point, becomes);

  if (reorders) return make(CharacterKind::kReorders, 0);
  if (becomes.empty()) return make(CharacterKind::kDropped, 0);
  uint8_t encoded[4];
  if (becomes.size() > static_cast<size_t>(encode_utf8(code_point, encoded)))
    // The sizes of buffers rely on this.
    throw std::logic_error("a character must not become more characters than it has bytes");
  if (becomes.size() > 1) {
    const uint32_t index = static_cast<uint32_t>(sequences_.size());
    sequences_.push_back(static_cast<uint32_t>(becomes.size()));
    for (const Character c : becomes) sequences_.push_back(c.bits);
    return make(CharacterKind::kSequence, index);
  }
  const bool isolated =
      becomes[0].kind() == CharacterKind::kIsolated || (options_.handle_chinese_chars && (flags & kChinese));
  const uint32_t value = becomes[0].value() == code_point ? 0 : becomes[0].value();
  return make(isolated ? CharacterKind::kIsolated : CharacterKind::kLetter, value);
}

void CharacterTable::normalise_slowly(const uint8_t* text, size_t begin, size_t end,
                                      std::vector<Normalised>& out) const {
  struct Piece {
    uint32_t code_point, combining_class;
    bool first;  // whether it is the first of the characters that one character of the text became
  };
  struct Source {
    size_t begin, end;
  };
  out.clear();
  std::vector<Piece> pieces;
  std::vector<Source> sources;
  std::vector<Character> finished;
  const auto flush = [&] {
    for (auto segment = pieces.begin(); segment != pieces.end();) {
      const auto is_starter = [](const Piece& p) { return p.combining_class == 0; };
      const auto marks = is_starter(*segment) ? segment + 1 : segment;
      const auto next = std::find_if(marks, pieces.end(), is_starter);
      std::stable_sort(marks, next,
                       [](const Piece& a, const Piece& b) { return a.combining_class < b.combining_class; });
      segment = next;
    }
    // This follows the alignment of Hugging Face, which assigns sources in the order of the text, not of the reordered
    // marks.
    size_t taken = 0;
    for (const Piece& piece : pieces) {
      if (piece.first) ++taken;
      const Source source = sources[taken == 0 ? 0 : taken - 1];
      finished.clear();
      finish(piece.code_point, finished);
      for (const Character c : finished) out.push_back({c, source.begin, source.end});
    }
    pieces.clear();
    sources.clear();
  };
  const auto space = [&](size_t at) { out.push_back({make(CharacterKind::kSpace, 0), at, at}); };
  for (size_t at = begin; at < end;) {
    const auto [c, length] = decode_utf8(text + at);
    const size_t next = at + length;
    const uint32_t flags = flags_of(c);
    const bool chinese = options_.handle_chinese_chars && (flags & kChinese);
    if (options_.clean_text && (flags & kOther)) {
    } else if (flags & kWhite) {
      flush();
      space(at);
    } else {
      if (chinese) {
        flush();
        space(at);
      }
      sources.push_back({at, next});
      bool first = true;
      for_each_decomposed(c, [&](uint32_t d) {
        pieces.push_back({d, combining_class(d), first});
        first = false;
      });
      if (chinese) {
        flush();
        space(next);
      }
    }
    at = next;
  }
  flush();
}

}  // namespace pychunk
