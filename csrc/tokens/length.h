// How long a piece of text is, in tokens as budgets count them, words or characters.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "text/utf8_text.h"
#include "tokens/wordpiece.h"

namespace pychunk {

// What a LongWord counts.
inline int64_t tokens_of_long_word(int64_t characters) {
  return (characters + kCharactersPerToken - 1) / kCharactersPerToken;
}

// Tokenises n consecutive spans [bounds[i], bounds[i + 1]) of text: ids and token_offsets as
// WordPiece::encode gives them, counts[i] = tokens of span i in budgets. All are overwritten, but byte_spans appended.
void encode_and_count(const WordPiece& tokenizer, std::string_view text, const int64_t* bounds, size_t n,
                      Values<int32_t>& ids, std::vector<int64_t>& token_offsets, std::vector<int64_t>& counts,
                      Values<int64_t>* byte_spans = nullptr);

// Where the tokens of text begin; a long word has one for each token that it counts as, spread evenly.
void token_starts(const WordPiece& tokenizer, std::string_view text, std::vector<int64_t>& starts);

// Calls body(begin, end) for each run of text that is not white space.
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

// Runs of characters that are not white space; in some of them several (graphemes.h).
int64_t count_words(std::string_view text);

// Length of text by itself. The tokenizer may be null unless the unit is tokens.
int64_t measure(std::string_view text, Unit unit, const WordPiece* tokenizer);

}  // namespace pychunk
