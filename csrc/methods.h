// Methods: from a document's sentences (and their vectors) to groups of sentences.
#pragma once
#include <vector>

#include "document.h"
#include "segment.h"

namespace pychunk {

// Groups of consecutive sentences by the plan's method; `recursive` is not one of them, since its pieces need
// not be sentences. Scores of sentences (pic: r_i) and their labels (pic: 1 relevant) are left empty by the
// others.
struct Grouping {
  std::vector<Group> groups;
  std::vector<float> scores;
  std::vector<int8_t> labels;
};
// `summary` is the document's given summary vector, or null (pic: the plan says how to make one).
void group_sentences(const Plan& plan, Document& document, const float* summary, Grouping& out);

}  // namespace pychunk
