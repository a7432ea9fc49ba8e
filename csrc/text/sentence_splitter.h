// The splitter of texts into sentences. The sentences tile the text: every byte is in exactly one of them. The splitter
// works on UTF-8, and every offset is a byte offset.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

// The kinds of break before a sentence. A stronger break implies the weaker ones (page -> blank line -> paragraph). The
// first sentence of a document is an exception and has kParagraphStart only.
enum SentenceFlag : uint8_t {
  kParagraphStart = 1,   // first of its paragraph, after a line break that is not a mere wrap
  kBlankLineBefore = 2,  // a line of only white space precedes it
  kPageStart = 4,        // a form feed precedes it
};

// The sentences of one document. They tile it: sentence i is [starts[i], starts[i + 1]), and the last one ends at the
// document's end. Leading white space belongs to the first sentence (starts[0] == 0), other white space to the sentence
// before it. A document of only white space has no sentence.
struct SentenceList {
  std::vector<int64_t> starts;
  std::vector<uint8_t> flags;  // SentenceFlag bits, one byte per sentence
  void clear() { starts.clear(), flags.clear(); }
};

// Splits valid UTF-8 into sentences. The caller must have checked the encoding. It overwrites `out` and reuses its
// memory.
void split_sentences(std::string_view text, Wrap wrap, SentenceList& out);

// Returns the flags that a sentence gets from the white space before it (`gap`), or 0 if `gap` has no line break.
uint8_t flags_of_gap(std::string_view gap);

}  // namespace pychunk
