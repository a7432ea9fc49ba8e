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
constexpr int64_t kNoLimit = int64_t{1} << 60;  // longer than any text

class Structurer {
 public:
  Structurer(const Plan& plan, Document& document, Grouping& out)
      : plan_(plan),
        document_(document),
        out_(out),
        known_(document.borders()),
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
    walls_.assign(static_cast<size_t>(sentences_), CutReason::kEnd);
    find_sections(document_, out_.outline.sections);
    part_sections();
    find_walls();
    glue();
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
  Tie tie(int64_t s) const { return known_.ties[static_cast<size_t>(s)]; }
  CutReason& wall(int64_t s) { return walls_[static_cast<size_t>(s)]; }
  bool has_blocks() const { return !document_.block_of().empty(); }
  bool begins_block(int64_t s) const {
    const std::span<const int32_t> block = document_.block_of();
    return block.empty() || block[static_cast<size_t>(s)] != block[static_cast<size_t>(s) - 1];
  }
  void add(int64_t first, int64_t last) {
    const auto from = static_cast<int32_t>(first);
    out_.groups.push_back({from, static_cast<int32_t>(last), from});
  }

  // A heading separates its section from the text before. The heading of a subsection that directly follows its
  // section's heading does not.
  void part_sections() {
    begins_section_.assign(static_cast<size_t>(sentences_), 0);
    const std::vector<Section>& sections = out_.outline.sections;
    for (size_t i = 0; i < sections.size(); ++i) {
      const bool deeper = i == 0 || sections[i - 1].level < sections[i].level;
      if (!deeper || tie(sections[i].first) != Tie::kLead) begins_section_[static_cast<size_t>(sections[i].first)] = 1;
    }
  }
  bool begins_section(int64_t s) const { return begins_section_[static_cast<size_t>(s)] != 0; }

  // Consecutive sections share a chunk if they fit into it. If the chunk is at least half full, a section begins the
  // next chunk in two cases: it does not fit, or it is outside the parent of the chunk's first section. If the chunk is
  // less than half full and the section does not fit, both are cut together. The last part of what was cut may share
  // its chunk with the sections that follow.
  void share(int64_t first, int64_t last) {
    int64_t begin = first;
    for (int64_t section = first, end = first + 1; section < last; section = end++) {
      while (end < last && !begins_section(end)) ++end;
      const bool half = begin < section && (*size_.lengths)(begin, section) * 2 >= size_.limit;
      if (half && (leaves(begin, section) || !size_.allows(begin, end))) {
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
  // Returns whether sentence s begins a section that is outside the parent of the section of sentence `from`.
  bool leaves(int64_t from, int64_t s) const {
    const int64_t before = out_.outline.section_at(from);
    return before >= 0 && section(out_.outline.section_at(s)).parent < section(before).parent;
  }
  const Section& section(int64_t at) const { return out_.outline.sections[static_cast<size_t>(at)]; }

  void find_walls() {
    for (int64_t s = 1; s < sentences_; ++s) {
      if (tie(s) == Tie::kWall) {
        wall(s) = CutReason::kRemoved;
      } else if (document_.turns_page(s)) {
        wall(s) = CutReason::kPage;
      }
    }
  }

  // Builds units: spans that are kept together, and whole lists. A unit that is too long is cut first at coarse
  // boundaries, which are those of items, terms, rows and lines.
  void glue() {
    borders_.breaks = known_.breaks;
    borders_.ties.assign(static_cast<size_t>(sentences_), Tie::kOpen);
    coarse_.assign(static_cast<size_t>(sentences_), 0);
    for (int64_t s = 0; s < sentences_; ++s) {
      const auto at = static_cast<size_t>(s);
      bool glued = false;
      if (s > 0 && wall(s) == CutReason::kEnd) {
        const bool next = begins_block(s);
        const bool item = document_.kind_of(s) == BlockKind::kItem && document_.kind_of(s - 1) == BlockKind::kItem;
        glued = !begins_section(s) && (is_closed(tie(s)) || item);
        const bool terms = next && document_.kind_of(s) == BlockKind::kTerm;
        coarse_[at] = has_blocks() && (tie(s) == Tie::kLead ? terms
                                       : next               ? tie(s) != Tie::kTrail
                                                            : has_rows(document_.kind_of(s)));
      }
      if (glued) {
        borders_.ties[at] = Tie::kLead;
      } else {
        out_.outline.units.push_back(static_cast<int32_t>(s));
      }
    }
  }

  // Packs the units of one section, or of the part of it between walls.
  void pack(int64_t first, int64_t last, bool even) {
    int64_t begin = first;  // start of what is not yet packed
    for (int64_t unit = first, end = first + 1; unit < last; unit = end++) {
      while (end < last && is_glued(end)) ++end;
      if (end - unit == 1 || size_.allows(unit, end)) continue;
      if (begin < unit) put_together(begin, unit, even);
      for (int64_t s = unit + 1; s < end; ++s)
        if (coarse_[static_cast<size_t>(s)] != 0) borders_.ties[static_cast<size_t>(s)] = Tie::kOpen;
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
        borders_.ties[static_cast<size_t>(row)] = Tie::kOpen;
    }
  }
  // Returns whether [first, last) has a block of code. Code is cut at the strongest boundaries.
  bool holds_code(int64_t first, int64_t last) const {
    while (first < last && document_.kind_of(first) != BlockKind::kCode) ++first;
    return first < last;
  }
  bool is_glued(int64_t s) const { return is_closed(borders_.ties[static_cast<size_t>(s)]); }
  void fill(int64_t first, int64_t last, bool by_structure, bool even) {
    int64_t least = 0;
    for (int64_t begin = first, end = first + 1; even && begin < last; begin = end++) {
      while (end < last && is_glued(end)) ++end;
      if (const int64_t length = (*size_.lengths)(begin, end); length <= size_.limit) least = std::max(least, length);
    }
    Filling filling{.borders = &borders_, .by_structure = by_structure, .even = even, .least = least};
    filling.tail = [&](int64_t s) { return document_.tail(s - 1, plan_.unit, plan_.overlap).length; };
    fill_groups(first, last, size_, plan_.overlap, filling, out_.groups);
  }

  const Plan& plan_;
  Document& document_;
  Grouping& out_;
  const Borders& known_;
  Limit size_;
  int64_t sentences_;
  Borders borders_;
  // For each sentence, the reason why no chunk crosses the boundary before it. The value kEnd means that a chunk may
  // cross it.
  std::vector<CutReason> walls_;
  std::vector<uint8_t> begins_section_, coarse_;
  std::vector<float> affinities_;
};

}  // namespace

int64_t Outline::section_at(int64_t s) const {
  const auto behind = std::upper_bound(sections.begin(), sections.end(), s,
                                       [](int64_t at, const Section& section) { return at < section.first; });
  return behind - sections.begin() - 1;
}

int64_t Outline::common_section(int64_t first, int64_t last) const {
  const auto parent = [&](int64_t at) { return static_cast<int64_t>(sections[static_cast<size_t>(at)].parent); };
  int64_t found = section_at(first);
  for (int64_t next = found + 1; found >= 0 && next < static_cast<int64_t>(sections.size()); ++next) {
    if (sections[static_cast<size_t>(next)].first >= last) break;
    while (found >= 0 && parent(next) < found) found = parent(found);
  }
  return found;
}

void group_by_structure(const Plan& plan, Document& document, Grouping& out) { Structurer(plan, document, out).run(); }

}  // namespace pychunk
