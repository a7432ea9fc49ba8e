// A tokenizer that counts tokens for limits and sizes in place of the static encoder's WordPiece. Its tokens may cross
// the boundary between two sentences, so a chunk has slightly more or fewer of them than its sentences have together.
// Limits therefore count the tokens of a chunk's text.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/wordpiece.h"

namespace pychunk {

// The tokens of one text. One instance serves one thread.
class CountedText {
 public:
  explicit CountedText(std::string_view text) : text_(text) {}
  virtual ~CountedText() = default;
  // Returns the number of tokens of text [begin, end) alone, whose ends are between characters. The caller leaves out
  // white space at both ends.
  virtual int64_t count(int64_t begin, int64_t end) = 0;
  // Writes the number of tokens of each of n consecutive spans [bounds[i], bounds[i + 1]) alone, without white space at
  // its ends.
  virtual void count(const int64_t* bounds, size_t n, int64_t* counts);
  // Writes a first byte for each token of the whole text, in increasing order. Inside a word they may be approximate.
  // By default, the tokens of each word are evenly spaced in it.
  virtual void starts(std::vector<int64_t>& starts);

 protected:
  const std::string_view text_;
};

// Appends the first bytes of the tokens of text [begin, end), evenly spaced, each at the beginning of a character.
void add_starts(std::string_view text, int64_t begin, int64_t end, int64_t tokens, std::vector<int64_t>& starts);

// A tokenizer. It never changes after construction, so one instance serves every thread.
class TokenCounter {
 public:
  virtual ~TokenCounter() = default;
  // Returns the tokens of a text, which must outlive them.
  virtual std::unique_ptr<CountedText> read(std::string_view text) const = 0;
};

// Returns a counter of the tokens of WordPiece::encode(). In contrast to encode_and_count(), a word that is one unknown
// token counts as one token, as it does in the package `tokenizers`. The tokenizer must outlive the counter.
std::unique_ptr<TokenCounter> counter_of(const WordPiece& tokenizer);

}  // namespace pychunk
