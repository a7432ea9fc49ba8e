// Chunks by headings: sections, in them units that belong together, packed up to a size. And the tree that they make.
#pragma once
#include <cstdint>
#include <vector>

#include "sections.h"

namespace pychunk {

struct Plan;
class Document;
struct Grouping;

// Of one document: its sections in reading order, and the first sentence of each unit.
struct Outline {
  std::vector<Section> sections;
  std::vector<int32_t> units;
  void clear() { sections.clear(), units.clear(); }
};

void group_by_structure(const Plan& plan, Document& document, Grouping& out);

}  // namespace pychunk
