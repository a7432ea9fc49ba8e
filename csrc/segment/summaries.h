// The summaries that documents were compared with, which are returned with their chunks (Plan::summaries_out).
#pragma once
#include <cstdint>
#include <vector>

namespace pychunk {

struct Inputs;
class Document;
struct Grouping;

// One summary for each document: the sentences that it was made of, trimmed, in characters, with their text.
struct Summaries {
  std::vector<float> vectors;            // dim values for each document; zeros if it has no summary
  std::vector<int64_t> offsets{0};       // document i has the sentences [offsets[i], offsets[i + 1])
  std::vector<int64_t> start, end;       // of each sentence
  std::vector<int64_t> text_offsets{0};  // of each sentence
  std::vector<char> text;

  // Add the summary of the next document. If this document has no sentence, `grouping` still belongs to an earlier
  // document and is not read.
  void add(const Inputs& inputs, Document& document, const Grouping& grouping);
  // Append the summaries of the documents that follow those stored here.
  void append(const Summaries& next);
};

}  // namespace pychunk
