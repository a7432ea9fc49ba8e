#include "tokens/token_counter.h"

#include "common/buffer.h"
#include "text/utf8_text.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

class CountedWordPieces : public CountedText {
 public:
  CountedWordPieces(const WordPiece& tokenizer, std::string_view text) : CountedText(text), tokenizer_(tokenizer) {}
  using CountedText::count;
  int64_t count(int64_t begin, int64_t end) override {
    encode(begin, end, nullptr);
    return static_cast<int64_t>(ids_.size());
  }
  void starts(std::vector<int64_t>& starts) override {
    Values<int64_t> spans;
    encode(0, static_cast<int64_t>(text_.size()), &spans);
    starts.clear();
    for (size_t i = 0; i < spans.size(); i += 2) starts.push_back(spans[i]);
  }

 private:
  void encode(int64_t begin, int64_t end, Values<int64_t>* spans) {
    const int64_t bounds[] = {begin, end};
    ids_.clear(), offsets_.clear();
    tokenizer_.encode(text_, bounds, 1, ids_, offsets_, spans);
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
