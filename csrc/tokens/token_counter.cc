#include "tokens/token_counter.h"

#include <algorithm>

#include "common/buffer.h"
#include "text/graphemes.h"
#include "text/utf8_text.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

class CountedWordPieces : public CountedWords {
 public:
  CountedWordPieces(const WordPiece& tokenizer, std::string_view text) : CountedWords(text), tokenizer_(tokenizer) {}
  void starts(std::vector<int64_t>& starts) override {
    const int64_t bounds[] = {0, static_cast<int64_t>(text_.size())};
    Values<int64_t> spans;
    encode(bounds, 1, &spans);
    starts.clear();
    for (size_t i = 0; i < spans.size(); i += 2) starts.push_back(spans[i]);
  }

 private:
  void count_alone(const int64_t* bounds, size_t n, int64_t* counts) override {
    encode(bounds, n, nullptr);
    for (size_t i = 0; i < n; ++i) counts[i] = offsets_[i + 1] - offsets_[i];
  }
  // Other characters of white space are dropped, so that they join words.
  bool divides(int64_t begin, int64_t end) const override {
    const std::string_view between = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    return between.find_first_not_of(" \t\n\r") == std::string_view::npos &&
           !extends_cluster(decode_utf8(text_, end).code_point);
  }
  void encode(const int64_t* bounds, size_t n, Values<int64_t>* spans) {
    ids_.clear(), offsets_.clear();
    tokenizer_.encode(text_, bounds, n, ids_, offsets_, spans);
  }

  const WordPiece& tokenizer_;
  Values<int32_t> ids_;
  std::vector<int64_t> offsets_;
};

class WordPieceCounter : public TokenCounter {
 public:
  explicit WordPieceCounter(const WordPiece& tokenizer) : tokenizer_(tokenizer) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    return std::make_unique<CountedWordPieces>(tokenizer_, text);
  }

 private:
  const WordPiece& tokenizer_;
};

}  // namespace

void CountedText::count(const int64_t* bounds, size_t n, int64_t* counts) {
  for (size_t i = 0; i < n; ++i) {
    const Trimmed inside = trim(text_, bounds[i], bounds[i + 1]);
    counts[i] = inside.empty() ? 0 : count(inside.begin, inside.end);
  }
}

void CountedWords::count(const int64_t* bounds, size_t n, int64_t* counts) {
  if (n == 0) return;
  // The spans, and the white space between them, whose tokens do not count.
  std::vector<int64_t> parts, found(2 * n);
  for (size_t i = 0; i < n; ++i) {
    const Trimmed inside = trim(text_, bounds[i], bounds[i + 1]);
    parts.push_back(inside.empty() ? bounds[i] : inside.begin);
    parts.push_back(inside.empty() ? bounds[i] : inside.end);
  }
  count_alone(parts.data(), 2 * n - 1, found.data());
  for (size_t i = 0; i < n; ++i) counts[i] = found[2 * i];
  if (bounds[0] == 0 && bounds[n] == static_cast<int64_t>(text_.size())) know(bounds, n, counts);
}

void CountedWords::know(const int64_t* bounds, size_t n, const int64_t* counts) {
  if (!borders_.empty()) return;
  int64_t tokens = 0, run = 0, end = 0;
  for (size_t i = 0; i < n; ++i) {
    const Trimmed inside = trim(text_, bounds[i], bounds[i + 1]);
    if (inside.empty()) continue;
    if (borders_.empty() || (end < inside.begin && divides(end, inside.begin)))
      borders_.push_back({end, inside.begin, tokens, run});
    else
      ++run;
    tokens += counts[i], end = inside.end;
  }
  borders_.push_back({end, static_cast<int64_t>(text_.size()), tokens, run});
}

int64_t CountedWords::count(int64_t begin, int64_t end) {
  const auto alone = [&](int64_t from, int64_t to) {
    const int64_t bounds[] = {from, to};
    int64_t found = 0;
    if (from < to) count_alone(bounds, 1, &found);
    return found;
  };
  // The first border that begins a sentence inside the span, and the last one that ends one there.
  const auto first = std::lower_bound(borders_.begin(), borders_.end(), begin,
                                      [](const Border& border, int64_t at) { return border.begin < at; });
  auto last =
      std::upper_bound(first, borders_.end(), end, [](int64_t at, const Border& border) { return at < border.end; });
  if (last - first < 2) return alone(begin, end);
  --last;
  if (first->run != last->run) return alone(begin, end);
  return alone(begin, first->end) + last->tokens - first->tokens + alone(last->begin, end);
}

void CountedText::starts(std::vector<int64_t>& starts) {
  std::vector<int64_t> bounds;
  for_each_word(text_, [&](size_t begin, size_t) { bounds.push_back(static_cast<int64_t>(begin)); });
  starts.clear();
  if (bounds.empty()) return;
  std::vector<int64_t> counts(bounds.size());
  bounds.push_back(static_cast<int64_t>(text_.size()));
  count(bounds.data(), counts.size(), counts.data());
  for (size_t i = 0; i < counts.size(); ++i) add_starts(text_, bounds[i], bounds[i + 1], counts[i], starts);
}

void add_starts(std::string_view text, int64_t begin, int64_t end, int64_t tokens, std::vector<int64_t>& starts) {
  for (int64_t token = 0; token < tokens; ++token) {
    int64_t at = begin + (end - begin) * token / tokens;
    while (continues_character(static_cast<uint8_t>(text[static_cast<size_t>(at)]))) --at;
    starts.push_back(at);
  }
}

std::unique_ptr<TokenCounter> counter_of(const WordPiece& tokenizer) {
  return std::make_unique<WordPieceCounter>(tokenizer);
}

}  // namespace pychunk
