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

}  // namespace

void find_sections(Document& document, std::vector<Section>& out) {
  const Borders& borders = document.borders();
  const bool has_blocks = !document.block_of().empty();
  int64_t run = 0;
  bool headed = false, kept = false;
  for (int64_t s = 0; s < document.sentences(); ++s) {
    const auto at = static_cast<size_t>(s);
    if (s == 0 || has_blocks || borders.ties[at] != Tie::kLead) run = s, headed = false;
    kept = kept || !document.is_removed(s);
    const bool title = !kept && has_blocks && block_level(document, s) == 1;
    if ((borders.levels[at] == 0 && !title) || headed) continue;
    headed = true;
    add_section(document, run, s, title ? uint8_t{1} : borders.levels[at], out);
  }
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
        for (const Tie tie : document.borders().ties) part.tied.push_back(is_closed(tie) ? 1 : 0);
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
