#include "tokens/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "common/buffer.h"
#include "common/check.h"
#include "common/interrupt.h"

namespace pychunk {
namespace {

// A text with added tokens. The texts between them are tokenized by themselves.
class CountedBetween : public CountedText {
 public:
  CountedBetween(const AddedTokens& added, const TokenCounter& words, std::string_view text, AddedTokens::Found found)
      : CountedText(text), added_(added), words_(words) {
    size_t at = 0;
    for (; found.begin < text.size(); found = added.next(text, at)) {
      checkpoint_each(static_cast<int64_t>(gaps_.size()), 4096);
      add_gap(at, found.begin);
      at = found.end;
    }
    add_gap(at, text.size());
  }
  using CountedText::count;

  // Outside the text's own tokens, a span has the same tokens as the text. If one of its ends is inside a token of the
  // text, others may be in the span.
  int64_t count(int64_t begin, int64_t end) override {
    const size_t first = gap_at(begin), last = gap_at(end);
    if (begin > gaps_[first].end || end > gaps_[last].end) return count_alone(begin, end);
    if (first == last) return count_gap(first, begin, end);
    const int64_t between = gaps_[last].before - gaps_[first + 1].before;
    return count_gap(first, begin, gaps_[first].end) + 1 + between + count_gap(last, gaps_[last].begin, end);
  }

  void starts(std::vector<int64_t>& starts) override {
    starts.clear();
    std::vector<int64_t> own;
    for (size_t i = 0; i < gaps_.size(); ++i) {
      if (i > 0) starts.push_back(gaps_[i - 1].end);
      if (gaps_[i].begin == gaps_[i].end) continue;
      read(i)->starts(own);
      for (const int64_t start : own) starts.push_back(gaps_[i].begin + start);
    }
  }

 private:
  // The counts of a text take some 400 bytes, so a text of many short gaps would need a hundred times its own size.
  static constexpr size_t kShort = 256;

  struct Gap {
    int64_t begin, end;
    int64_t before;                     // the tokens of the text before the gap
    std::shared_ptr<CountedText> text;  // null if it is short, and then it is read again for each count
  };

  void add_gap(size_t begin, size_t end) {
    int64_t before = 0;
    if (!gaps_.empty()) {
      const Gap& last = gaps_.back();
      before = last.before + count_gap(gaps_.size() - 1, last.begin, last.end) + 1;
    }
    gaps_.push_back({static_cast<int64_t>(begin), static_cast<int64_t>(end), before,
                     end - begin > kShort ? words_.read(text_.substr(begin, end - begin)) : nullptr});
  }

  std::shared_ptr<CountedText> read(size_t i) const {
    const Gap& gap = gaps_[i];
    if (gap.text != nullptr) return gap.text;
    return words_.read(text_.substr(static_cast<size_t>(gap.begin), static_cast<size_t>(gap.end - gap.begin)));
  }

  // Returns the last gap that begins at `at` or before. The text begins with a gap, which may be empty.
  size_t gap_at(int64_t at) const {
    const auto after = std::upper_bound(gaps_.begin(), gaps_.end(), at,
                                        [](int64_t value, const Gap& gap) { return value < gap.begin; });
    return static_cast<size_t>(after - gaps_.begin()) - 1;
  }

  int64_t count_gap(size_t i, int64_t begin, int64_t end) {
    return begin < end ? read(i)->count(begin - gaps_[i].begin, end - gaps_[i].begin) : 0;
  }

  int64_t count_alone(int64_t begin, int64_t end) const {
    const std::string_view own = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    int64_t tokens = 0;
    for (size_t at = 0; at < own.size();) {
      const AddedTokens::Found found = added_.next(own, at);
      if (found.begin > at) {
        const std::string_view words = own.substr(at, found.begin - at);
        tokens += words_.read(words)->count(0, static_cast<int64_t>(words.size()));
      }
      tokens += found.begin < own.size();
      at = found.end;
    }
    return tokens;
  }

