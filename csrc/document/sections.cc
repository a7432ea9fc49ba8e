#include "document/sections.h"

#include <algorithm>

#include "common/parallel.h"
#include "common/work_split.h"
#include "document/block_cohesion.h"
#include "document/document.h"

namespace pychunk {
namespace {

int64_t end_of_heading(const Document& document, int64_t s) {
  if (document.block_of().empty()) return document.end(s);
  return std::min(document.end(s),
                  document.blocks().end[static_cast<size_t>(document.block_of()[static_cast<size_t>(s)])]);
}

void add_section(const Document& document, int64_t first, int64_t heading, uint8_t level, std::vector<Section>& out) {
  auto parent = static_cast<int32_t>(out.size()) - 1;
  while (parent >= 0 && out[static_cast<size_t>(parent)].level >= level)
    parent = out[static_cast<size_t>(parent)].parent;
  const Trimmed inside = trim(document.text(), document.begin(heading), end_of_heading(document, heading));
  out.push_back({static_cast<int32_t>(first), parent, inside.begin, inside.end, level});
}

class OutlineFinder {
 public:
  OutlineFinder(Document& document, Outline& outline, OutlineBorders& out)
      : document_(document), known_(document.text_borders()), outline_(outline), out_(out) {}

  void run() {
    const size_t n = known_.cohesion.size();
    find_sections(document_, outline_.sections);
    out_.begins_section.assign(n, 0), out_.coarse.assign(n, 0);
    out_.walls.assign(n, CutReason::kEnd);
    out_.borders.breaks = known_.breaks;
    out_.borders.cohesion.assign(n, Cohesion::kOpen);
    part_sections();
    find_walls();
    glue();
  }

 private:
  Cohesion cohesion(int64_t s) const { return known_.cohesion[static_cast<size_t>(s)]; }
  CutReason& wall(int64_t s) { return out_.walls[static_cast<size_t>(s)]; }
  bool has_blocks() const { return !document_.block_of().empty(); }
  bool begins_block(int64_t s) const {
    const std::span<const int32_t> block = document_.block_of();
    return block.empty() || block[static_cast<size_t>(s)] != block[static_cast<size_t>(s) - 1];
  }

  // A heading separates its section from the text before. The heading of a subsection that directly follows its
  // section's heading does not.
  void part_sections() {
    const std::vector<Section>& sections = outline_.sections;
    for (size_t i = 0; i < sections.size(); ++i) {
      const bool deeper = i == 0 || sections[i - 1].level < sections[i].level;
      if (!deeper || cohesion(sections[i].first) != Cohesion::kLead) begins_section(sections[i].first) = 1;
    }
  }
  uint8_t& begins_section(int64_t s) { return out_.begins_section[static_cast<size_t>(s)]; }

  void find_walls() {
    for (int64_t s = 1; s < document_.sentences(); ++s) {
      if (cohesion(s) == Cohesion::kWall) {
        wall(s) = CutReason::kRemoved;
      } else if (document_.turns_page(s)) {
        wall(s) = CutReason::kPage;
      }
    }
  }

  // Builds units: spans that are kept together, and whole lists. A unit that is too long is cut first at coarse
  // boundaries, which are those of items, terms, rows and lines.
  void glue() {
    for (int64_t s = 0; s < document_.sentences(); ++s) {
      const auto at = static_cast<size_t>(s);
      bool glued = false;
      if (s > 0 && wall(s) == CutReason::kEnd) {
        const bool next = begins_block(s);
        const bool item = document_.kind_of(s) == BlockKind::kItem && document_.kind_of(s - 1) == BlockKind::kItem;
        glued = begins_section(s) == 0 && (is_closed(cohesion(s)) || item);
        const bool terms = next && document_.kind_of(s) == BlockKind::kTerm;
        out_.coarse[at] = has_blocks() && (cohesion(s) == Cohesion::kLead ? terms
                                           : next                         ? cohesion(s) != Cohesion::kTrail
                                                                          : has_rows(document_.kind_of(s)));
      }
      if (glued) {
        out_.borders.cohesion[at] = Cohesion::kLead;
      } else {
        outline_.units.push_back(static_cast<int32_t>(s));
      }
    }
  }

  Document& document_;
  const Borders& known_;
  Outline& outline_;
  OutlineBorders& out_;
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

void find_outline(Document& document, Outline& outline, OutlineBorders& borders) {
  outline.clear();
  OutlineFinder(document, outline, borders).run();
}

void find_sections(Document& document, std::vector<Section>& out) {
  const Borders& borders = document.text_borders();
  const bool has_blocks = !document.block_of().empty();
  int64_t run = 0;
  bool headed = false, kept = false;
  for (int64_t s = 0; s < document.sentences(); ++s) {
    const auto at = static_cast<size_t>(s);
    if (s == 0 || has_blocks || borders.cohesion[at] != Cohesion::kLead) run = s, headed = false;
    kept = kept || !document.is_removed(s);
    const bool title = !kept && has_blocks && block_level(document, s) == 1;
    if ((borders.levels[at] == 0 && !title) || headed) continue;
    headed = true;
    if (has_blocks && s > 0 && introduces_heading(document, s - 1)) {
      const std::span<const int32_t> block = document.block_of();
      while (run > 0 && block[static_cast<size_t>(run) - 1] == block[at - 1] &&
             is_closed(borders.cohesion[static_cast<size_t>(run)]))
        --run;
    }
    add_section(document, run, s, title ? uint8_t{1} : borders.levels[at], out);
  }
}

bool is_code(const Document& document) {
  for (int64_t s = 0; s < document.sentences(); ++s) {
    const BlockKind kind = document.kind_of(s);
    if (kind != BlockKind::kCode && kind != BlockKind::kHeading && kind != BlockKind::kTerm) return false;
    if (document.blocks().has_markup(document.block_of()[static_cast<size_t>(s)])) return false;
  }
  return true;
}

Headings headings(const Inputs& inputs) {
  const std::vector<int64_t> borders = plan_blocks(inputs.texts);
  struct Part {
    std::vector<int64_t> first, counts;
    std::vector<uint8_t> level, tied;
  };
  std::vector<Part> parts(borders.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), inputs.threads, [&](int64_t b) {
    thread_local Document document;
    std::vector<Section> sections;
    Part& part = parts[static_cast<size_t>(b)];
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const Closing closing(document);
      document.open(inputs, i);
      sections.clear();
      if (document.sentences() > 0) {
        find_sections(document, sections);
        for (const Cohesion cohesion : document.text_borders().cohesion)
          part.tied.push_back(is_closed(cohesion) ? 1 : 0);
      }
      for (const Section& section : sections) {
        part.first.push_back(section.first);
        part.level.push_back(section.level);
      }
      part.counts.push_back(static_cast<int64_t>(sections.size()));
    }
  });
  int64_t total = 0;
  for (const Part& part : parts) total += static_cast<int64_t>(part.tied.size());
  Headings out;
  out.tied = Buffer<uint8_t>(total);
  out.offsets.push_back(0);
  uint8_t* to = out.tied.data;
  for (const Part& part : parts) {
    to = std::copy(part.tied.begin(), part.tied.end(), to);
    out.first.insert(out.first.end(), part.first.begin(), part.first.end());
    out.level.insert(out.level.end(), part.level.begin(), part.level.end());
    for (const int64_t count : part.counts) out.offsets.push_back(out.offsets.back() + count);
  }
  return out;
}

}  // namespace pychunk
