// Chunks by headings: sections, in them units that belong together, packed up to a size. And the tree that they make.
#pragma once
#include <cstdint>
#include <vector>

#include "document/sections.h"

namespace pychunk {

struct Plan;
class Document;
struct Grouping;

// Of one document: its sections in reading order, and the first sentence of each unit.
struct Outline {
  std::vector<Section> sections;
  std::vector<int32_t> units;
  // The section that a sentence is in, not in one of its subsections; -1: it is before all of them.
  int64_t section_at(int64_t sentence) const;
  // The innermost section that sentences [first, last) are all in, or in a subsection of; -1: there is none.
  int64_t common_section(int64_t first, int64_t last) const;
  void clear() { sections.clear(), units.clear(); }
};

void group_by_structure(const Plan& plan, Document& document, Grouping& out);

}  // namespace pychunk
