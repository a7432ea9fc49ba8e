// The methods of segmentation, from a document's sentences and their features to groups of sentences.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "document/budget.h"
#include "document/document.h"
#include "document/inputs.h"
#include "document/sections.h"

namespace pychunk {

// The groups of consecutive sentences, and the values that go into the table. These are the scores of sentences or of
// neighbouring pairs (Method::scores), and the labels of sentences (pic: 1 relevant, 0 irrelevant, -1 neither). Both
// are empty for methods without them.
struct Grouping {
  std::vector<Group> groups;
  std::vector<float> scores;
  std::vector<int8_t> labels;
  std::vector<CutReason> reasons;  // the reason for the beginning of each group; empty: the method's reason
  Outline outline;                 // for methods that cut at headings
  // The document's summary and the sentences that it is made of, if the plan returns summaries.
  std::vector<float> summary;
  std::vector<int32_t> summary_sentences;
};

std::span<const Method> methods();
// Returns the method with this name. The features that `structure` needs depend on `within`. Throws
// std::invalid_argument if no method has this name.
const Method* method_named(std::string_view name, Within within = Within::kSize);

// Groups the sentences of one document by the given cuts, or else by the plan's method.
void group_sentences(const Inputs& inputs, Document& document, Grouping& out);

}  // namespace pychunk
