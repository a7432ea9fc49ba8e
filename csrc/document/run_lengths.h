// The numbers of tokens in runs of consecutive parts of a text. Parts are its sentences, or the words of a long
// sentence. The number of a run is exact: as if its text were encoded alone.
//
// A part's tokens are counted in the part alone. The tokens of a run are the sum, provided that a word ends at each
// boundary. Two things break that rule. BERT drops some white space before it looks for words (U+000B, U+000C, U+001C
// to U+001F, U+0085), so "ends\ffirst" is one word. A caller may also put boundaries inside a word. Such a word has
// other tokens than its pieces have alone, usually more. A chunk that adds up its sentences would then exceed its limit
// once it is encoded.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokens/wordpiece.h"

namespace pychunk {

// The words that span three parts or more ("one\ftwo\fthree"), whose tokens depend on where a run begins and ends.
// Words that span two parts are already accounted for in the sums (budget.h, Lengths).
class SharedWords {
 public:
  // Build the words for parts [starts[i], starts[i + 1]) of a text, the last of which ends at `end`. Part i has
  // counts[i] tokens. Write the sums to `low` and `high`, and return whether the correction is needed in addition to
  // them.
  bool build(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> starts, int64_t end,
             std::span<const int64_t> counts, std::vector<int64_t>& low, std::vector<int64_t>& high);
  // Return the number of tokens of parts [i, j) minus the sum (high[j - 1] - low[i]).
  int64_t correction(int64_t i, int64_t j) const;

 private:
  struct Word {
    int64_t begin, end;   // in bytes
    int64_t first, last;  // the first and last part that hold some of it; every part between them is inside it
    int64_t surplus;      // its tokens minus those of its pieces; included in the sums from part `last` on
    bool plain;           // no character in it is a word by itself
    // The running sums of the letters and tokens of its pieces, from its first part on.
    std::vector<int64_t> letters, tokens;
  };
  const Word* over_border(int64_t part) const;
  int64_t surplus(const Word& word, int64_t i, int64_t j) const;

  const WordPiece* tokenizer_ = nullptr;
  std::string_view text_;
  std::vector<int64_t> starts_;
  std::vector<Word> words_;
  // The piece that was counted last. It is requested repeatedly while a run grows over parts without letters.
  mutable int64_t asked_begin_ = -1, asked_end_ = -1, answer_ = 0;
};

}  // namespace pychunk
