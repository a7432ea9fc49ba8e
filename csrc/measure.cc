#include "measure.h"

#include <algorithm>

#include "budget.h"
#include "dispatch.h"
#include "graphemes.h"

namespace pychunk {
namespace {

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

// End of the character `count` characters after `begin`, at most `end`.
int64_t advance(std::string_view text, int64_t begin, int64_t end, int64_t count) {
  int64_t i = begin;
  for (; count > 0 && i < end; --count) i = next_border(text, i + 1, end);
  return i;
}

// Pieces of a word [begin, end) that alone is longer than the limit; the last piece begins at starts.back().
void split_word(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit, const WordPiece* tokenizer,
                std::vector<int64_t>& starts) {
  // In tokens a first guess is the most that fits if the whole piece were one long word.
  const int64_t guess = unit == Unit::kTokens ? std::max(kLongWord, limit * kCharactersPerToken) : limit;
  while (begin < end) {
    starts.push_back(begin);
    // To the end of a cluster, unless one alone is too long.
    const auto reach = [&](int64_t count) {
      const int64_t at = advance(text, begin, end, count);
      return at < end ? cluster_border(text, begin, at) : at;
    };
    int64_t length = guess, stop = reach(length);
    if (unit == Unit::kTokens) {
      for (;;) {
        const std::string_view piece = slice(text, begin, stop);
        const int64_t tokens = measure(piece, unit, tokenizer);
        if (tokens <= limit || length <= 1) break;
        length = std::max<int64_t>(1, std::min(length - 1, count_characters(piece) * limit / tokens));
        stop = reach(length);
      }
    }
    begin = stop;
  }
}

}  // namespace

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
    for (int64_t i = 0; i < more; ++i) {  // each on a character's first byte
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
  // A run of ASCII is one word, whatever it holds.
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

void split_oversize(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit,
                    const WordPiece* tokenizer, std::vector<int64_t>& starts) {
  const std::string_view sentence = slice(text, begin, end);
  std::vector<int64_t> from, to;  // of the words, in bytes of the sentence
  for_each_word(sentence, [&](size_t a, size_t b) {
    from.push_back(static_cast<int64_t>(a));
    to.push_back(static_cast<int64_t>(b));
  });
  const size_t n = from.size();

  Lengths lengths;
  SharedWords shared;
  switch (unit) {
    case Unit::kTokens: {
      Values<int32_t> ids;
      std::vector<int64_t> offsets, bounds(from), counts;
      bounds.push_back(end - begin);
      encode_and_count(*tokenizer, sentence, bounds.data(), n, ids, offsets, counts);
      if (shared.build(*tokenizer, sentence, from, end - begin, counts, lengths.low, lengths.high))
        lengths.shared = &shared;
      break;
    }
    case Unit::kWords:
      for (size_t j = 0, words = 0; j < n; ++j) {
        lengths.low.push_back(static_cast<int64_t>(words));
        words += static_cast<size_t>(words_of_run(slice(sentence, from[j], to[j])));
        lengths.high.push_back(static_cast<int64_t>(words));
      }
      break;
    case Unit::kCharacters: {
      int64_t at = 0, before = 0;
      const auto count_to = [&](int64_t byte) {
        before += count_characters(slice(sentence, at, byte));
        at = byte;
        return before;
      };
      for (size_t j = 0; j < n; ++j) {
        lengths.low.push_back(count_to(from[j]));
        lengths.high.push_back(count_to(to[j]));
      }
    }
  }
  for (size_t i = 0; i < n;) {
    const auto first = static_cast<int64_t>(i);
    if (lengths(first, first + 1) > limit) {
      split_word(text, begin + from[i], begin + to[i], unit, limit, tokenizer, starts);
      ++i;
      continue;
    }
    starts.push_back(begin + from[i]);
    for (++i; i < n && lengths(first, static_cast<int64_t>(i) + 1) <= limit;) ++i;
  }
}

}  // namespace pychunk
