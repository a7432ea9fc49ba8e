// Counts of byte-level BPE tokens for limits. The text is tokenized once; after that, the tokens of any span of it are
// counted in the time of a binary search and of the pre-tokens at the ends of the span.
//
// The floor of `recursive` with a size in o200k's tokens is one count of the text, 178 MB/s on one core (byte_pair.h),
// and the sentences, some 300 MB/s: together 110 MB/s. It has 94 MB/s, ten times the fastest other chunker that counts
// with the same tokenizer (python bench/peers/throughput.py --group "by 512 tokens of o200k"). A hundred times it would
// be five times the rate of counting alone.
#pragma once
#include <memory>

#include "tokens/byte_pair/byte_pair.h"
#include "tokens/token_counter.h"

namespace pychunk {

// Returns a counter of the tokens of BytePair::encode(). The tokenizer must outlive the counter.
std::unique_ptr<TokenCounter> counter_of(const BytePair& tokenizer);

}  // namespace pychunk
