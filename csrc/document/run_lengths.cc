#include "document/run_lengths.h"

#include <algorithm>

#include "tokens/length.h"

namespace pychunk {
namespace {

// Return the extent [begin, end) of the word that contains byte `at`, empty if no word does. The search for the word's
// ends goes no further back than `from`, and no further on than `to`.
Trimmed word_over(const WordPiece& tokenizer, std::string_view text, int64_t from, int64_t at, int64_t to) {
  bool before = false, after = false;
  int64_t begin = at, end = at;
  while (begin > from) {
    const int64_t last = character_before(text, begin, from);
    const InWord role = tokenizer.in_word(text, static_cast<size_t>(last));
    if (role == InWord::kEnds) break;
    before |= role == InWord::kPart;
    begin = last;
  }
  if (!before) return {at, at};
  for (; end < to; end += decode_utf8(text, end).length) {
    const InWord role = tokenizer.in_word(text, static_cast<size_t>(end));
    if (role == InWord::kEnds) break;
    after |= role == InWord::kPart;
  }
  return after ? Trimmed{begin, end} : Trimmed{at, at};
}

bool is_plain_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

bool SharedWords::build(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> starts, int64_t end,
                        std::span<const int64_t> counts, std::vector<int64_t>& low, std::vector<int64_t>& high) {
  tokenizer_ = &tokenizer, text_ = text;
  words_.clear(), starts_.clear();
  asked_begin_ = -1;
  const auto n = static_cast<int64_t>(starts.size());
  low.resize(starts.size()), high.resize(starts.size());
  const auto start = [&](int64_t s) { return s < n ? starts[static_cast<size_t>(s)] : end; };
  const auto tokens = [&](int64_t a, int64_t b) { return measure(slice(text, a, b), Unit::kTokens, &tokenizer); };
  int64_t total = 0, surplus = 0;
  int64_t covered = 0;  // the last part that a word reaches; the boundaries up to it need no search
  for (int64_t s = 0; s < n; ++s) {
    if (s == covered) total += surplus, surplus = 0;
    low[static_cast<size_t>(s)] = total;
    total += counts[static_cast<size_t>(s)];
    high[static_cast<size_t>(s)] = total;
    const int64_t border = start(s + 1);
    if (s + 1 >= n || s + 1 <= covered || border == 0 || is_plain_space(text[static_cast<size_t>(border - 1)]))
      continue;
    const Trimmed word = word_over(tokenizer, text, start(s), border, end);
    if (word.empty()) continue;
    covered = s + 1;
    while (covered + 1 < n && start(covered + 1) < word.end) ++covered;
    Word found{word.begin, word.end, s, covered, 0, true, {0}, {0}};
    for (int64_t p = s; p <= covered; ++p) {
      const int64_t a = std::max(word.begin, start(p)), b = std::min(word.end, start(p + 1));
      found.tokens.push_back(found.tokens.back() + tokens(a, b));
      if (covered > s + 1)
        found.letters.push_back(found.letters.back() + tokenizer.letters(text.substr(a, b - a), found.plain));
    }
    surplus = tokens(word.begin, word.end) - found.tokens.back();
    if (covered == s + 1) continue;
    found.surplus = surplus;
    words_.push_back(std::move(found));
  }
  if (words_.empty()) return false;
  starts_.assign(starts.begin(), starts.end());
  starts_.push_back(end);
  return true;
}

const SharedWords::Word* SharedWords::over_border(int64_t part) const {
  const auto after =
      std::partition_point(words_.begin(), words_.end(), [&](const Word& word) { return word.last < part; });
  return after != words_.end() && after->first < part ? &*after : nullptr;
}

int64_t SharedWords::surplus(const Word& word, int64_t i, int64_t j) const {
  const auto from = static_cast<size_t>(i - word.first), to = static_cast<size_t>(j - word.first);
  if (to - from < 2) return 0;
  const int64_t apart = word.tokens[to] - word.tokens[from];
  const int64_t letters = word.letters[to] - word.letters[from];
  if (letters == 0) return -apart;
  if (word.plain && letters > tokenizer_->long_word()) return tokens_of_long_word(letters) - apart;
  // Parts without a letter at the ends of the run do not change the word's tokens.
  const auto first = std::upper_bound(word.letters.begin(), word.letters.end(), word.letters[from]) - 1;
  const auto last = std::lower_bound(word.letters.begin(), word.letters.end(), word.letters[to]) - 1;
  const auto part = [&](auto at) { return static_cast<size_t>(word.first + (at - word.letters.begin())); };
  const int64_t begin = std::max(word.begin, starts_[part(first)]), end = std::min(word.end, starts_[part(last) + 1]);
  if (begin != asked_begin_ || end != asked_end_) {
    asked_begin_ = begin, asked_end_ = end;
    answer_ = measure(slice(text_, begin, end), Unit::kTokens, tokenizer_);
  }
  return answer_ - apart;
}

int64_t SharedWords::correction(int64_t i, int64_t j) const {
  int64_t sum = 0;
  const Word* before = over_border(i);
  if (before != nullptr) {
    sum += surplus(*before, i, std::min(j, before->last + 1));
    if (i < before->last && before->last < j) sum -= before->surplus;
  }
  const Word* after = over_border(j);
  if (after != nullptr && after != before) sum += surplus(*after, after->first, j);
  return sum;
}

}  // namespace pychunk
