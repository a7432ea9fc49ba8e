// Methods: from a document's sentences (and what is known of them) to groups of sentences.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "document/budget.h"
#include "document/document.h"
#include "document/inputs.h"
#include "methods/structure.h"

namespace pychunk {

// Groups of consecutive sentences, and what of them goes into the table: scores of sentences or of pairs of neighbours
// (Method::scores), and labels of sentences (pic: 1 relevant, 0 irrelevant; -1 neither), empty where there are none.
struct Grouping {
  std::vector<Group> groups;
  std::vector<float> scores;
  std::vector<int8_t> labels;
  std::vector<CutReason> reasons;  // of each group, why it begins where it does; empty: the method's
  Outline outline;                 // of a method that cuts by headings
  // Where the plan returns summaries: the document's, and the sentences that it was made of.
  std::vector<float> summary;
  std::vector<int32_t> summary_sentences;
};

std::span<const Method> methods();
// Throws std::invalid_argument for a name that is none. What `structure` needs hangs on `within`.
const Method* method_named(std::string_view name, Within within = Within::kSize);

// The groups of one document: given ones, else by the plan's method.
void group_sentences(const Inputs& inputs, Document& document, Grouping& out);

}  // namespace pychunk
