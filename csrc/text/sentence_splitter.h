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

// Bytes [to, to + length) of a text are bytes [from, from + length) of the text before an edit.
struct KeptSpan {
  int64_t from = 0, to = 0, length = 0;
};

// The facts about a whole text on which its sentences depend: the width of its lines, and whether it has the nouns of
// German and the titles of Vietnamese. -1: not needed so far.
struct TextFacts {
  int64_t width = 0;
  int german = -1, vietnamese = -1;
  bool operator==(const TextFacts&) const = default;
};

// The sentences of a text before an edit, and the spans that the edit left, in order and without overlap.
struct SplitBefore {
  SentenceList sentences;
  int64_t size = 0;  // of the text
  TextFacts facts;
  std::vector<KeptSpan> spans;
};

// Splits valid UTF-8 into sentences. The caller must have checked the encoding. It overwrites `out` and reuses its
// memory.
void split_sentences(std::string_view text, Wrap wrap, SentenceList& out);

// Splits a text after an edit, with the same result. Only the paragraphs near an edit are read again, unless the lines
// may be wrapped or other facts changed. `before` becomes the state for the next edit, without spans. Returns the
// number of bytes that were read again.
int64_t split_edited(std::string_view text, Wrap wrap, SplitBefore& before, SentenceList& out);

// Returns the flags that a sentence gets from the white space before it (`gap`), or 0 if `gap` has no line break.
uint8_t flags_of_gap(std::string_view gap);

}  // namespace pychunk
