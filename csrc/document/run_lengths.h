// Token lengths of runs of parts of a text (its sentences, or the words of a long one), exact for the run's own text.
//
// A part's tokens are counted on the part alone, and those of a run are their sum wherever a word ends at each border.
// Two things break that: white space that BERT drops before it looks for words (U+000B, U+000C, U+001C to U+001F,
// U+0085), so that "ends\ffirst" is one word, and borders that a caller puts inside a word. The one word has other
// tokens than its pieces, mostly more, and a chunk that adds up its sentences would be over its limit once it is
// encoded.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokens/wordpiece.h"

namespace pychunk {

// The words that lie in three parts or more ("one\ftwo\fthree"), whose tokens depend on where a run begins and ends.
// What a word that lies in two parts changes is in the sums (budget.h, Lengths).
class SharedWords {
 public:
  // Parts [starts[i], starts[i + 1]) of text, the last one up to `end`, of counts[i] tokens each, as low and high have
  // them; true if this is needed beside them.
  bool build(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> starts, int64_t end,
             std::span<const int64_t> counts, std::vector<int64_t>& low, std::vector<int64_t>& high);
  // What parts [i, j) hold beyond high[j - 1] - low[i].
  int64_t correction(int64_t i, int64_t j) const;

 private:
  struct Word {
    int64_t begin, end;   // in bytes
    int64_t first, last;  // parts that hold some of it; every one between them lies in it
    int64_t surplus;      // tokens beyond those of its pieces; in the sums from part `last` on
    bool plain;           // nothing in it is a word by itself
    // Sums over its pieces, from its first part on.
    std::vector<int64_t> letters, tokens;
  };
  const Word* over_border(int64_t part) const;
  int64_t surplus(const Word& word, int64_t i, int64_t j) const;

  const WordPiece* tokenizer_ = nullptr;
  std::string_view text_;
  std::vector<int64_t> starts_;
  std::vector<Word> words_;
  // The piece that was counted last: asked for again and again while a run grows over parts without letters.
  mutable int64_t asked_begin_ = -1, asked_end_ = -1, answer_ = 0;
};

}  // namespace pychunk
