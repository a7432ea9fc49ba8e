// Choices of a call that several parts know: what lengths count, how lines wrap, what scores and summaries are of.
#pragma once
#include <cstdint>

namespace pychunk {

enum class Unit : uint8_t { kTokens, kWords, kCharacters };

enum class ThresholdKind : uint8_t { kValue, kPercentile, kStd, kIqr, kGradient };
enum class SummarySource : uint8_t { kGiven, kMean, kLead, kExtractive, kRandom, kSentence };

// How units of a section are put together that do not fit into one chunk: up to the size; so that the least affinity is
// cut, that of a topic model; or cut where the lowest cosine, or probability of a pair, is, until all parts fit.
enum class Within : uint8_t { kSize, kTopic, kSemantic, kNsp };

// kOn: a single line break inside a block is a space, whatever the lines look like.
// kAuto: where most lines of the document are filled to a common width (hard-wrapped e-mail, README), a
// single line break inside a block is a space. kOff: every line break ends a sentence and a paragraph.
enum class Wrap : uint8_t { kOff, kAuto, kOn };

// Why a chunk ends; pychunk._engine.data.columns names them in this order.
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
