#include "search/terms.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Return the limits of at most `shares` runs of rows, with about the same number of bytes, or terms, each. Row i begins
// at begins[i].
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

// The traits of a word. The first three are evidence for the language of its text: English, another language, or a
// script without spaces. The last two say when its n-grams are terms: if the text is not in English, or always.
enum Trait : uint8_t { kEnglish = 1, kForeign = 2, kUnspaced = 4, kIfForeign = 8, kAlways = 16 };
// The weight of a distinct word as evidence: four for a word, and one for a single, pair or triple of unspaced letters.
constexpr int kWord = 4;

constexpr bool is_latin(char32_t c) {
  return c < 0x2B0 || (c >= 0x1D00 && c < 0x1F00) || (c >= 0x2C60 && c < 0x2C80) || (c >= 0xA720 && c < 0xA800) ||
         (c >= 0xAB30 && c < 0xAB70);
}

// Write the start of each character of a text, and the end of the text.
void find_characters(std::string_view text, std::vector<size_t>& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i)
    if (!continues_character(static_cast<uint8_t>(text[i]))) out.push_back(i);
  out.push_back(text.size());
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
      mixed_(!options_.english.empty()),
      direct_((mixed_ || options_.ngram == 0) && !options_.stems && options_.stop_words.empty()),
      term_offsets_{0} {
  PYCHUNK_CHECK(options_.ngram >= 0, "ngram must be 0 or more, got ", options_.ngram);
  PYCHUNK_CHECK(!mixed_ || options_.ngram > 0, "n-grams in addition to words need an ngram of 1 or more");
  for (const std::string& word : options_.stop_words) stop_words_.number(word);
  for (const std::string& word : options_.english) english_.number(word), longest_ = std::max(longest_, word.size());
  for (const std::string& word : options_.others) others_.number(word), longest_ = std::max(longest_, word.size());
}

bool TermCounter::is_paired(std::string_view word) const {
  return is_unspaced((*characters_)[decode_utf8(word, 0).code_point]);
}

