// Text to sentences: exact, native, tiling. Works on UTF-8 bytes; every offset is a byte offset.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

// What lies before a sentence. A stronger break implies the weaker ones
// (page -> blank line -> paragraph), except that the first sentence of a document has kParagraphStart only.
enum SentenceFlag : uint8_t {
  kParagraphStart = 1,   // first of its paragraph: a line break (that is not a mere wrap) lies before it
  kBlankLineBefore = 2,  // a line of nothing but white space lies before it
  kPageStart = 4,        // a form feed lies before it
};

// Sentences of one document. They tile it: sentence i is [starts[i], starts[i + 1]), the last one ends at the
// document's end. Leading white space belongs to the first sentence (starts[0] == 0), other white space to
// the sentence before it. A document of nothing but white space has no sentence.
struct SentenceList {
  std::vector<int64_t> starts;
  std::vector<uint8_t> flags;  // SentenceFlag bits, one byte a sentence
  void clear() { starts.clear(), flags.clear(); }
};

// Splits valid UTF-8 (check it first) into sentences; `out` is overwritten, its memory reused.
void split_sentences(std::string_view text, Wrap wrap, SentenceList& out);

// What the white space before a sentence says of it; 0 without a line break.
uint8_t flags_of_gap(std::string_view gap);

}  // namespace pychunk
