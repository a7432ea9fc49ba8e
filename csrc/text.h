// Text to sentences: exact, native, tiling. Works on UTF-8 bytes; every offset is a byte offset.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

// What lies before a sentence, or what it is. A stronger break implies the weaker ones
// (page -> blank line -> paragraph), except that the first sentence of a document has kParagraphStart only.
enum SentenceFlag : uint8_t {
  kParagraphStart = 1,   // first of its paragraph: a line break (that is not a mere wrap) lies before it
  kBlankLineBefore = 2,  // a line of nothing but white space lies before it
  kPageStart = 4,        // a form feed lies before it
  kHeading = 8,          // a section heading: a short line of its own
};

// Sentences of one document. They tile it: sentence i is [starts[i], starts[i + 1]), the last one ends at the
// document's end. Leading white space belongs to the first sentence (starts[0] == 0), other white space to
// the sentence before it. A document of nothing but white space has no sentence.
struct SentenceList {
  std::vector<int64_t> starts;
  std::vector<uint8_t> flags;  // SentenceFlag bits, one byte a sentence
  void clear() { starts.clear(), flags.clear(); }
};

// kAuto: where most lines of the document are filled to a common width (hard-wrapped e-mail, README), a
// single line break inside a block is a space. kOff: every line break ends a sentence and a paragraph.
enum class Wrap : uint8_t { kOff, kAuto };

// Splits valid UTF-8 (check it first) into sentences; `out` is overwritten, its memory reused.
void split_sentences(std::string_view text, Wrap wrap, SentenceList& out);

// Decodes the character that starts at text[i] (valid UTF-8); `length` gets its bytes.
char32_t decode(std::string_view text, size_t i, int& length);

// Python's str.isspace for one character, and nothing else.
bool is_space(char32_t c);

// Length in bytes of the white-space character that starts at text[i], 0 if it is none.
int space_length(std::string_view text, size_t i);

}  // namespace pychunk
