#include "document/oversize.h"

#include <algorithm>

#include "document/budget.h"
#include "text/graphemes.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

// Return the position `count` characters after `begin`, at most `end`.
int64_t advance(std::string_view text, int64_t begin, int64_t end, int64_t count) {
  int64_t i = begin;
  for (; count > 0 && i < end; --count) i = next_border(text, i + 1, end);
  return i;
}

// Split a word [begin, end) that is longer than the limit into pieces. The last piece begins at starts.back().
void split_word(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit, const WordPiece* tokenizer,
                std::vector<int64_t>& starts) {
  // The first guess of a piece's characters. For tokens it is the most that would fit if the piece were one long word,
  // which counts as one token for every four characters.
  const int64_t guess = unit == Unit::kTokens ? std::max(kLongWord, limit * kCharactersPerToken) : limit;
  while (begin < end) {
    starts.push_back(begin);
    // Return the position `count` characters after `begin`, moved back to the end of a grapheme cluster. If one cluster
    // alone is longer, the position stays inside it.
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
