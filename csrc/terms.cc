#include "terms.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "check.h"
#include "dispatch.h"
#include "interrupt.h"
#include "utf8_text.h"

namespace pychunk {
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

void TermCounter::count(std::string_view word) {
  const auto number = static_cast<size_t>(words_.number(word));
  if (number >= times_.size()) times_.resize(std::max(number + 1, 2 * times_.size()));
  if (times_[number]++ == 0) met_.push_back(static_cast<int32_t>(number));
  ++length_;
}

void TermCounter::end_row() {
  PYCHUNK_CHECK(length_ <= std::numeric_limits<int32_t>::max(), "a text must have fewer than 2^31 terms, got ",
                length_);
  for (const int32_t number : met_) {
    read_.terms.push_back(number);
    read_.counts.push_back(std::exchange(times_[static_cast<size_t>(number)], 0));
  }
  read_.sizes.push_back(static_cast<int32_t>(met_.size()));
  read_.lengths.push_back(static_cast<int32_t>(length_));
  met_.clear();
  length_ = 0;
}

void TermCounter::read_ascii(std::string_view text) {
  const uint8_t* const lower = characters_->ascii();
  scratch_.resize(text.size());
  char* const out = scratch_.data();
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t c = lower[static_cast<uint8_t>(text[i])];
    out[i] = static_cast<char>(c);
    if (c != 0) continue;
    if (begin < i) count({out + begin, i - begin});
    begin = i + 1;
  }
  if (begin < text.size()) count({out + begin, text.size() - begin});
}

void TermCounter::read_folded(std::string_view text) {
  const WordCharacters& characters = *characters_;
  const uint8_t* const ascii = characters.ascii();
  const auto size = static_cast<int64_t>(text.size());
  int64_t begin = -1;                // of the word that goes on
  int64_t paired = -1, before = -1;  // of the paired character that goes on, and of the one before it
  const auto end_word = [&](int64_t end) {
    if (begin >= 0) count(slice(text, begin, end));
    if (paired >= 0) count(slice(text, paired, end));
    if (before >= 0) count(slice(text, before, end));
    begin = paired = before = -1;
  };
  for (int64_t i = 0; i < size;) {
    Belongs belongs;
    const int64_t at = i;
    if (const auto byte = static_cast<uint8_t>(text[static_cast<size_t>(i)]); byte < 0x80) {
      belongs = ascii[byte] != 0 ? Belongs::kAnywhere : Belongs::kNot;
      ++i;
    } else {
      const auto [c, length] = decode_utf8(text, i);
      belongs = characters[c];
      i += length;
    }
    if (belongs == Belongs::kAnywhere) {
      if (begin >= 0) continue;
      end_word(at);
      begin = at;
    } else if (belongs == Belongs::kNot) {
      end_word(at);
    } else if (belongs == Belongs::kPaired) {
      const int64_t last = paired;
      end_word(at);
      before = last;
      paired = at;
    }
  }
  end_word(size);
}

bool TermCounter::is_paired(std::string_view word) const {
  return (*characters_)[decode_utf8(word, 0).code_point] == Belongs::kPaired;
}

void TermCounter::read(const Texts& texts) {
  read_ = {};
  times_.assign(static_cast<size_t>(words_.size()), 0);  // an exception may have left some
  met_.clear();
  length_ = 0;
  for (int64_t row = 0; row < texts.size(); ++row) {
    checkpoint_each(row, 64);
    const std::string_view text = texts[row];
    if (count_characters(text) == static_cast<int64_t>(text.size())) {
      read_ascii(text);
    } else if (folding_ == nullptr) {
      read_folded(text);
    } else {
      folded_.clear();
      folding_->fold(text, folded_);
      read_folded({folded_.data(), folded_.size()});
    }
    end_row();
  }
  forget_if_huge(scratch_, folded_);
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
  scratch_.assign(1, '_').append(stem).append(1, '_');
  starts_.clear();
  for (size_t i = 0; i < scratch_.size(); ++i)
    if (!continues_character(static_cast<uint8_t>(scratch_[i]))) starts_.push_back(i);
  const size_t characters = starts_.size(), ngram = static_cast<size_t>(options_.ngram);
  starts_.push_back(scratch_.size());
  const size_t wide = std::min(ngram, characters);
  for (size_t i = 0; i + wide <= characters; ++i)
    term_ids_.push_back(terms_.number(std::string_view(scratch_).substr(starts_[i], starts_[i + wide] - starts_[i])));
}

TermRows TermCounter::rows() {
  if (direct_) return std::exchange(read_, {});
  PYCHUNK_CHECK(static_cast<size_t>(words_.size()) + 1 == term_offsets_.size(), "learn() must come before rows()");
  TermRows words = std::exchange(read_, {}), found;
  std::vector<int32_t> times(static_cast<size_t>(terms_.size())), met;
  size_t at = 0;
  for (size_t row = 0; row < words.sizes.size(); ++row) {
    checkpoint_each(static_cast<int64_t>(row), 64);
    int64_t length = 0;
    for (const size_t end = at + static_cast<size_t>(words.sizes[row]); at < end; ++at) {
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
  if (words_.memory() + term_ids_.size() * sizeof(int32_t) > options_.memory) {
    words_.clear();
    term_ids_ = {};
    term_offsets_ = {0};
  }
  return found;
}

}  // namespace pychunk
