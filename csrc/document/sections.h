// The sections that headings begin, with their levels. Chunking by headings and the levels of a document both use them.
#pragma once
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "document/inputs.h"

namespace pychunk {

class Document;

// A section, from its heading to the next one. Its subsections are sections of their own.
struct Section {
  int32_t first;                       // the first sentence
  int32_t parent;                      // the section that it is part of; -1: none
  int64_t heading_begin, heading_end;  // in bytes
  uint8_t level;
};

// Append the sections of a document in reading order. If headings are only recognised by their look, consecutive ones
// begin one section together. Such a section also includes the lines before its headings that belong to what follows.
// Removed headings make no section, except the document's title if it precedes all text that is kept.
void find_sections(Document& document, std::vector<Section>& out);

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
