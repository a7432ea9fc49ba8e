#include "terms.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "check.h"
#include "interrupt.h"
#include "parallel.h"
#include "utf8_text.h"

namespace pychunk {
namespace {

// Borders of at most `shares` runs of rows, of about as many bytes, or terms, each; row i begins at begins[i].
std::vector<int64_t> even_shares(std::span<const int64_t> begins, int shares) {
  const auto rows = static_cast<int64_t>(begins.size()) - 1;
  if (rows < 1) return {0, 0};
  std::vector<int64_t> borders{0};
  for (int64_t i = 1; i < shares; ++i) {
    const int64_t wanted = begins.front() + (begins.back() - begins.front()) / shares * i;
    const int64_t border = std::lower_bound(begins.begin(), begins.end() - 1, wanted) - begins.begin();
    if (border > borders.back()) borders.push_back(border);
  }
  if (rows > borders.back()) borders.push_back(rows);
  return borders;
}

TermRows joined(std::vector<TermRows> shares) {
  if (shares.size() == 1) return std::move(shares[0]);
  TermRows all;
  for (const TermRows& share : shares) {
    all.terms.insert(all.terms.end(), share.terms.begin(), share.terms.end());
    all.counts.insert(all.counts.end(), share.counts.begin(), share.counts.end());
    all.sizes.insert(all.sizes.end(), share.sizes.begin(), share.sizes.end());
    all.lengths.insert(all.lengths.end(), share.lengths.begin(), share.lengths.end());
  }
  return all;
}

}  // namespace

TermCounter::TermCounter(std::shared_ptr<const WordCharacters> characters, std::shared_ptr<const Folding> folding,
                         TermOptions options)
    : characters_(std::move(characters)),
      folding_(std::move(folding)),
      options_(std::move(options)),
      direct_(options_.ngram == 0 && !options_.stems && options_.stop_words.empty()),
      term_offsets_{0} {
  PYCHUNK_CHECK(options_.ngram >= 0, "ngram must be 0 or more, got ", options_.ngram);
  for (const std::string& word : options_.stop_words) stop_words_.number(word);
}

bool TermCounter::is_paired(std::string_view word) const {
  return (*characters_)[decode_utf8(word, 0).code_point] == Belongs::kPaired;
}

void TermCounter::read(const Texts& texts, int threads) {
  read_ = {};
  const std::vector<int64_t> shares = even_shares(texts.offsets, threads);
  const auto count = static_cast<int64_t>(shares.size()) - 1;
  while (static_cast<int64_t>(helpers_.size()) + 1 < count) helpers_.push_back(std::make_unique<Helper>());
  std::vector<TermRows> found(static_cast<size_t>(count));
  parallel_for(count, threads, [&](int64_t i) {
    const auto begin = static_cast<size_t>(shares[static_cast<size_t>(i)]);
    const auto end = static_cast<size_t>(shares[static_cast<size_t>(i) + 1]);
    const Texts share{texts.data, texts.offsets.subspan(begin, end - begin + 1)};
    WordCounter& counter = i == 0 ? first_ : helpers_[static_cast<size_t>(i) - 1]->counter;
    StringTable& words = i == 0 ? words_ : helpers_[static_cast<size_t>(i) - 1]->words;
    found[static_cast<size_t>(i)] = counter.read(share, *characters_, folding_.get(), words);
  });
  for (int64_t i = 1; i < count; ++i) take_words(*helpers_[static_cast<size_t>(i) - 1]);
  parallel_for(count - 1, threads, [&](int64_t i) {
    Helper& helper = *helpers_[static_cast<size_t>(i)];
    for (int32_t& word : found[static_cast<size_t>(i) + 1].terms) word = helper.numbers[static_cast<size_t>(word)];
    if (helper.words.memory() > options_.memory) helper.words.clear(), helper.numbers = {};
  });
  read_ = joined(std::move(found));
}

void TermCounter::take_words(Helper& helper) {
  for (auto word = static_cast<int32_t>(helper.numbers.size()); word < helper.words.size(); ++word) {
    checkpoint_each(word, 4096);
    helper.numbers.push_back(words_.number(helper.words[word]));
  }
}

std::vector<std::string_view> TermCounter::unknown() const {
  std::vector<std::string_view> found;
  if (direct_) return found;
  for (auto word = static_cast<int32_t>(term_offsets_.size() - 1); word < words_.size(); ++word)
    found.push_back(words_[word]);
  return found;
}

void TermCounter::learn(std::span<const std::string_view> stems) {
  if (direct_) return;
  const auto first = static_cast<int32_t>(term_offsets_.size() - 1);
  PYCHUNK_CHECK(static_cast<int64_t>(stems.size()) == words_.size() - first, "there must be ", words_.size() - first,
                " stems, one a word, got ", stems.size());
  term_ids_.resize(static_cast<size_t>(term_offsets_.back()));
  for (size_t i = 0; i < stems.size(); ++i) {
    checkpoint_each(static_cast<int64_t>(i), 4096);
    const std::string_view word = words_[first + static_cast<int32_t>(i)];
    if (stop_words_.find(word) < 0) add_terms(word, stems[i]);
    term_offsets_.push_back(static_cast<int64_t>(term_ids_.size()));
  }
}

void TermCounter::add_terms(std::string_view word, std::string_view stem) {
  if (is_paired(word)) return term_ids_.push_back(terms_.number(word));
  if (options_.ngram == 0) return term_ids_.push_back(terms_.number(stem));
  padded_.assign(1, '_').append(stem).append(1, '_');
  starts_.clear();
  for (size_t i = 0; i < padded_.size(); ++i)
    if (!continues_character(static_cast<uint8_t>(padded_[i]))) starts_.push_back(i);
  const size_t characters = starts_.size(), ngram = static_cast<size_t>(options_.ngram);
  starts_.push_back(padded_.size());
  const size_t wide = std::min(ngram, characters);
  for (size_t i = 0; i + wide <= characters; ++i)
    term_ids_.push_back(terms_.number(std::string_view(padded_).substr(starts_[i], starts_[i + wide] - starts_[i])));
}

TermRows TermCounter::rows(int threads) {
  if (direct_) return std::exchange(read_, {});
  PYCHUNK_CHECK(static_cast<size_t>(words_.size()) + 1 == term_offsets_.size(), "learn() must come before rows()");
  const TermRows words = std::exchange(read_, {});
  std::vector<int64_t> begins(words.sizes.size() + 1);
  std::partial_sum(words.sizes.begin(), words.sizes.end(), begins.begin() + 1);
  const std::vector<int64_t> shares = even_shares(begins, threads);
  std::vector<TermRows> found(shares.size() - 1);
  parallel_for(static_cast<int64_t>(found.size()), threads, [&](int64_t i) {
    found[static_cast<size_t>(i)] =
        terms_of(words, begins, shares[static_cast<size_t>(i)], shares[static_cast<size_t>(i) + 1]);
  });
  if (words_.memory() + term_ids_.size() * sizeof(int32_t) > options_.memory) {
    words_.clear();
    for (const auto& helper : helpers_) helper->words.clear(), helper->numbers = {};
    term_ids_ = {};
    term_offsets_ = {0};
  }
  return joined(std::move(found));
}

TermRows TermCounter::terms_of(const TermRows& words, std::span<const int64_t> begins, int64_t first,
                               int64_t last) const {
  TermRows found;
  std::vector<int32_t> times(static_cast<size_t>(terms_.size())), met;
  for (int64_t row = first; row < last; ++row) {
    checkpoint_each(row, 64);
    int64_t length = 0;
    const auto begin = static_cast<size_t>(begins[static_cast<size_t>(row)]);
    const auto end = static_cast<size_t>(begins[static_cast<size_t>(row) + 1]);
    for (size_t at = begin; at < end; ++at) {
      const auto word = static_cast<size_t>(words.terms[at]);
      const int64_t begin_terms = term_offsets_[word], end_terms = term_offsets_[word + 1];
      length += words.counts[at] * (end_terms - begin_terms);
      PYCHUNK_CHECK(length <= std::numeric_limits<int32_t>::max(), "a text must have fewer than 2^31 terms, got ",
                    length);
      for (int64_t i = begin_terms; i < end_terms; ++i) {
        const int32_t term = term_ids_[static_cast<size_t>(i)];
        int32_t& own = times[static_cast<size_t>(term)];
        if (own == 0) met.push_back(term);
        own += words.counts[at];
      }
    }
    for (const int32_t term : met) {
      found.terms.push_back(term);
      found.counts.push_back(std::exchange(times[static_cast<size_t>(term)], 0));
    }
    found.sizes.push_back(static_cast<int32_t>(met.size()));
    found.lengths.push_back(static_cast<int32_t>(length));
    met.clear();
  }
  return found;
}

}  // namespace pychunk
