// The length of a text in words, characters, or tokens as budgets count them.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "text/utf8_text.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// Returns the number of tokens that a LongWord counts as.
inline int64_t tokens_of_long_word(int64_t characters) {
  return (characters + kCharactersPerToken - 1) / kCharactersPerToken;
}

// Tokenizes n consecutive spans [bounds[i], bounds[i + 1]) of text. ids and token_offsets are as in WordPiece::encode.
// counts[i] is the number of tokens that budgets count for span i. It overwrites these three, and appends to
// byte_spans.
void encode_and_count(const WordPiece& tokenizer, std::string_view text, const int64_t* bounds, size_t n,
                      Values<int32_t>& ids, std::vector<int64_t>& token_offsets, std::vector<int64_t>& counts,
                      Values<int64_t>* byte_spans = nullptr);

// Writes where the tokens of text begin. A long word has a start for each token that it counts as, evenly spaced.
void token_starts(const WordPiece& tokenizer, std::string_view text, std::vector<int64_t>& starts);

// Calls body(begin, end) for each run of text without white space.
template <typename Body>
void for_each_word(std::string_view text, Body body) {
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    const auto [c, length] = decode_utf8(text, static_cast<int64_t>(i));
    const bool space = is_space(c);
    if (space && inside) body(begin, i);
    if (!space && !inside) begin = i;
    inside = !space;
    i += static_cast<size_t>(length);
  }
  if (inside) body(begin, text.size());
}

// Returns the number of words: runs without white space, some of which count as several words (graphemes.h).
int64_t count_words(std::string_view text);

// Returns the length of text on its own. The tokenizer may be null unless the unit is tokens.
int64_t measure(std::string_view text, Unit unit, const WordPiece* tokenizer);

}  // namespace pychunk
