// What must not be cut apart: a heading from what follows it, a line from the list that it introduces, a scrap or a
// quotation mark from what it belongs to. One pass over the sentences, which looks at each one's edges, and whole at
// those that have no letter or are a short line by themselves.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pychunk {

// A border, by the sentence behind it. kLead: the sentence before it belongs to what follows. kTrail: the sentence
// behind it belongs to what is before. kSection: a heading begins, where a chunk always begins. kWall: nothing crosses
// it, as text that is left out begins or ends.
enum class Tie : uint8_t { kOpen, kLead, kTrail, kSection, kWall };
constexpr bool begins_section(Tie tie) { return tie == Tie::kSection || tie == Tie::kWall; }
constexpr bool is_closed(Tie tie) { return tie == Tie::kLead || tie == Tie::kTrail; }

// What lies before a sentence, weakest first; kPiece: nothing, as it is a piece of the one before it.
enum class Break : uint8_t { kPiece, kSentence, kLine, kBlankLine, kPage, kDocument };

// Of each part of a document (a sentence, or a piece of one) the border before it. Empty: none is known.
struct Borders {
  std::vector<Tie> ties;
  std::vector<Break> breaks;
  std::vector<uint8_t> levels;  // of sentences that are headings, from 1; 0: it is none
  bool known() const { return !ties.empty(); }
  void clear() { ties.clear(), breaks.clear(), levels.clear(); }
};

// A line that is a heading has at most so many bytes, and words: at all, of one that asks, that ends with another stop,
// that ends with a colon, and that does so behind another short line. A line of so many bytes is prose, whatever is
// before it.
constexpr int64_t kHeadingBytes = 240, kHeadingWords = 12, kQuestionWords = 16, kSentenceWords = 8,
                  kIntroductionWords = 6, kLabelWords = 3, kProseBytes = 100;
// A line of so many words that ends with a full stop says something, where most such lines are text.
constexpr int64_t kStatementWords = 5;
// Headings that may follow on each other, and short lines that may, of which the last is a heading; more are a list.
constexpr int64_t kHeadingRun = 6, kHeadingsAbove = 3;
// Characters of a bare number at most, and of a chunk that is a scrap.
constexpr int64_t kNumberCharacters = 16, kScrapCharacters = 50;

// Sets the ties of the sentences that begin at `starts` and tile the text; breaks are there. Levels say which are
// headings; where there are none it finds those that look like one, all of level 1.
void find_ties(std::string_view text, std::span<const int64_t> starts, Borders& borders);

}  // namespace pychunk
