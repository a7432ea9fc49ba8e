// One document to chunks: the method's groups of sentences, or pieces of text, fitted to the budget.
#pragma once
#include <cstdint>
#include <vector>

#include "document/document.h"
#include "document/inputs.h"
#include "methods/methods.h"

namespace pychunk {

// A chunk before its row is written: bytes [begin, end), sentences [first, last) that it touches, of which those from
// own_first on are not repeated from the chunk before. Tokens are there where the table counts them.
struct Span {
  int64_t begin, end;
  int64_t first, last, own_first;
  int64_t tokens;
};

// What groups are made of: the document's sentences, or with those that alone break a limit as pieces that do not.
struct Parts {
  const Document* document = nullptr;
  std::vector<int64_t> starts;     // empty: the sentences
  std::vector<int32_t> sentences;  // that holds each part
  std::vector<uint8_t> pieces;     // whether it is a piece of one

  void of_sentences(const Document& of) {
    document = &of;
    starts.clear(), sentences.clear(), pieces.clear();
  }
  void add(int64_t start, int64_t sentence, bool piece) {
    starts.push_back(start);
    sentences.push_back(static_cast<int32_t>(sentence));
    pieces.push_back(piece);
  }
  int64_t begin(int64_t p) const {  // of the last one and one more: the text's end
    const auto size = static_cast<int64_t>(document->text().size());
    if (starts.empty()) return p < document->sentences() ? document->begin(p) : size;
    return p < static_cast<int64_t>(starts.size()) ? starts[static_cast<size_t>(p)] : size;
  }
  int64_t sentence(int64_t p) const { return starts.empty() ? p : sentences[static_cast<size_t>(p)]; }
};

// The chunks of one document, what the method found, and memory that the next document uses again.
struct Chunking {
  std::vector<Span> spans;
  Grouping grouping;
  // Of each sentence, why the method begins a group with it; kEnd: it does not.
  std::vector<CutReason> begins;
  Parts parts;
  // Of the parts, where these are not the sentences.
  Lengths lengths[3];
  bool has_lengths[3] = {};
  SharedWords shared_words;
  std::vector<int64_t> counts;
  std::vector<float> affinities;
  Borders borders;
};

// Chunks of a document that is open and has a sentence.
void chunk_document(const Inputs& inputs, Document& document, Chunking& out);

}  // namespace pychunk
