// The spans that are kept together. A heading stays with the text after it, and a line with the list that it
// introduces. A fragment or a quotation mark stays with the text that it belongs to. One pass over the sentences looks
// at the edges of each. It reads the whole sentence only if it has no letter or is a short line of its own.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// The cohesion at a boundary, which is stored with the sentence after it. kOpen: nothing is kept together across the
// boundary. kLead: the sentence before the boundary belongs to what follows. kTrail: the sentence after it belongs to
// what precedes. kSection: a heading begins, and with it always a chunk. kWall: nothing crosses the boundary, because a
// removed span begins or ends there.
enum class Cohesion : uint8_t { kOpen, kLead, kTrail, kSection, kWall };
constexpr bool begins_section(Cohesion cohesion) {
  return cohesion == Cohesion::kSection || cohesion == Cohesion::kWall;
}
constexpr bool is_closed(Cohesion cohesion) { return cohesion == Cohesion::kLead || cohesion == Cohesion::kTrail; }

// The break before a sentence, from the weakest to the strongest. kPiece: no break, because the text before it belongs
// to the same sentence.
enum class Break : uint8_t { kPiece, kSentence, kLine, kBlankLine, kPage, kDocument };

// The boundary before each part of a document (a sentence or a piece of one). Empty if none is known.
struct Borders {
  std::vector<Cohesion> cohesion;
  std::vector<Break> breaks;
  std::vector<uint8_t> levels;  // of sentences that are headings, from 1; 0 for other sentences
  bool known() const { return !cohesion.empty(); }
  void clear() { cohesion.clear(), breaks.clear(), levels.clear(); }
};

// The limits for recognising headings. A heading has at most kHeadingBytes bytes. It has at most
// - kQuestionWords words if it is a question,
// - kSentenceWords if it ends with a stop other than a question mark or a full stop,
// - kIntroductionWords if it ends with a colon, but kLabelWords if another short line precedes it,
// - kHeadingWords in all other cases.
// A line of at least kProseBytes bytes is prose, whatever precedes it.
constexpr int64_t kHeadingBytes = 240, kHeadingWords = 12, kQuestionWords = 16, kSentenceWords = 8,
                  kIntroductionWords = 6, kLabelWords = 3, kProseBytes = 100;
// The fewest words of a line with a full stop that counts as a statement, in documents where most such lines are text.
constexpr int64_t kStatementWords = 5;
// The most headings that may follow each other, and the most short lines in a row whose last one is a heading. A longer
// run is a list.
constexpr int64_t kHeadingRun = 6, kHeadingsAbove = 3;
// The most characters of a bare number, and of a short chunk.
constexpr int64_t kNumberCharacters = 16, kShortCharacters = 50;

// Set the cohesion of the sentences that begin at `starts` and tile the text. Their breaks are already set. If levels
// are given, they say which sentences are headings. Otherwise this finds the lines that look like headings, all of
// level 1.
void find_cohesion(std::string_view text, std::span<const int64_t> starts, Borders& borders);

}  // namespace pychunk
