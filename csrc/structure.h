// Chunks by headings: sections, in them units that belong together, packed up to a size. And the tree that they make.
#pragma once
#include <cstdint>
#include <vector>

namespace pychunk {

struct Plan;
class Document;
struct Grouping;

// A section: from its heading to the next one. Its subsections are sections of their own.
struct Section {
  int32_t first;                       // sentence
  int32_t parent;                      // the section that it is part of; -1: none
  int64_t heading_begin, heading_end;  // bytes
  uint8_t level;
};

// Of one document: its sections in reading order, and the first sentence of each unit.
struct Outline {
  std::vector<Section> sections;
  std::vector<int32_t> units;
  void clear() { sections.clear(), units.clear(); }
};

void group_by_structure(const Plan& plan, Document& document, Grouping& out);

}  // namespace pychunk
