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
  // Takes the numbers of tokens of n consecutive spans of the whole text, as count() would write them.
  virtual void know(const int64_t*, size_t, const int64_t*) {}
  // Writes a first byte for each token of the whole text, in increasing order. Inside a word they may be approximate.
  // By default, the tokens of each word are evenly spaced in it.
  virtual void starts(std::vector<int64_t>& starts);

 protected:
  const std::string_view text_;
};

// A text in which white space divides words that have the same tokens wherever they are. The counts of its sentences
// are kept, so those of chunks are sums. Without them, a chunk is tokenized again for each end that a search tries.
class CountedWords : public CountedText {
 public:
  using CountedText::CountedText;
  int64_t count(int64_t begin, int64_t end) final;
  void count(const int64_t* bounds, size_t n, int64_t* counts) final;
  void know(const int64_t* bounds, size_t n, const int64_t* counts) final;

 protected:
  // Writes the number of tokens of each of n consecutive spans [bounds[i], bounds[i + 1]) alone.
  virtual void count_alone(const int64_t* bounds, size_t n, int64_t* counts) = 0;
  // Returns whether white space [begin, end) inside the text divides it: its tokens are those of the text before the
  // white space alone, and those of the text after it alone.
  virtual bool divides(int64_t begin, int64_t end) const = 0;

 private:
  // White space [end, begin) between two sentences, or at an end of the text, and the number of tokens before it. The
  // numbers of two borders with the same `run` can be subtracted.
  struct Border {
    int64_t end, begin, tokens, run;
  };
  std::vector<Border> borders_;
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
