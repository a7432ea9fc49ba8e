#include "methods/structure.h"

#include <algorithm>
#include <limits>

#include "document/document.h"
#include "methods/methods.h"
#include "methods/topic_cut.h"

namespace pychunk {
namespace {

// Cuts by topics avoid chunks shorter than this fraction of the size (1 / kShortPart). The method `topic` has a similar
// fraction, 64 of 200 tokens.
constexpr int64_t kShortPart = 3;
// A part of code has at least this fraction of the size (1 / kCodeFull), if there is such a boundary. With a quarter
// instead of half, 97.5 and not 96.8 % of the cuts of C are between statements, and 98.1 and not 97.8 % of those of Go,
// for 2.5 to 4 % more chunks.
constexpr int64_t kCodeFull = 4;
constexpr int64_t kNoLimit = int64_t{1} << 60;  // longer than any text

class Structurer {
 public:
  Structurer(const Plan& plan, Document& document, Grouping& out)
      : plan_(plan),
        document_(document),
        out_(out),
        size_{&document.lengths(plan.size > 0 ? plan.unit : document.limits().unit), plan.size},
        sentences_(document.sentences()) {
    const LengthLimits limits = document.limits();
    if (size_.limit == 0) {
      size_.limit = limits.most > 0 ? limits.most : kNoLimit;
    } else if (limits.most > 0 && limits.unit == plan.unit) {
      size_.limit = std::min(size_.limit, limits.most);
    }
  }

  void run() {
    find_outline(document_, out_.outline, found_);
    find_ends();
    for (int64_t first = 0, last = 1; first < sentences_; first = last++) {
      while (last < sentences_ && wall(last) == CutReason::kEnd) ++last;
      if (document_.is_removed(first)) {
        add(first, last);
      } else {
        share(first, last);
      }
    }
    for (const Group& group : out_.groups) {
      const CutReason reason = wall(group.first);
      out_.reasons.push_back(reason != CutReason::kEnd     ? reason
                             : begins_section(group.first) ? CutReason::kHeading
                                                           : CutReason::kSize);
    }
    for (int64_t s = 1; s < sentences_; ++s)
      if (wall(s) != CutReason::kEnd) document_.wall_off(s);
  }

 private:
  CutReason wall(int64_t s) const { return found_.walls[static_cast<size_t>(s)]; }
  bool begins_block(int64_t s) const {
    const std::span<const int32_t> block = document_.block_of();
    return block.empty() || block[static_cast<size_t>(s)] != block[static_cast<size_t>(s) - 1];
  }
  void add(int64_t first, int64_t last) {
    const auto from = static_cast<int32_t>(first);
    out_.groups.push_back({from, static_cast<int32_t>(last), from});
  }

  bool begins_section(int64_t s) const { return found_.begins_section[static_cast<size_t>(s)] != 0; }

