// Counts of SentencePiece tokens for limits.
#pragma once
#include <memory>

#include "tokens/sentencepiece/sentencepiece.h"
#include "tokens/token_counter.h"

namespace pychunk {

// Returns a counter of the tokens of SentencePiece::encode(). The tokenizer must outlive the counter.
std::unique_ptr<TokenCounter> counter_of(const SentencePiece& tokenizer);

}  // namespace pychunk