void TermCounter::read(const Texts& texts, const Texts& contexts, int threads) {
  PYCHUNK_CHECK(contexts.size() == 0 || contexts.size() == texts.size(), "there must be one context for each of ",
                texts.size(), " texts, got ", contexts.size());
  read_ = {};
  const std::vector<int64_t> shares = even_shares(texts.offsets, threads);
  const auto count = static_cast<int64_t>(shares.size()) - 1;
  while (static_cast<int64_t>(helpers_.size()) + 1 < count) helpers_.push_back(std::make_unique<Helper>());
  std::vector<TermRows> found(static_cast<size_t>(count));
  parallel_for(count, threads, [&](int64_t i) {
    const auto begin = static_cast<size_t>(shares[static_cast<size_t>(i)]);
    const auto end = static_cast<size_t>(shares[static_cast<size_t>(i) + 1]);
    const auto own = [&](const Texts& all) {
      return all.size() == 0 ? Texts{} : Texts{all.data, all.offsets.subspan(begin, end - begin + 1)};
    };
    WordCounter& counter = i == 0 ? first_ : helpers_[static_cast<size_t>(i) - 1]->counter;
    StringTable& words = i == 0 ? words_ : helpers_[static_cast<size_t>(i) - 1]->words;
    found[static_cast<size_t>(i)] = counter.read(own(texts), own(contexts), *characters_, folding_.get(), words);
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
                " stems, one for each word, got ", stems.size());
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
  if (options_.ngram == 0 || mixed_) return term_ids_.push_back(terms_.number(stem));
  padded_.assign(1, '_').append(stem).append(1, '_');
  find_characters(padded_, starts_);
  const size_t characters = starts_.size() - 1, ngram = static_cast<size_t>(options_.ngram);
  const size_t wide = std::min(ngram, characters);
  for (size_t i = 0; i + wide <= characters; ++i)
    term_ids_.push_back(terms_.number(std::string_view(padded_).substr(starts_[i], starts_[i + wide] - starts_[i])));
}

uint8_t TermCounter::traits_of(std::string_view word) const {
  if (word.front() == kGramMark) return 0;
  if (is_paired(word)) return kUnspaced;
  for (size_t i = 0; i < word.size();) {
    const auto [c, length] = decode_utf8(word, static_cast<int64_t>(i));
    i += static_cast<size_t>(length);
    if (c == '_' || (c >= '0' && c <= '9')) continue;
    if (!is_latin(c)) return kAlways | (static_cast<size_t>(length) < word.size() ? kForeign : 0);
    if (count_characters(word) != static_cast<int64_t>(word.size())) return kIfForeign | kForeign;
    if (word.size() > longest_) return kIfForeign;
    return kIfForeign | (english_.find(word) >= 0 ? kEnglish : others_.find(word) >= 0 ? kForeign : 0);
  }
  return kIfForeign;  // digits
}

// Add the n-grams of a word. They are made of the word with an underscore at either end. If these are no more
// characters than an n-gram has, the only n-gram would be the word itself, which adds no information, so none is added.
void TermCounter::add_grams(std::string_view word, Values<int32_t>& out) {
  if (stop_words_.find(word) >= 0) return;
  std::string padded = "_";
  padded.append(word).append(1, '_');
  find_characters(padded, starts_);
  const size_t characters = starts_.size() - 1, ngram = static_cast<size_t>(options_.ngram);
  StringTable& terms = direct_ ? words_ : terms_;
  for (size_t i = 0; characters > ngram && i + ngram <= characters; ++i) {
    padded_.assign(1, kGramMark).append(padded, starts_[i], starts_[i + ngram] - starts_[i]);
    out.push_back(terms.number(padded_));
  }
}

std::vector<TermCounter::Grams> TermCounter::find_grams(const TermRows& words, std::span<const int64_t> begins) {
  for (auto word = static_cast<int32_t>(traits_.size()); word < words_.size(); ++word) {
    checkpoint_each(word, 4096);
    traits_.push_back(traits_of(words_[word]));
  }
  runs_.resize(traits_.size());
  std::vector<Grams> found(words.sizes.size(), Grams::kNone);
  bool any = false;
  for (size_t row = 0; row < found.size(); ++row) {
    checkpoint_each(static_cast<int64_t>(row), 64);
    const auto own = std::span(words.terms)
                         .subspan(static_cast<size_t>(begins[row]), static_cast<size_t>(begins[row + 1] - begins[row]));
    int64_t foreign = 0;
    uint8_t every = 0;
    for (const int32_t word : own) {
      const uint8_t traits = traits_[static_cast<size_t>(word)];
      every |= traits;
      foreign += kWord * (((traits & kForeign) != 0) - ((traits & kEnglish) != 0)) + ((traits & kUnspaced) != 0);
    }
    if (foreign <= 0 && (every & kAlways) == 0) continue;
    found[row] = foreign > 0 ? Grams::kAll : Grams::kOtherScripts;
    any = true;
    const uint8_t wanted = foreign > 0 ? kIfForeign | kAlways : kAlways;
    for (const int32_t word : own) {
      Run& run = runs_[static_cast<size_t>(word)];
      if ((traits_[static_cast<size_t>(word)] & wanted) == 0 || run.begin >= 0) continue;
      run.begin = static_cast<int64_t>(gram_ids_.size());
      add_grams(std::string(words_[word]), gram_ids_);
      run.count = static_cast<int32_t>(static_cast<int64_t>(gram_ids_.size()) - run.begin);
    }
  }
  if (!any) found.clear();
  return found;
}

TermRows TermCounter::rows(int threads) {
  if (direct_ && !mixed_) return std::exchange(read_, {});
  PYCHUNK_CHECK(direct_ || static_cast<size_t>(words_.size()) + 1 == term_offsets_.size(),
                "learn() must come before rows()");
  std::vector<int64_t> begins(read_.sizes.size() + 1);
  std::partial_sum(read_.sizes.begin(), read_.sizes.end(), begins.begin() + 1);
  const std::vector<Grams> grams = mixed_ ? find_grams(read_, begins) : std::vector<Grams>{};
  const TermRows words = std::exchange(read_, {});
  if (direct_ && grams.empty()) return words;
  const std::vector<int64_t> shares = even_shares(begins, threads);
  std::vector<TermRows> found(shares.size() - 1);
  parallel_for(static_cast<int64_t>(found.size()), threads, [&](int64_t i) {
    found[static_cast<size_t>(i)] =
        terms_of(words, begins, grams, shares[static_cast<size_t>(i)], shares[static_cast<size_t>(i) + 1]);
  });
  if (gram_ids_.size() * sizeof(int32_t) + runs_.size() * sizeof(Run) > options_.memory) gram_ids_ = {}, runs_ = {};
  if (!direct_ && words_.memory() + term_ids_.size() * sizeof(int32_t) > options_.memory) {
    words_.clear();
    for (const auto& helper : helpers_) helper->words.clear(), helper->numbers = {};
    term_ids_ = {}, gram_ids_ = {}, runs_ = {}, traits_ = {};
    term_offsets_ = {0};
  }
  return joined(std::move(found));
}

TermRows TermCounter::terms_of(const TermRows& words, std::span<const int64_t> begins, std::span<const Grams> grams,
                               int64_t first, int64_t last) const {
  TermRows found;
  std::vector<int32_t> times(static_cast<size_t>(terms().size())), met;
  const auto add = [&](int32_t term, int32_t count) {
    int32_t& own = times[static_cast<size_t>(term)];
    if (own == 0) met.push_back(term);
    own += count;
  };
  for (int64_t row = first; row < last; ++row) {
    checkpoint_each(row, 64);
    int64_t length = 0;
    const auto begin = static_cast<size_t>(begins[static_cast<size_t>(row)]);
    const auto end = static_cast<size_t>(begins[static_cast<size_t>(row) + 1]);
    const Grams wanted = grams.empty() ? Grams::kNone : grams[static_cast<size_t>(row)];
    if (direct_ && wanted == Grams::kNone) {  // nearly all rows of English
      const auto own = static_cast<std::ptrdiff_t>(begin), behind = static_cast<std::ptrdiff_t>(end);
      found.terms.insert(found.terms.end(), words.terms.begin() + own, words.terms.begin() + behind);
      found.counts.insert(found.counts.end(), words.counts.begin() + own, words.counts.begin() + behind);
      found.sizes.push_back(words.sizes[static_cast<size_t>(row)]);
      found.lengths.push_back(words.lengths[static_cast<size_t>(row)]);
      continue;
    }
    const uint8_t traits = wanted == Grams::kAll ? kIfForeign | kAlways : wanted == Grams::kNone ? 0 : kAlways;
    for (size_t at = begin; at < end; ++at) {
      const auto word = static_cast<size_t>(words.terms[at]);
      if (direct_) {
        length += words.counts[at];
        add(words.terms[at], words.counts[at]);
      } else {
        const int64_t begin_terms = term_offsets_[word], end_terms = term_offsets_[word + 1];
        length += words.counts[at] * (end_terms - begin_terms);
        for (int64_t i = begin_terms; i < end_terms; ++i) add(term_ids_[static_cast<size_t>(i)], words.counts[at]);
      }
      PYCHUNK_CHECK(length <= std::numeric_limits<int32_t>::max(), "a text must have fewer than 2^31 terms, got ",
                    length);
      if (traits == 0 || (traits_[word] & traits) == 0) continue;
      const Run& run = runs_[word];
      for (int64_t i = run.begin; i < run.begin + run.count; ++i)
        add(gram_ids_[static_cast<size_t>(i)], words.counts[at]);
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
