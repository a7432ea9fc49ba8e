#include "measure.h"

#include <algorithm>

#include "dispatch.h"

namespace pychunk {
namespace {

int64_t characters(std::string_view text) {
  return kernels().count_characters(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

// Calls body(begin, end) for each run of text that is not white space.
template <typename Body>
void for_each_word(std::string_view text, Body body) {
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    int length = 1;
    const bool space = c < 0x80 ? is_space(c) : is_space(decode(text, i, length));
    if (space && inside) body(begin, i);
    if (!space && !inside) begin = i;
    inside = !space;
    i += static_cast<size_t>(length);
  }
  if (inside) body(begin, text.size());
}

// Calls body(begin, end, surplus) for each long run of text that counts as `surplus` more tokens than it has
// ids.
template <typename Body>
void for_each_surplus(const WordPiece& tokenizer, std::string_view text, Body body) {
  Values<int32_t> ids;
  std::vector<int64_t> offsets;
  for_each_word(text, [&](size_t begin, size_t end) {
    if (end - begin <= static_cast<size_t>(kLongRun)) return;
    const std::string_view run = text.substr(begin, end - begin);
    const int64_t length = characters(run);
    if (length <= kLongRun) return;
    const int64_t bounds[] = {0, static_cast<int64_t>(run.size())};
    ids.clear(), offsets.clear();
    tokenizer.encode(run, bounds, 1, ids, offsets, nullptr);
    const int64_t by_length = (length + kCharactersPerToken - 1) / kCharactersPerToken;
    const int64_t surplus = by_length - static_cast<int64_t>(ids.size());
    if (surplus > 0) body(begin, end, surplus);
  });
}

bool may_hold_long_run(std::string_view text) {
  return kernels().may_hold_long_run(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// End of the character `count` characters after `begin`, at most `end`.
int64_t advance(std::string_view text, int64_t begin, int64_t end, int64_t count) {
  int64_t i = begin;
  for (; count > 0 && i < end; --count)
    for (++i; i < end && continues_character(text[static_cast<size_t>(i)]); ++i) {
    }
  return i;
}

// Pieces of a word [begin, end) that alone is longer than the limit; the last piece begins at starts.back().
void split_word(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit, const WordPiece* tokenizer,
                std::vector<int64_t>& starts) {
  // In tokens a first guess is the most that fits if the whole piece were one long run.
  const int64_t guess = unit == Unit::kTokens ? std::max(kLongRun, limit * kCharactersPerToken) : limit;
  while (begin < end) {
    starts.push_back(begin);
    int64_t length = guess, stop = advance(text, begin, end, length);
    if (unit == Unit::kTokens) {
      for (;;) {
        const std::string_view piece = text.substr(static_cast<size_t>(begin), static_cast<size_t>(stop - begin));
        const int64_t tokens = measure(piece, unit, tokenizer);
        if (tokens <= limit || length <= 1) break;
        length = std::max<int64_t>(1, std::min(length - 1, characters(piece) * limit / tokens));
        stop = advance(text, begin, end, length);
      }
    }
    begin = stop;
  }
}

}  // namespace

void encode_and_count(const WordPiece& tokenizer, std::string_view text, const int64_t* bounds, size_t n,
                      Values<int32_t>& ids, std::vector<int64_t>& token_offsets, std::vector<int64_t>& counts) {
  ids.clear(), token_offsets.clear();
  tokenizer.encode(text, bounds, n, ids, token_offsets, nullptr);
  counts.resize(n);
  for (size_t i = 0; i < n; ++i) counts[i] = token_offsets[i + 1] - token_offsets[i];
  if (tokenizer.is_foreign() || !may_hold_long_run(text)) return;
  for (size_t i = 0; i < n; ++i)
    for_each_surplus(tokenizer,
                     text.substr(static_cast<size_t>(bounds[i]), static_cast<size_t>(bounds[i + 1] - bounds[i])),
                     [&](size_t, size_t, int64_t surplus) { counts[i] += surplus; });
}

bool add_long_runs(std::string_view text, const WordPiece& tokenizer, std::vector<int64_t>& starts) {
  const size_t before = starts.size();
  if (tokenizer.is_foreign() || !may_hold_long_run(text)) return false;
  for_each_surplus(tokenizer, text, [&](size_t begin, size_t end, int64_t surplus) {
    // Spread evenly, so that a part of the run counts as its share; each on a character's first byte.
    for (int64_t i = 0; i < surplus; ++i) {
      size_t at = begin + static_cast<size_t>(static_cast<int64_t>(end - begin) * i / surplus);
      while (continues_character(text[at])) --at;
      starts.push_back(static_cast<int64_t>(at));
    }
  });
  return starts.size() > before;
}

int64_t count_words(std::string_view text) {
  int64_t words = 0;
  for_each_word(text, [&](size_t, size_t) { ++words; });
  return words;
}

int64_t measure(std::string_view text, Unit unit, const WordPiece* tokenizer) {
  switch (unit) {
    case Unit::kCharacters:
      return characters(text);
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

Trimmed trim(std::string_view text, int64_t begin, int64_t end) {
  while (begin < end) {
    const int length = space_length(text, static_cast<size_t>(begin));
    if (length == 0) break;
    begin += length;
  }
  while (end > begin) {
    int64_t last = end - 1;
    while (last > begin && continues_character(text[static_cast<size_t>(last)])) --last;
    if (space_length(text, static_cast<size_t>(last)) == 0) break;
    end = last;
  }
  return {begin, end};
}

void split_oversize(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit,
                    const WordPiece* tokenizer, std::vector<int64_t>& starts) {
  const std::string_view sentence = text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  std::vector<int64_t> from, to;  // of the words, in bytes of the sentence
  for_each_word(sentence, [&](size_t a, size_t b) {
    from.push_back(static_cast<int64_t>(a));
    to.push_back(static_cast<int64_t>(b));
  });
  const size_t n = from.size();

  // What word j adds to a piece that it is not the first of, and its own length.
  std::vector<int64_t> added(n, 1), own(n, 1);
  if (unit == Unit::kTokens) {
    Values<int32_t> ids;
    std::vector<int64_t> offsets, bounds(from);
    bounds.push_back(end - begin);
    encode_and_count(*tokenizer, sentence, bounds.data(), n, ids, offsets, own);
    added = own;
  } else if (unit == Unit::kCharacters) {
    const auto count = [&](int64_t a, int64_t b) {
      return characters(sentence.substr(static_cast<size_t>(a), static_cast<size_t>(b - a)));
    };
    for (size_t j = 0; j < n; ++j) {
      own[j] = count(from[j], to[j]);
      added[j] = own[j] + (j > 0 ? count(to[j - 1], from[j]) : 0);
    }
  }
  for (size_t i = 0; i < n;) {
    if (own[i] > limit) {
      split_word(text, begin + from[i], begin + to[i], unit, limit, tokenizer, starts);
      ++i;
      continue;
    }
    starts.push_back(begin + from[i]);
    int64_t length = own[i];
    for (++i; i < n && length + added[i] <= limit; ++i) length += added[i];
  }
}

}  // namespace pychunk
