// The summaries that documents were held against, returned beside their chunks (Plan::summaries_out).
#pragma once
#include <cstdint>
#include <vector>

namespace pychunk {

struct Inputs;
class Document;
struct Grouping;

// One a document; the sentences that it was made of, trimmed, in characters, with their text.
struct Summaries {
  std::vector<float> vectors;            // dim values a document; zeros where it has none
  std::vector<int64_t> offsets{0};       // of documents in the sentences
  std::vector<int64_t> start, end;       // of each sentence
  std::vector<int64_t> text_offsets{0};  // of each sentence
  std::vector<char> text;

  // The next document's; `grouping` is of before where it has no sentence.
  void add(const Inputs& inputs, Document& document, const Grouping& grouping);
  // Those of the documents after these.
  void append(const Summaries& next);
};

}  // namespace pychunk
