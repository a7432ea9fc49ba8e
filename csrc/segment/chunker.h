// The step from one document to its chunks. It fits the method's groups of sentences, or its pieces of text, to the
// budget.
#pragma once
#include <cstdint>
#include <vector>

#include "document/document.h"
#include "document/inputs.h"
#include "methods/methods.h"

namespace pychunk {

// A chunk before its row is written: bytes [begin, end), and the sentences [first, last) that it touches. Those from
// `own_first` on do not repeat the previous chunk. `tokens` is set if the table counts tokens.
struct Span {
  int64_t begin, end;
  int64_t first, last, own_first;
  int64_t tokens;
};

// The parts that groups consist of. A part is a sentence of the document, or a piece of a sentence that exceeds a limit
// by itself.
struct Parts {
  const Document* document = nullptr;
  std::vector<int64_t> starts;     // empty: the parts are the sentences
  std::vector<int32_t> sentences;  // the sentence of each part
  std::vector<uint8_t> pieces;     // whether each part is a piece of a sentence

  void of_sentences(const Document& of) {
    document = &of;
    starts.clear(), sentences.clear(), pieces.clear();
  }
  void add(int64_t start, int64_t sentence, bool piece) {
    starts.push_back(start);
    sentences.push_back(static_cast<int32_t>(sentence));
    pieces.push_back(piece);
  }
  int64_t begin(int64_t p) const {  // for the part after the last one: the end of the text
    const auto size = static_cast<int64_t>(document->text().size());
    if (starts.empty()) return p < document->sentences() ? document->begin(p) : size;
    return p < static_cast<int64_t>(starts.size()) ? starts[static_cast<size_t>(p)] : size;
  }
  int64_t sentence(int64_t p) const { return starts.empty() ? p : sentences[static_cast<size_t>(p)]; }
};

// The chunks of one document and the method's result. The next document reuses the memory.
struct Chunking {
  std::vector<Span> spans;
  Grouping grouping;
  // For each sentence, the method's reason to begin a group with it, or kEnd if no group begins with it.
  std::vector<CutReason> begins;
  Parts parts;
  // The lengths of the parts in each unit, if the parts are not the sentences.
  Lengths lengths[3];
  bool has_lengths[3] = {};
  SharedWords shared_words;
  std::vector<int64_t> counts;
  std::vector<float> affinities;
  Borders borders;
};

// Make the chunks of a document that is open and has at least one sentence.
void chunk_document(const Inputs& inputs, Document& document, Chunking& out);

}  // namespace pychunk
