#include "tokens/length.h"

#include <algorithm>

#include "common/dispatch.h"
#include "text/graphemes.h"

namespace pychunk {

void encode_and_count(const WordPiece& tokenizer, std::string_view text, const int64_t* bounds, size_t n,
                      Values<int32_t>& ids, std::vector<int64_t>& token_offsets, std::vector<int64_t>& counts,
                      Values<int64_t>* byte_spans) {
  thread_local std::vector<LongWord> long_words;
  ids.clear(), token_offsets.clear(), long_words.clear();
  tokenizer.encode(text, bounds, n, ids, token_offsets, byte_spans, &long_words);
  counts.resize(n);
  for (size_t i = 0; i < n; ++i) counts[i] = token_offsets[i + 1] - token_offsets[i];
  for (const LongWord& word : long_words) {
    const auto after = std::upper_bound(token_offsets.begin(), token_offsets.end(), static_cast<int64_t>(word.token));
    counts[static_cast<size_t>(after - token_offsets.begin()) - 1] += tokens_of_long_word(word.characters) - 1;
  }
}

void token_starts(const WordPiece& tokenizer, std::string_view text, std::vector<int64_t>& starts) {
  Values<int32_t> ids;
  std::vector<int64_t> offsets;
  Values<int64_t> spans;
  std::vector<LongWord> long_words;
  const int64_t bounds[] = {0, static_cast<int64_t>(text.size())};
  tokenizer.encode(text, bounds, 1, ids, offsets, &spans, &long_words);
  starts.clear();
  for (size_t t = 0; t < ids.size(); ++t) starts.push_back(spans[2 * t]);
  for (const LongWord& word : long_words) {
    const int64_t begin = spans[2 * word.token], end = spans[2 * word.token + 1];
    const int64_t more = tokens_of_long_word(word.characters) - 1;
    for (int64_t i = 0; i < more; ++i) {  // each at the first byte of a character
      int64_t at = begin + (end - begin) * i / more;
      while (continues_character(as_bytes(text)[at])) --at;
      starts.push_back(at);
    }
  }
  if (!long_words.empty()) std::sort(starts.begin(), starts.end());
}

int64_t count_words(std::string_view text) {
  const auto size = static_cast<int64_t>(text.size());
  int64_t words = 0;
  // In ASCII text each run without white space is one word, whatever characters it has.
  if (size > 0 && count_characters(text) == size) {
    kernels().count_words_at(as_bytes(text), 0, &size, 1, 0, &words);
    return words;
  }
  for_each_word(text, [&](size_t begin, size_t end) { words += words_of_run(text.substr(begin, end - begin)); });
  return words;
}

int64_t measure(std::string_view text, Unit unit, const WordPiece* tokenizer) {
  switch (unit) {
    case Unit::kCharacters:
      return count_characters(text);
    case Unit::kWords:
      return count_words(text);
    case Unit::kTokens:
      break;
  }
  thread_local Values<int32_t> ids;
  thread_local std::vector<int64_t> offsets, counts;
  const int64_t bounds[] = {0, static_cast<int64_t>(text.size())};
  encode_and_count(*tokenizer, text, bounds, 1, ids, offsets, counts);
  return counts[0];
}

}  // namespace pychunk
