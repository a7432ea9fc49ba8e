// The sections that headings begin, with their levels. Chunking by headings and the levels of a document both use them.
#pragma once
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "document/cohesion.h"
#include "document/inputs.h"
#include "document/plan.h"

namespace pychunk {

class Document;

// A section, from its heading to the next one. Its subsections are sections of their own.
struct Section {
  int32_t first;                       // the first sentence
  int32_t parent;                      // the section that it is part of; -1: none
  int64_t heading_begin, heading_end;  // in bytes
  uint8_t level;
};

// The structure of one document: its sections in reading order, and the first sentence of each unit. A unit is text
// that belongs together, such as a heading with its first sentence, a list, a table or a block of code.
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

// The boundaries at which method structure cuts, one value for the boundary before each sentence.
struct OutlineBorders {
  std::vector<CutReason> walls;         // why no chunk crosses the boundary; kEnd: a chunk may cross it
  std::vector<uint8_t> begins_section;  // whether a heading separates its section from the text before
  std::vector<uint8_t> coarse;          // whether a unit that is too long is cut here first
  Borders borders;                      // kLead inside a unit, else kOpen
};

// Finds the outline of a document, and its boundaries.
void find_outline(Document& document, Outline& outline, OutlineBorders& borders);

// Append the sections of a document in reading order. If headings are only recognised by their look, consecutive ones
// begin one section together. Such a section also includes the lines before its headings that belong to what follows.
// Removed headings make no section, except the document's title if it precedes all text that is kept.
void find_sections(Document& document, std::vector<Section>& out);

// Return whether a document is source code: whether all its blocks are code, and headings and terms, which are the
// signatures of definitions, and none is Markdown.
bool is_code(const Document& document);

// The sections of k documents, and for each of their n sentences whether it is kept together with the one before.
struct Headings {
  std::vector<int64_t> first, offsets;  // first sentence of each section, counted in its document; int64[k + 1]
  std::vector<uint8_t> level;
  Buffer<uint8_t> tied;
};

// Return the sections of the documents. The plan's method must be one that cuts by headings, so that boundaries are
// known.
Headings headings(const Inputs& inputs);

}  // namespace pychunk
