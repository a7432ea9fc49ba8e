#include "search/word_counter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/check.h"
#include "common/interrupt.h"
#include "text/utf8_text.h"

namespace pychunk {

void WordCounter::count_waiting(StringTable& words) {
  const size_t count = std::exchange(waits_, 0);
  std::array<StringTable::Key, kAhead> keys;
  std::array<int32_t, kAhead> numbers;
  for (size_t i = 0; i < count; ++i) words.prefetch(keys[i] = words.key_of(waiting_[i]));
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = words.number(waiting_[i], keys[i]);
    if (const auto at = static_cast<size_t>(numbers[i]); at < times_.size()) __builtin_prefetch(&times_[at], 1);
  }
  if (const auto known = static_cast<size_t>(words.size()); known > times_.size())
    times_.resize(std::max(known, 2 * times_.size()));
  for (size_t i = 0; i < count; ++i)
    if (times_[static_cast<size_t>(numbers[i])]++ == 0) met_.push_back(numbers[i]);
  length_ += static_cast<int64_t>(count);
}

void WordCounter::end_row(StringTable& words, TermRows& out) {
  count_waiting(words);
  PYCHUNK_CHECK(length_ <= std::numeric_limits<int32_t>::max(), "a text must have fewer than 2^31 terms, got ",
                length_);
  for (const int32_t number : met_) {
    out.terms.push_back(number);
    out.counts.push_back(std::exchange(times_[static_cast<size_t>(number)], 0));
  }
  out.sizes.push_back(static_cast<int32_t>(met_.size()));
  out.lengths.push_back(static_cast<int32_t>(length_));
  met_.clear();
  length_ = 0;
}

void WordCounter::read_ascii(std::string_view text, const WordCharacters& characters, StringTable& words) {
  const uint8_t* const lower = characters.ascii();
  lower_.resize(text.size());
  char* const out = lower_.data();
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const uint8_t c = lower[static_cast<uint8_t>(text[i])];
    out[i] = static_cast<char>(c);
    if (c != 0) continue;
    if (begin < i) count({out + begin, i - begin}, words);
    begin = i + 1;
  }
  if (begin < text.size()) count({out + begin, text.size() - begin}, words);
}

void WordCounter::read_folded(std::string_view text, const WordCharacters& characters, StringTable& words) {
  const uint8_t* const ascii = characters.ascii();
  const auto size = static_cast<int64_t>(text.size());
  int64_t begin = -1;  // the start of the current word
  // The starts of the current unspaced letter, of the letter before it, and of the one before that if three form a
  // term.
  int64_t letter = -1, before = -1, first = -1;
  bool is_tripled = false, before_is = false;  // whether `letter` and `before` are tripled letters
  const auto end_word = [&](int64_t end) {
    if (begin >= 0) count(slice(text, begin, end), words);
    if (letter >= 0) count(slice(text, letter, end), words);
    if (before >= 0) count(slice(text, before, end), words);
    if (first >= 0) count(slice(text, first, end), words);
    begin = letter = before = first = -1;
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
    } else if (is_unspaced(belongs)) {
      const int64_t last = letter, last_before = before_is ? before : -1;
      end_word(at);
      first = last_before;
      before = last;
      before_is = is_tripled;
      letter = at;
      is_tripled = belongs == Belongs::kTripled;
    }
  }
  end_word(size);
}

void WordCounter::read_text(std::string_view text, const WordCharacters& characters, const Folding* folding,
                            StringTable& words) {
  if (count_characters(text) == static_cast<int64_t>(text.size())) {
    read_ascii(text, characters, words);
  } else if (folding == nullptr) {
    read_folded(text, characters, words);
  } else {
    folded_.clear();
    folding->fold(text, folded_);
    read_folded({folded_.data(), folded_.size()}, characters, words);
  }
}

void WordCounter::keep_context(StringTable& words) {
  count_waiting(words);  // before the next text is read, because the waiting words are in its buffers
  context_.clear();
  for (const int32_t number : met_) context_.emplace_back(number, times_[static_cast<size_t>(number)]);
  context_length_ = length_;
}

void WordCounter::repeat_context() {
  for (const auto& [number, count] : context_) {
    times_[static_cast<size_t>(number)] = count;
    met_.push_back(number);
  }
  length_ = context_length_;
}

TermRows WordCounter::read(const Texts& texts, const Texts& contexts, const WordCharacters& characters,
                           const Folding* folding, StringTable& words) {
  TermRows found;
  times_.assign(static_cast<size_t>(words.size()), 0);  // an exception may have left some counts
  met_.clear();
  length_ = 0;
  waits_ = 0;
  for (int64_t row = 0; row < texts.size(); ++row) {
    checkpoint_each(row, 64);
    if (contexts.size() > 0 && row > 0 && contexts[row] == contexts[row - 1]) {
      repeat_context();
    } else if (contexts.size() > 0) {
      read_text(contexts[row], characters, folding, words);
      keep_context(words);
    }
    read_text(texts[row], characters, folding, words);
    end_row(words, found);
  }
  forget_if_huge(lower_, folded_);
  return found;
}

}  // namespace pychunk
