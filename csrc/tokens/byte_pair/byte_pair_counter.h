// Counts of byte-level BPE tokens for limits. The text is tokenized once; after that, the tokens of any span of it are
// counted in the time of a binary search and of the pre-tokens at the ends of the span.
#pragma once
#include <memory>

#include "tokens/byte_pair/byte_pair.h"
#include "tokens/token_counter.h"

namespace pychunk {

// Returns a counter of the tokens of BytePair::encode(). The tokenizer must outlive the counter.
std::unique_ptr<TokenCounter> counter_of(const BytePair& tokenizer);

}  // namespace pychunk
