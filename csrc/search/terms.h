// The terms of texts, numbered and counted row by row. They are the terms that pychunk/index/lexical/analyzer.py
// defines, for many texts at once.
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
  int64_t ngram = 0;  // the characters of an n-gram; 0: words are terms
  bool stems = false;
  std::vector<std::string> stop_words;  // folded
  // Frequent words of English and of other languages, folded. If they are set, words are terms, and the n-grams of some
  // words are terms in addition: of words with letters other than Latin ones, and of all words of a text that is not in
  // English. The words of a text that occur in `english` and in `others` decide on its language.
  std::vector<std::string> english, others;
  // The memory in bytes above which the stored terms of words are discarded. In text without spaces few words recur.
  size_t memory = size_t{64} << 20;
};

// A counter of terms. Numbers stay the same from one batch to the next. The number of a term depends on the threads,
// but the result of invert() does not. An exception may leave terms that no row contains, and has no other effect.
//
// An n-gram that is used in addition to words begins with kGramMark, which no word contains. The length of a row is the
// number of its words.
//
// Each distinct word is turned into terms once. The words of a row are counted first, and a word's count is then added
// to each of its terms. For n-grams this needs a fifth of the look-ups that separate occurrences would need.
class TermCounter {
 public:
  // Create a counter. Without `folding`, texts that are not ASCII must already be folded.
  TermCounter(std::shared_ptr<const WordCharacters> characters, std::shared_ptr<const Folding> folding,
              TermOptions options);

  // Read the words of each text, which must be valid UTF-8. `contexts` is empty, or holds for each text one whose words
  // precede its own.
  void read(const Texts& texts, const Texts& contexts, int threads = 1);
  // Return the words whose terms are not known yet. They are valid until the next call.
  std::vector<std::string_view> unknown() const;
  // Learn the stems of the words that unknown() returned, in their order. Without stemming, the stems are the words
  // themselves.
  void learn(std::span<const std::string_view> stems);
  // Return the rows that were read last. The terms of all words must be known.
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
  // Return whether a non-empty word consists of paired characters only. Such a word is a term as it is.
  bool is_paired(std::string_view word) const;
  void add_terms(std::string_view word, std::string_view stem);
  // Return rows [first, last) of the words as terms, where row i begins at begins[i]. `grams` says which words get
  // n-grams.
  TermRows terms_of(const TermRows& words, std::span<const int64_t> begins, std::span<const Grams> grams, int64_t first,
                    int64_t last) const;
  // Return the words of each row that get n-grams too, which are terms from then on; empty if no row has any.
  std::vector<Grams> find_grams(const TermRows& words, std::span<const int64_t> begins);
  uint8_t traits_of(std::string_view word) const;
  void add_grams(std::string_view word, Values<int32_t>& out);

  const std::shared_ptr<const WordCharacters> characters_;
  const std::shared_ptr<const Folding> folding_;
  const TermOptions options_;
  const bool mixed_;   // words are terms, and some have n-grams
  const bool direct_;  // words are terms, with the same numbers
  StringTable stop_words_, english_, others_, words_, terms_;
  size_t longest_ = 0;  // the bytes of the longest frequent word
  // The terms of word w are term_ids_[term_offsets_[w]] to term_ids_[term_offsets_[w + 1]], unless words are terms.
  Values<int32_t> term_ids_;
  Values<int64_t> term_offsets_;
  Values<uint8_t> traits_;  // of words, if some have n-grams
  std::vector<Run> runs_;   // of words, in gram_ids_
  Values<int32_t> gram_ids_;
  // A reader of one share of the texts. The first share is read by first_ with the numbers of words_. Each helper has
  // words and numbers of its own, and `numbers` translates them to those of words_.
  struct Helper {
    StringTable words;
    WordCounter counter;
    Values<int32_t> numbers;
  };
  WordCounter first_;
  std::vector<std::unique_ptr<Helper>> helpers_;
  TermRows read_;  // the rows that were read last, as words
  std::string padded_;
  std::vector<size_t> starts_;
};

}  // namespace pychunk
