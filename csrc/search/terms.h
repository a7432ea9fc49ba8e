// The terms of texts, numbered and counted row by row: what pychunk/index/lexical/analyzer.py says they are, of many
// texts at once.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "common/string_table.h"
#include "common/view.h"
#include "search/word_counter.h"
#include "text/folding.h"
#include "text/word_characters.h"

namespace pychunk {

inline constexpr char kGramMark = '~';

struct TermOptions {
  int64_t ngram = 0;  // characters of an n-gram; 0: words are terms
  bool stems = false;
  std::vector<std::string> stop_words;  // folded
  // Frequent words, folded. With them words are terms, and so are n-grams of words that are not English: of those in
  // other letters than Latin, and of all in a text that is of another language by `english` and `others`.
  std::vector<std::string> english, others;
  // What is known of words is forgotten above so many bytes: text without spaces has few words that come again.
  size_t memory = size_t{64} << 20;
};

// Numbers stay the same from one batch to the next; which number a term gets depends on the threads, what invert()
// makes of them does not. An exception leaves terms that no row may hold, and nothing else.
//
// An n-gram beside words begins with kGramMark, which no word holds. A row is as long as it has words.
//
// Each distinct word becomes terms once: words are counted in each row first, and their terms by these counts. For
// n-grams that is a fifth of the look-ups.
class TermCounter {
 public:
  // Without `folding`, texts that are not ASCII are folded already.
  TermCounter(std::shared_ptr<const WordCharacters> characters, std::shared_ptr<const Folding> folding,
              TermOptions options);

  // The words of each text, valid UTF-8.
  void read(const Texts& texts, int threads = 1);
  // Words of which it is not known yet what terms they are; valid until the next call.
  std::vector<std::string_view> unknown() const;
  // What they are stemmed to, in order; themselves without stems.
  void learn(std::span<const std::string_view> stems);
  // The rows last read; all words must be known.
  TermRows rows(int threads = 1);

  const StringTable& terms() const { return direct_ ? words_ : terms_; }

 private:
  struct Helper;
  enum class Grams : uint8_t { kNone, kOtherScripts, kAll };
  struct Run {
    int64_t begin = -1;  // in gram_ids_; -1: not made
    int32_t count = 0;
  };
  void take_words(Helper& helper);
  // Of a word, which is not empty: whether it is of paired characters, which are a term as they are.
  bool is_paired(std::string_view word) const;
  void add_terms(std::string_view word, std::string_view stem);
  // Rows [first, last) of the words, row i from begins[i] on, in terms; with n-grams of words that grams says.
  TermRows terms_of(const TermRows& words, std::span<const int64_t> begins, std::span<const Grams> grams, int64_t first,
                    int64_t last) const;
  // Which words of each row have n-grams beside them; empty if none has. Their n-grams are terms from then on.
  std::vector<Grams> find_grams(const TermRows& words, std::span<const int64_t> begins);
  uint8_t traits_of(std::string_view word) const;
  void add_grams(std::string_view word, Values<int32_t>& out);

  const std::shared_ptr<const WordCharacters> characters_;
  const std::shared_ptr<const Folding> folding_;
  const TermOptions options_;
  const bool mixed_;   // words are terms, and some have n-grams
  const bool direct_;  // words are terms, with the same numbers
  StringTable stop_words_, english_, others_, words_, terms_;
  size_t longest_ = 0;  // bytes of a frequent word
  // Word w is terms term_ids_[term_offsets_[w]] to term_ids_[term_offsets_[w + 1]], unless words are terms.
  Values<int32_t> term_ids_;
  Values<int64_t> term_offsets_;
  Values<uint8_t> traits_;  // of words, where some have n-grams
  std::vector<Run> runs_;   // of words, in gram_ids_
  Values<int32_t> gram_ids_;
  // What reads the first share of the texts, with the numbers of words_; and what reads the others, each with words and
  // numbers of its own, and what these are in words_.
  struct Helper {
    StringTable words;
    WordCounter counter;
    Values<int32_t> numbers;
  };
  WordCounter first_;
  std::vector<std::unique_ptr<Helper>> helpers_;
  TermRows read_;  // the rows last read, in words
  std::string padded_;
  std::vector<size_t> starts_;
};

}  // namespace pychunk