  // Consecutive sections share a chunk if they fit into it. If the chunk is at least half full, a section begins the
  // next chunk in two cases: it does not fit, or it is further out than the chunk's first section. If the chunk is
  // less than half full and the section does not fit, both are cut together. The last part of what was cut may share
  // its chunk with the sections that follow. In code, a definition that fits into one chunk, with all that is inside,
  // begins the next chunk if it does not fit into this one.
  void share(int64_t first, int64_t last) {
    int64_t begin = first;
    for (int64_t section = first, end = first + 1; section < last; section = end++) {
      while (end < last && !begins_section(end)) ++end;
      const bool half = begin < section && (*size_.lengths)(begin, section) * 2 >= size_.limit;
      if ((half && (leaves(begin, section) || !size_.allows(begin, end))) || must_begin(begin, section, last)) {
        pack(begin, section, false);
        begin = section;
      }
      if (end == last || size_.allows(begin, end)) continue;
      pack(begin, end, false);
      begin = out_.groups.back().first;
      out_.groups.pop_back();
    }
    pack(begin, last, plan_.balance);
  }
  // Returns whether sentence s begins a section that is further out than that of sentence `from`: in a parent before
  // its parent.
  bool leaves(int64_t from, int64_t s) const {
    const int64_t before = out_.outline.section_at(from);
    return before >= 0 && section(out_.outline.section_at(s)).parent < section(before).parent;
  }
  // Returns whether sentence s begins a definition that fits into a chunk, but not with the text from `from` on. If the
  // definition is too long, that applies to the first one inside, if nothing but signatures precedes it.
  bool must_begin(int64_t from, int64_t s, int64_t last) const {
    if (ends_.empty() || from == s) return false;
    size_t at = static_cast<size_t>(out_.outline.section_at(s));
    do {
      const int64_t end = std::min(last, ends_[at]);
      if (size_.allows(s, end)) return !size_.allows(from, end);
    } while (++at < ends_.size() && out_.outline.sections[at].first < last &&
             !begins_section(out_.outline.sections[at].first));
    return false;
  }
  // Finds the sentence after each section and all sections inside it, if the document is code. Then a definition that
  // fits into a chunk, but not with the signature above it, is also apart from that.
  void find_ends() {
    if (!is_code(document_)) return;
    const std::vector<Section>& sections = out_.outline.sections;
    ends_.assign(sections.size(), 0);
    for (size_t at = sections.size(); at-- > 0;) {
      if (ends_[at] == 0) ends_[at] = at + 1 < sections.size() ? sections[at + 1].first : sentences_;
      const int64_t parent = sections[at].parent;
      if (parent < 0) continue;
      ends_[static_cast<size_t>(parent)] = std::max(ends_[static_cast<size_t>(parent)], ends_[at]);
      if (size_.allows(sections[at].first, ends_[at]) && !size_.allows(section(parent).first, ends_[at]))
        found_.begins_section[static_cast<size_t>(sections[at].first)] = 1;
    }
  }
  const Section& section(int64_t at) const { return out_.outline.sections[static_cast<size_t>(at)]; }

