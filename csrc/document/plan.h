// The plan of a call to segment(): the method with its options, and the budget that every method shares.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

// The limits on the length of chunks in one document. 0 means no limit.
struct LengthLimits {
  Unit unit = Unit::kTokens;
  int64_t most = 0, least = 0;
};

struct Plan;
class Document;
struct Grouping;

enum class Scores : uint8_t { kNone, kSentences, kPairs };

// A method, with the properties that the stages before and after it need. These stages read the properties and never
// the method's name. pychunk/methods/ states the same properties of each method.
struct Method {
  std::string_view name;
  // The function that groups the document's sentences.
  void (*group)(const Plan& plan, Document& document, Grouping& out) = nullptr;
  // The inputs that the method groups by.
  bool tokens = false, vectors = false, pairs = false, topics = false, summaries = false, cuts = false;
  Scores scores = Scores::kNone;         // the scores whose mean is a chunk's score
  CutReason reason = CutReason::kScore;  // the reason for its cuts
  bool sized = false;                    // the method has a size in a unit of its own, which bounds chunks
  bool pages = false;                    // the table has columns with the pages of each chunk
  bool outline = false;  // cuts by headings, keeps spans together itself, and the table holds the tree of headings
};

struct Plan {
  const Method* method = nullptr;
  Wrap wrap = Wrap::kAuto;

  // For fixed, recursive and structure: the unit of `size`. For a method without a size (cluster): the unit of
  // max_tokens, min_tokens and overlap.
  Unit unit = Unit::kTokens;
  int64_t size = 0;
  bool balance = false;                 // make as many chunks as without it, but the longest as short as possible
  std::vector<std::string> separators;  // recursive: cut at these, as LangChain does, and not at sentences
  bool cuts_text() const { return !separators.empty(); }

  Within within = Within::kSize;  // structure

  // Options of semantic and nsp.
  ThresholdKind threshold = ThresholdKind::kPercentile;
  double threshold_value = 0.0;
  int64_t window = 1;

  // Options of pic.
  SummarySource summary = SummarySource::kExtractive;
  double k = 0.0;
  bool summaries_out = false;  // whether each document's summary is returned

  // The budget, in tokens. For a method that has no size of its own, it is in `unit`. `overlap` is always in `unit`. 0
  // means no limit.
  int64_t max_tokens = 0;
  int64_t min_tokens = 0;
  int64_t overlap = 0;
  // Whether the limits are the defaults, not set by the user. Such limits count characters instead of tokens if the
  // tokenizer does not know the text's words.
  bool auto_limits = false;

  // Whether headings, fragments and marks stay with the text that they belong to (cohesion.h). A chunk of fewer than
  // min_characters joins another one, also from another section. If min_characters is 0, no chunk joins another because
  // it is short, and no heading makes a cut. This is so for the methods `page` and `sentence`.
  bool keep_together = false;
  int64_t min_characters = 0;

  bool chunk_vectors = false;
  bool sentence_vectors = false;
};

}  // namespace pychunk
