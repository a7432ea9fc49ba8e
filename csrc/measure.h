// How long a piece of text is, in tokens as budgets count them, words or characters; and cutting one sentence
// that is longer than a budget.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "plan.h"
#include "utf8_text.h"
#include "wordpiece.h"

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

// Runs of characters that are not white space; in some of them several (graphemes.h).
int64_t count_words(std::string_view text);

// Length of text by itself. The tokenizer may be null unless the unit is tokens.
int64_t measure(std::string_view text, Unit unit, const WordPiece* tokenizer);

// Cuts text [begin, end), which is longer than `limit`, into consecutive pieces that are not: at word borders
// where a word fits, else at character borders; a single character is never cut. Appends where pieces begin.
void split_oversize(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit,
                    const WordPiece* tokenizer, std::vector<int64_t>& starts);

}  // namespace pychunk
