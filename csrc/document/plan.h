// What a call to segment() computes: the method with its options, and the budget that every method shares.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

// The limits of a chunk's length in one document; 0: none.
struct LengthLimits {
  Unit unit = Unit::kTokens;
  int64_t most = 0, least = 0;
};

struct Plan;
class Document;
struct Grouping;

enum class Scores : uint8_t { kNone, kSentences, kPairs };

// A method and what the stages around it ask of it, in place of its name; pychunk/methods/ says the same of each.
struct Method {
  std::string_view name;
  // Groups of the document's sentences.
  void (*group)(const Plan& plan, Document& document, Grouping& out) = nullptr;
  // What it groups by.
  bool tokens = false, vectors = false, pairs = false, topics = false, summaries = false, cuts = false;
  Scores scores = Scores::kNone;         // what a chunk's score is the mean of
  CutReason reason = CutReason::kScore;  // why it cuts
  bool sized = false;                    // has a size in a unit of its own, which bounds chunks
  bool pages = false;                    // the table says which pages a chunk lies on
  bool outline = false;                  // it cuts by headings, keeps atoms itself, and the table holds their tree
};

struct Plan {
  const Method* method = nullptr;
  Wrap wrap = Wrap::kAuto;

  // fixed, recursive, structure; of a method without a size (cluster) what max_tokens, min_tokens and overlap count.
  Unit unit = Unit::kTokens;
  int64_t size = 0;
  bool balance = false;                 // as many chunks, and the longest of them as short as can be
  std::vector<std::string> separators;  // recursive: LangChain's, in place of the structure; its pieces are any text
  bool cuts_text() const { return !separators.empty(); }

  Within within = Within::kSize;  // structure

  // semantic, nsp
  ThresholdKind threshold = ThresholdKind::kPercentile;
  double threshold_value = 0.0;
  int64_t window = 1;

  // pic
  SummarySource summary = SummarySource::kExtractive;
  double k = 0.0;
  bool summaries_out = false;  // whether each document's summary is returned

  // Budget, in tokens, or in `unit` of a method without a size (`overlap`: in `unit`); 0: none.
  int64_t max_tokens = 0;
  int64_t min_tokens = 0;
  int64_t overlap = 0;
  // Whether nobody asked for just these: characters count, then, where the tokenizer does not know the words.
  bool auto_limits = false;

  // Whether headings, scraps and marks stay with what they belong to (cohesion.h), and characters below which a chunk
  // joins another one, of another section too; 0: none does, and no heading makes a cut (page, sentence).
  bool atoms = false;
  int64_t min_characters = 0;

  bool chunk_vectors = false;
  bool sentence_vectors = false;
};

}  // namespace pychunk
