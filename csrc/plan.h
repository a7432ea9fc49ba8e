// What a call to segment() computes: the method with its options, and the budget that every method shares.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "text.h"

namespace pychunk {

enum class Method : uint8_t { kSentence, kParagraph, kPage, kFixed, kRecursive, kSemantic, kCluster, kPic, kNsp };
enum class Unit : uint8_t { kTokens, kWords, kCharacters };
enum class ThresholdKind : uint8_t { kValue, kPercentile, kStd, kIqr, kGradient };
enum class SummarySource : uint8_t { kGiven, kMean, kLead, kExtractive, kRandom, kSentence };

struct Plan {
  Method method = Method::kSentence;
  Wrap wrap = Wrap::kAuto;

  // fixed, recursive
  Unit unit = Unit::kTokens;
  int64_t size = 0;
  std::vector<std::string> separators;  // recursive; empty: blank line, line, sentence, word, character

  // semantic, nsp
  ThresholdKind threshold = ThresholdKind::kPercentile;
  double threshold_value = 20.0;
  int64_t window = 1;

  // pic
  SummarySource summary = SummarySource::kExtractive;
  double k = 0.0;

  // Budget, in tokens (`overlap` of fixed and recursive: in their unit); 0: none.
  int64_t max_tokens = 0;
  int64_t min_tokens = 0;
  int64_t overlap = 0;

  bool chunk_vectors = false;
  bool sentence_vectors = false;

  bool needs_vectors() const {
    return method == Method::kSemantic || method == Method::kCluster || method == Method::kPic || chunk_vectors ||
           sentence_vectors;
  }
  // Whether scores of the sentences are all that the cuts need: cosines to the summary (pic), adjacent ones (semantic).
  bool cuts_by_scores() const { return method == Method::kPic || (method == Method::kSemantic && window == 1); }
  bool has_size() const { return method == Method::kFixed || method == Method::kRecursive; }
  bool needs_tokens() const {
    const bool overlap_in_tokens = overlap > 0 && (!has_size() || unit == Unit::kTokens);
    return max_tokens > 0 || min_tokens > 0 || overlap_in_tokens || chunk_vectors ||
           (has_size() && unit == Unit::kTokens) || method == Method::kCluster;
  }
};

}  // namespace pychunk
