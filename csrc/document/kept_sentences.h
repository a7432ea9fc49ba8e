// The sentences of an edited document with their tokens and vectors, which the next call for the document takes over.
// Only sentences that an edit touches are tokenized and encoded again: that was half of a call for most methods.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/rows.h"
#include "text/sentence_splitter.h"

namespace pychunk {

// The tokens and vectors of a document, and the spans that the next document takes over from it. They are those of
// sentences [starts[i], starts[i + 1]), where the last start is the document's end; without starts there are none.
struct KeptSentences {
  std::vector<KeptSpan> spans;
  SplitBefore split;  // the sentences before they were cut at pages, blocks and removed spans
  std::vector<int64_t> starts;
  Values<int32_t> ids;
  std::vector<int64_t> token_offsets, token_counts;
  RowWindow vectors;
  std::vector<float> affinities;  // of adjacent sentences, if a pair's depends on nothing but its two sentences
};

// Return the runs of sentences that lie in the spans and are the same sentences before and after the edit. Both lists
// of starts have the end of their text as the last entry. The spans are in order and do not overlap in either text.
std::vector<RowRun> equal_sentences(std::span<const int64_t> before, std::span<const int64_t> after,
                                    std::span<const KeptSpan> spans);

}  // namespace pychunk
