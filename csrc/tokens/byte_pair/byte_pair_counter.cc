#include "tokens/byte_pair/byte_pair_counter.h"

#include <algorithm>

namespace pychunk {
namespace {

class CountedBytePairs : public CountedText {
 public:
  CountedBytePairs(const BytePair& tokenizer, std::string_view text)
      : CountedText(text), tokenizer_(tokenizer), pretokens_(tokenizer.count_pretokens(text)) {}
  using CountedText::count;

  // A pattern finds one pre-token after the other, so its pre-tokens of the span are those of the whole text from the
  // first common boundary on. The span ends with a character that is no white space, so the last pre-token that the
  // whole text ends inside the span is also the same: only white space depends on the text after it.
  int64_t count(int64_t begin, int64_t end) override {
    int64_t found = 0, at = begin;
    size_t first = boundary(at);
    while (at < end && !is_boundary(first, at)) {
      at = add_pretoken(at, end, found);
      while (first < pretokens_.ends.size() && pretokens_.ends[first] < at) ++first;
    }
    if (at >= end) return found;
    // The last boundary of the whole text that is at most `end`.
    const size_t last = static_cast<size_t>(std::upper_bound(pretokens_.ends.begin(), pretokens_.ends.end(), end) -
                                            pretokens_.ends.begin());
    if (last > 0 && pretokens_.ends[last - 1] > at) {
      found += pretokens_.tokens[last - 1] - (at == 0 ? 0 : pretokens_.tokens[first]);
      at = pretokens_.ends[last - 1];
    }
    while (at < end) at = add_pretoken(at, end, found);
    return found;
  }

  void starts(std::vector<int64_t>& starts) override {
    starts.clear();
    int64_t begin = 0, before = 0;
    for (size_t i = 0; i < pretokens_.ends.size(); ++i) {
      const int64_t end = pretokens_.ends[i], tokens = pretokens_.tokens[i] - before;
      add_starts(text_, begin, end, tokens, starts);
      begin = end, before = pretokens_.tokens[i];
    }
  }

 private:
  // Returns the first pre-token that ends at `at` or later.
  size_t boundary(int64_t at) const {
    return static_cast<size_t>(std::lower_bound(pretokens_.ends.begin(), pretokens_.ends.end(), at) -
                               pretokens_.ends.begin());
  }
  bool is_boundary(size_t pretoken, int64_t at) const {
    return at == 0 || (pretoken < pretokens_.ends.size() && pretokens_.ends[pretoken] == at);
  }
  int64_t add_pretoken(int64_t at, int64_t end, int64_t& found) {
    const auto begin = static_cast<size_t>(at);
    const size_t to = pretoken_end(tokenizer_.rules(), reinterpret_cast<const uint8_t*>(text_.data()), begin,
                                   static_cast<size_t>(end));
    found += tokenizer_.count_pretoken(text_.substr(begin, to - begin), memory_);
    return static_cast<int64_t>(to);
  }

  const BytePair& tokenizer_;
  const PretokenCounts pretokens_;
  MergeMemory memory_;
};

class BytePairCounter : public TokenCounter {
 public:
  explicit BytePairCounter(const BytePair& tokenizer) : tokenizer_(tokenizer) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    return std::make_unique<CountedBytePairs>(tokenizer_, text);
  }

 private:
  const BytePair& tokenizer_;
};

}  // namespace

std::unique_ptr<TokenCounter> counter_of(const BytePair& tokenizer) {
  return std::make_unique<BytePairCounter>(tokenizer);
}

}  // namespace pychunk
