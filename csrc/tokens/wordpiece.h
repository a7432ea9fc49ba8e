// BERT's normaliser, pre-tokenizer and WordPiece, from text to a flat array of int32 ids, with byte offsets if
// requested. The ids equal those of Hugging Face `tokenizers` (BertNormalizer, BertPreTokenizer, WordPiece).
//
// 4 MB of Wikipedia, 637,000 words between spaces and 861,000 tokens, take 14 ms without offsets (285 MB/s) and 19 ms
// with them (210 MB/s), on one core of an AMD EPYC (Zen 4) that others also used. A profiler's shares of the 19 ms: the
// scan 1.5 ms, looking words up and writing tokens 14.5 ms, copying 17 MB of output 1.1 ms, clearing its pages 1.7 ms.
// The first call of a process, which has no such pages yet, has 126 MB/s.
//
// Budget for a byte of Wikipedia with AVX2, in instructions: the scan 5.6, keys and look-ups of whole tokens 14.7 (16.3
// with offsets), other words 4.2. One word in 15 is no whole token. It walks a trie whose cells are not in the
// first-level cache, which took as long as all other look-ups on a machine whose caches others used.
#pragma once
#include <cstdint>
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

// The number of normalised characters above which a word is one unknown token.
constexpr int64_t kLongWord = 100;
// The number of characters that budgets count as one token in a word that is one unknown token. Such a word is long, or
// of a script for which the vocabulary has no pieces. Without this rule, 10,700 Thai characters would count as 301
// tokens.
constexpr int64_t kCharactersPerToken = 4;
struct LongWord {
  size_t token;  // its index in the ids of the call
  int64_t characters;
};

// The effect of a character on the word around it.
enum class InWord : uint8_t { kNothing, kPart, kEnds };

// The WordPiece tokenizer. It never changes after construction, so one instance serves every thread.
class WordPiece {
 public:
  // Takes the vocabulary, in which vocabulary[i] is the token with id i. Throws std::invalid_argument if the unknown
  // token is missing.
  WordPiece(const std::vector<std::string>& vocabulary, const WordPieceOptions& options);
  ~WordPiece();
  WordPiece(WordPiece&&) noexcept;

  // Tokenizes each of n consecutive spans [bounds[i], bounds[i + 1]) of valid UTF-8 text on its own and appends the
  // ids, without special tokens. It appends n + 1 entries to token_offsets. Each token_offsets[i] is the index into ids
  // at which span i begins.
  //
  // If byte_spans is not null, it gets two entries per token: its [start, end) bytes in text. If long_words is not
  // null, it gets the long words. In this case `ids` must be empty before the call.
  void encode(std::string_view text, const int64_t* bounds, size_t n, Values<int32_t>& ids,
              std::vector<int64_t>& token_offsets, Values<int64_t>* byte_spans,
              std::vector<LongWord>* long_words = nullptr) const;

  // Returns the role of the character at text[at]. White space ends a word, and so does a character that is a word by
  // itself. Normalising drops controls, accents, U+000B and U+000C, so that the letters on both sides become
  // neighbours.
  InWord in_word(std::string_view text, size_t at) const;

  // Returns how many characters of the normalised text are parts of words. It sets `plain` to false if there are other
  // characters.
  int64_t letters(std::string_view text, bool& plain) const;

  // Returns the number of characters above which a word is one unknown token.
  int64_t long_word() const;

  int32_t vocabulary_size() const;
  int32_t unknown_id() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pychunk
