// Options of a call that several components share: the unit of lengths, the treatment of line wraps, and the sources of
// thresholds and summaries.
#pragma once
#include <cstdint>

namespace pychunk {

enum class Unit : uint8_t { kTokens, kWords, kCharacters };

enum class ThresholdKind : uint8_t { kValue, kPercentile, kStd, kIqr, kGradient };
enum class SummarySource : uint8_t { kGiven, kMean, kLead, kExtractive, kRandom, kSentence };

// The rule that combines the units of a section that does not fit into one chunk. kSize packs as many units as fit into
// each chunk. kTopic chooses the cuts at which the affinities of a topic model have the lowest sum. kSemantic cuts
// again and again at the lowest cosine of adjacent sentences, until all parts fit. kNsp does so at the lowest
// next-sentence probability.
enum class Within : uint8_t { kSize, kTopic, kSemantic, kNsp };

// The treatment of a single line break inside a block.
// kOn: it is a space, whatever the lines look like.
// kAuto: it is a space if most lines of the document are filled to a common width, as in hard-wrapped e-mail or a
// README.
// kOff: every line break ends a sentence and a paragraph.
enum class Wrap : uint8_t { kOff, kAuto, kOn };

// The reason why a chunk ends. pychunk._engine.data.columns names the reasons in this order.
enum class CutReason : int8_t {
  kEnd,
  kScore,
  kSentence,
  kParagraph,
  kPage,
  kSize,
  kBudget,
  kGiven,
  kHeading,
  kRemoved
};

}  // namespace pychunk
