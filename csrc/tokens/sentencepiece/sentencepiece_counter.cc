#include "tokens/sentencepiece/sentencepiece_counter.h"

#include <algorithm>

namespace pychunk {
namespace {

class CountedPieces : public CountedText {
 public:
  CountedPieces(const SentencePiece& tokenizer, std::string_view text) : CountedText(text), tokenizer_(tokenizer) {}
  using CountedText::count;
  int64_t count(int64_t begin, int64_t end) override {
    encode(begin, end, TokenFields::kCounts);
    return counts_[0];
  }
  void starts(std::vector<int64_t>& starts) override {
    encode(0, static_cast<int64_t>(text_.size()), TokenFields::kByteSpans);
    starts.clear();
    for (size_t i = 0; i < spans_.size(); i += 2) starts.push_back(spans_[i]);
    ids_ = {}, spans_ = {};
  }

 private:
  void encode(int64_t begin, int64_t end, TokenFields fields) {
    const int64_t bounds[] = {begin, end};
    counts_.clear();
    tokenizer_.encode(text_, bounds, 1, SpanEnds::kWhole, fields, ids_, spans_, counts_);
  }

  const SentencePiece& tokenizer_;
  Values<int32_t> ids_;
  Values<int64_t> spans_;
  std::vector<int64_t> counts_;
};

// The pieces of a text whose words have the same tokens wherever they are.
class CountedWordsOfPieces : public CountedWords {
 public:
  CountedWordsOfPieces(const SentencePiece& tokenizer, std::string_view text)
      : CountedWords(text), tokenizer_(tokenizer) {}
  void starts(std::vector<int64_t>& starts) override { CountedPieces(tokenizer_, text_).starts(starts); }

 private:
  void count_alone(const int64_t* bounds, size_t n, int64_t* counts) override {
    Values<int32_t> ids;
    Values<int64_t> spans;
    counts_.clear();
    tokenizer_.encode(text_, bounds, n, SpanEnds::kWhole, TokenFields::kCounts, ids, spans, counts_);
    std::copy(counts_.begin(), counts_.end(), counts);
  }
  bool divides(int64_t begin, int64_t end) const override { return tokenizer_.divides(text_, begin, end); }

  const SentencePiece& tokenizer_;
  std::vector<int64_t> counts_;
};

class SentencePieceCounter : public TokenCounter {
 public:
  explicit SentencePieceCounter(const SentencePiece& tokenizer) : tokenizer_(tokenizer) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    if (tokenizer_.has_separate_words()) return std::make_unique<CountedWordsOfPieces>(tokenizer_, text);
    return std::make_unique<CountedPieces>(tokenizer_, text);
  }

 private:
  const SentencePiece& tokenizer_;
};

}  // namespace

std::unique_ptr<TokenCounter> counter_of(const SentencePiece& tokenizer) {
  return std::make_unique<SentencePieceCounter>(tokenizer);
}

}  // namespace pychunk
