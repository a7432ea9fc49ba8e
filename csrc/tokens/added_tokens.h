// The steps of a tokenizer before its words: added tokens, and the normalisation of a text to NFC. The files of Qwen
// and ModernBERT have both.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/folding.h"
#include "tokens/token_counter.h"

namespace pychunk {

// A finder of added tokens. Of several that begin at the same byte it finds the longest.
class AddedTokens {
 public:
  explicit AddedTokens(std::vector<std::string> tokens);

  struct Found {
    size_t begin, end;  // both text.size() if there is none
  };
  // Returns the first token in text [from, text.size()).
  Found next(std::string_view text, size_t from) const;

 private:
  // Returns the length of the longest token at a byte, or 0.
  size_t longest(std::string_view text, size_t at) const;

  std::vector<std::string> tokens_;  // sorted, so that those with a common beginning are neighbours
  std::array<uint32_t, 257> first_;  // the first token of each first byte
};

// What a tokenizer does with a text before it divides it into words, in this order.
struct TextSteps {
  std::vector<std::string> added;       // are found in the text as it is; none is empty
  std::shared_ptr<const Folding> nfc;   // normalises the text between them to NFC; null: it is not normalised
  std::vector<std::string> normalised;  // are found in the normalised text
};

// Returns a counter that takes these steps, and counts the tokens of the text between added tokens with `words`. A text
// that is already in NFC and has no added tokens costs one pass for each step. In a text that is not in NFC, each span
// is normalised and tokenized by itself.
std::unique_ptr<TokenCounter> counter_after(TextSteps steps, std::unique_ptr<TokenCounter> words);

}  // namespace pychunk