  const AddedTokens& added_;
  const TokenCounter& words_;
  std::vector<Gap> gaps_;
};

// A text that is not in NFC.
class CountedNormalised : public CountedText {
 public:
  CountedNormalised(const Folding& nfc, const TokenCounter& inner, std::string_view text)
      : CountedText(text), nfc_(nfc), inner_(inner) {}
  using CountedText::count;
  int64_t count(int64_t begin, int64_t end) override {
    own_.clear();
    nfc_.fold(text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)), own_);
    const std::string_view text(own_.data(), own_.size());
    return inner_.read(text)->count(0, static_cast<int64_t>(text.size()));
  }

 private:
  const Folding& nfc_;
  const TokenCounter& inner_;
  Values<char> own_;
};

class AddedTokenCounter : public TokenCounter {
 public:
  AddedTokenCounter(std::vector<std::string> tokens, std::unique_ptr<TokenCounter> words)
      : added_(std::move(tokens)), words_(std::move(words)) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    const AddedTokens::Found first = added_.next(text, 0);
    if (first.begin == text.size()) return words_->read(text);
    return std::make_unique<CountedBetween>(added_, *words_, text, first);
  }

 private:
  const AddedTokens added_;
  const std::unique_ptr<TokenCounter> words_;
};

class NormalisedCounter : public TokenCounter {
 public:
  NormalisedCounter(std::shared_ptr<const Folding> nfc, std::unique_ptr<TokenCounter> inner)
      : nfc_(std::move(nfc)), inner_(std::move(inner)) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    Values<char> own;
    nfc_->fold(text, own);
    if (std::string_view(own.data(), own.size()) == text) return inner_->read(text);
    return std::make_unique<CountedNormalised>(*nfc_, *inner_, text);
  }

 private:
  const std::shared_ptr<const Folding> nfc_;
  const std::unique_ptr<TokenCounter> inner_;
};

}  // namespace

AddedTokens::AddedTokens(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end());
  first_.fill(0);
  for (const std::string& token : tokens_) {
    PYCHUNK_CHECK(!token.empty(), "added tokens must not be empty");
    ++first_[static_cast<uint8_t>(token[0]) + size_t{1}];
  }
  for (size_t byte = 0; byte < 256; ++byte) first_[byte + 1] += first_[byte];
}

AddedTokens::Found AddedTokens::next(std::string_view text, size_t from) const {
  for (size_t at = from; at < text.size(); ++at) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (first_[byte] == first_[byte + size_t{1}]) continue;
    if (const size_t length = longest(text, at); length > 0) return {at, at + length};
  }
  return {text.size(), text.size()};
}

size_t AddedTokens::longest(std::string_view text, size_t at) const {
  const auto byte = static_cast<uint8_t>(text[at]);
  auto begin = tokens_.begin() + first_[byte], end = tokens_.begin() + first_[byte + size_t{1}];
  size_t found = 0;
  // All tokens in [begin, end) begin with the first `length` bytes from `at` on. Those that end there come first.
  for (size_t length = 1;; ++length) {
    for (; begin != end && begin->size() == length; ++begin) found = length;
    if (begin == end || at + length == text.size()) return found;
    const auto next = static_cast<uint8_t>(text[at + length]);
    const auto byte_of = [&](const std::string& token) { return static_cast<uint8_t>(token[length]); };
    begin = std::lower_bound(begin, end, next, [&](const std::string& token, uint8_t b) { return byte_of(token) < b; });
    end = std::upper_bound(begin, end, next, [&](uint8_t b, const std::string& token) { return b < byte_of(token); });
  }
}

std::unique_ptr<TokenCounter> counter_after(TextSteps steps, std::unique_ptr<TokenCounter> words) {
  const auto find = [&](std::vector<std::string>& tokens) {
    if (!tokens.empty()) words = std::make_unique<AddedTokenCounter>(std::move(tokens), std::move(words));
  };
  find(steps.normalised);
  if (steps.nfc != nullptr) words = std::make_unique<NormalisedCounter>(std::move(steps.nfc), std::move(words));
  find(steps.added);
  return words;
}

}  // namespace pychunk
