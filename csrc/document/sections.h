// Where headings begin sections, and how deep each lies: what chunks by headings and levels of a document both go by.
#pragma once
#include <cstdint>
#include <vector>

#include "common/buffer.h"
#include "document/inputs.h"

namespace pychunk {

class Document;

// A section: from its heading to the next one. Its subsections are sections of their own.
struct Section {
  int32_t first;                       // sentence
  int32_t parent;                      // the section that it is part of; -1: none
  int64_t heading_begin, heading_end;  // bytes
  uint8_t level;
};

// Appends the sections of a document in reading order. Among lines that only look like headings a run of them is one,
// which begins with what leads it. Of headings that are left out, the document's title, which stands above all that is
// kept, is one too.
void find_sections(Document& document, std::vector<Section>& out);

// Sections of k documents, and of their n sentences which ones are tied to the one before.
struct Headings {
  std::vector<int64_t> first, offsets;  // sentence in its document; int64[k + 1]
  std::vector<uint8_t> level;
  Buffer<uint8_t> tied;
};

// The plan's method is one by headings, so that borders are known.
Headings headings(const Inputs& inputs);

}  // namespace pychunk