  // Packs the units of one section, or of the part of it between walls.
  void pack(int64_t first, int64_t last, bool even) {
    int64_t begin = first;  // start of what is not yet packed
    for (int64_t unit = first, end = first + 1; unit < last; unit = end++) {
      while (end < last && is_glued(end)) ++end;
      if (end - unit == 1 || size_.allows(unit, end)) continue;
      if (begin < unit) put_together(begin, unit, even);
      for (int64_t s = unit + 1; s < end; ++s)
        if (found_.coarse[static_cast<size_t>(s)] != 0) open(s);
      open_heads(unit, end);
      fill(unit, end, holds_code(unit, end), true);
      begin = end;
    }
    if (begin < last) put_together(begin, last, even);
  }
  // Packs the whole units in [first, last). A unit is too long only if it is a single sentence.
  void put_together(int64_t first, int64_t last, bool even) {
    if (plan_.within == Within::kSize || size_.allows(first, last)) {
      fill(first, last, true, even);
    } else if (plan_.within == Within::kTopic) {
      part_by_topics(first, last, even);
    } else {
      std::vector<Group> parts{{static_cast<int32_t>(first), static_cast<int32_t>(last), static_cast<int32_t>(first)}};
      cut_long(parts, size_, [this] { return affinities(); }, {.borders = &borders_, .by_structure = true});
      out_.groups.insert(out_.groups.end(), parts.begin(), parts.end());
    }
  }
  // Cuts at boundaries of units, so that the number of short chunks is lowest. Among such cuts it takes those with the
  // lowest affinities (cut_within()). The length of a chunk is the sum of its units' lengths, so a chunk may be too
  // long if a word crosses the boundary of two units.
  void part_by_topics(int64_t first, int64_t last, bool even) {
    std::vector<int32_t> units, parts;
    std::vector<int64_t> lengths;
    std::vector<float> gaps;
    int64_t left = (*size_.lengths)(first, last);
    for (int64_t begin = first, end = first + 1; begin < last; begin = end++) {
      while (end < last && is_glued(end)) ++end;
      units.push_back(static_cast<int32_t>(begin));
      if (begin > first) gaps.push_back(affinities()[static_cast<size_t>(begin) - 1]);
      const int64_t behind = end < last ? (*size_.lengths)(end, last) : 0;
      lengths.push_back(std::max<int64_t>(0, left - behind));
      left = behind;
    }
    cut_within(gaps, plan_.threshold_value, lengths, size_.limit / kShortPart, size_.limit, parts);
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t begin = units[static_cast<size_t>(parts[p])];
      const int64_t end = p + 1 < parts.size() ? units[static_cast<size_t>(parts[p + 1])] : last;
      if (size_.allows(begin, end)) {
        add(begin, end);
      } else {
        fill(begin, end, true, even);
      }
    }
  }
  // Returns the affinities of the document. Sentences of one unit have infinite affinity, so that they are separated
  // last.
  std::span<const float> affinities() {
    if (affinities_.empty()) {
      const std::span<const float> own = document_.affinities();
      affinities_.assign(own.begin(), own.end());
      for (int64_t s = 1; s < sentences_; ++s)
        if (is_glued(s)) affinities_[static_cast<size_t>(s) - 1] = std::numeric_limits<float>::infinity();
    }
    return affinities_;
  }
  // Allows a cut between a table's header rows and its first row, if the table down to that row does not fit into one
  // chunk with the text above it.
  void open_heads(int64_t first, int64_t last) {
    for (int64_t begin = first, end = first + 1; begin < last; begin = end++) {
      while (end < last && is_glued(end)) ++end;
      const int64_t row = end - 1;
      if (row > begin && document_.kind_of(row) == BlockKind::kTable && !begins_block(row) && !size_.allows(begin, end))
        open(row);
    }
  }
  // Allows cuts before sentence s of a unit that is too long, also if what is left of it is packed again.
  void open(int64_t s) {
    const auto at = static_cast<size_t>(s);
    borders_.cohesion[at] = Cohesion::kOpen;
    if (!affinities_.empty()) affinities_[at - 1] = document_.affinities()[at - 1];
  }
  // Returns whether [first, last) has a block of code. Code is cut at the strongest boundaries.
  bool holds_code(int64_t first, int64_t last) const {
    while (first < last && document_.kind_of(first) != BlockKind::kCode) ++first;
    return first < last;
  }
  bool is_glued(int64_t s) const { return is_closed(borders_.cohesion[static_cast<size_t>(s)]); }
  void fill(int64_t first, int64_t last, bool by_structure, bool even) {
    int64_t least = 0;
    for (int64_t begin = first, end = first + 1; even && begin < last; begin = end++) {
      while (end < last && is_glued(end)) ++end;
      if (const int64_t length = (*size_.lengths)(begin, end); length <= size_.limit) least = std::max(least, length);
    }
    Filling filling{.borders = &borders_, .by_structure = by_structure, .even = even, .least = least};
    if (!ends_.empty()) filling.full = kCodeFull;
    filling.tail = [&](int64_t s) { return document_.tail(s - 1, plan_.unit, plan_.overlap).length; };
    fill_groups(first, last, size_, plan_.overlap, filling, out_.groups);
  }

  const Plan& plan_;
  Document& document_;
  Grouping& out_;
  Limit size_;
  int64_t sentences_;
  OutlineBorders found_;
  Borders& borders_ = found_.borders;
  std::vector<int64_t> ends_;  // of the sections of code; empty for other documents
  std::vector<float> affinities_;
};

}  // namespace

void group_by_structure(const Plan& plan, Document& document, Grouping& out) { Structurer(plan, document, out).run(); }

}  // namespace pychunk
