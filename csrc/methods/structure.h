// Chunks by headings, and the tree that they form. Each section consists of units, which are sentences that belong
// together. Units are packed into chunks up to a size.
#pragma once
#include <cstdint>
#include <vector>

#include "document/sections.h"

namespace pychunk {

struct Plan;
class Document;
struct Grouping;

// The structure of one document: its sections in reading order, and the first sentence of each unit.
struct Outline {
  std::vector<Section> sections;
  std::vector<int32_t> units;
  // Returns the section that contains a sentence directly, not in a subsection, or -1 if the sentence precedes all
  // sections.
  int64_t section_at(int64_t sentence) const;
  // Returns the innermost section that contains all sentences [first, last), directly or in subsections, or -1 if there
  // is none.
  int64_t common_section(int64_t first, int64_t last) const;
  void clear() { sections.clear(), units.clear(); }
};

void group_by_structure(const Plan& plan, Document& document, Grouping& out);

}  // namespace pychunk
