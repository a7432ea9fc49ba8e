// BERT's normaliser, pre-tokeniser and WordPiece: text to flat int32 ids, with byte offsets when wanted.
// Equal, id for id, to Hugging Face `tokenizers` (BertNormalizer, BertPreTokenizer, WordPiece).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "text/unicode.h"

namespace pychunk {

struct WordPieceOptions {
  NormaliserOptions normaliser = {};
  std::string unknown = "[UNK]";
  std::string prefix = "##";      // of pieces that continue a word
  int max_word_characters = 100;  // a longer word is one [UNK]
};

// What WordPiece::encode() does, by another tokenizer whose tokens are counted but never looked up: the ids may be
// anything, and white space at the edges of a span makes no token.
using ForeignEncode = std::function<void(std::string_view text, const int64_t* bounds, size_t n, Values<int32_t>& ids,
                                         std::vector<int64_t>& token_offsets, Values<int64_t>* byte_spans)>;

// A word of more than kLongWord characters (normalised ones) is one unknown token.
constexpr int64_t kLongWord = 100;
// An unknown token that stands for more than kCharactersPerToken characters: a long word, or one of a script that the
// vocabulary has no pieces of. It counts in budgets as one token for so many characters, or 10,700 Thai ones are 301.
constexpr int64_t kCharactersPerToken = 4;
struct LongWord {
  size_t token;  // its number among the ids of the call
  int64_t characters;
};

// What a character is to the word around it.
enum class InWord : uint8_t { kNothing, kPart, kEnds };

// Immutable once built, so one instance serves every thread.
class WordPiece {
 public:
  // vocabulary[i] is the token with id i. Throws std::invalid_argument if it lacks the unknown token.
  WordPiece(const std::vector<std::string>& vocabulary, const WordPieceOptions& options);
  // Another tokenizer in its place. Its tokens may reach over sentences, so that those of a run of sentences are near
  // the sum of the sentences' and no more: limits count the run's own text.
  explicit WordPiece(ForeignEncode encode);
  bool is_foreign() const;
  ~WordPiece();
  WordPiece(WordPiece&&) noexcept;

  // Tokenises each of n consecutive spans [bounds[i], bounds[i + 1]) of valid UTF-8 text on its own and
  // appends the ids (no special tokens). token_offsets gets n + 1 entries appended: token_offsets[i] is the
  // index into ids where span i begins. byte_spans, unless null, gets two entries a token appended: its
  // [start, end) bytes in text. long_words, unless null, gets the long words appended, where ids was empty.
  void encode(std::string_view text, const int64_t* bounds, size_t n, Values<int32_t>& ids,
              std::vector<int64_t>& token_offsets, Values<int64_t>* byte_spans,
              std::vector<LongWord>* long_words = nullptr) const;

  // Of the character at text[at]: white space and what is a word by itself end a word; what normalising drops
  // (controls, accents, U+000B or U+000C) is nothing to it, so that the letters on its two sides are neighbours.
  InWord in_word(std::string_view text, size_t at) const;

  // Characters that text becomes part of words as, once normalised; `plain` turns false where others are among them.
  int64_t letters(std::string_view text, bool& plain) const;

  // A word of more characters than this is one unknown token.
  int64_t long_word() const;

  int32_t vocabulary_size() const;
  int32_t unknown_id() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pychunk
