#include "segment/summaries.h"

#include <algorithm>

#include "document/document.h"
#include "document/inputs.h"
#include "methods/methods.h"

namespace pychunk {

void Summaries::add(const Inputs& inputs, Document& document, const Grouping& grouping) {
  const size_t before = vectors.size();
  vectors.resize(before + static_cast<size_t>(inputs.dim()), 0.0f);
  if (document.sentences() > 0) {
    std::copy(grouping.summary.begin(), grouping.summary.end(), vectors.begin() + static_cast<int64_t>(before));
    for (const int32_t s : grouping.summary_sentences) {
      const Trimmed inside = trim(document.text(), document.begin(s), document.end(s));
      start.push_back(document.characters_before(inside.begin));
      end.push_back(document.characters_before(inside.end));
      const std::string_view piece =
          document.text().substr(static_cast<size_t>(inside.begin), static_cast<size_t>(inside.end - inside.begin));
      text.insert(text.end(), piece.begin(), piece.end());
      text_offsets.push_back(static_cast<int64_t>(text.size()));
    }
  } else if (const float* given = document.given_summary()) {
    std::copy_n(given, inputs.dim(), vectors.begin() + static_cast<int64_t>(before));
  }
  offsets.push_back(static_cast<int64_t>(start.size()));
}

void Summaries::append(const Summaries& next) {
  const auto sentences = static_cast<int64_t>(start.size()), bytes = static_cast<int64_t>(text.size());
  vectors.insert(vectors.end(), next.vectors.begin(), next.vectors.end());
  start.insert(start.end(), next.start.begin(), next.start.end());
  end.insert(end.end(), next.end.begin(), next.end.end());
  text.insert(text.end(), next.text.begin(), next.text.end());
  for (size_t i = 1; i < next.offsets.size(); ++i) offsets.push_back(sentences + next.offsets[i]);
  for (size_t i = 1; i < next.text_offsets.size(); ++i) text_offsets.push_back(bytes + next.text_offsets[i]);
}

}  // namespace pychunk
