// SentencePiece's unigram and BPE tokenizers, from text to ids, with byte offsets if requested. The ids equal those of
// the library that made the vocabulary: Hugging Face `tokenizers` (0.23) for a tokenizer.json, `sentencepiece` (0.2.3)
// for a .model.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "tokens/tokenization.h"

namespace pychunk {

// The library whose rules a tokenizer follows. They differ in the unit of the character map (a grapheme cluster or the
// longest key), in white space, in the precision of scores, and in the offsets of tokens.
enum class PieceRules { kTokenizers, kSentencePiece };
enum class PieceModel { kUnigram, kBytePair };
enum class PieceKind : uint8_t { kNormal, kUserDefined, kUnused, kReserved };  // text never matches a reserved piece
// The texts that begin with U+2581 although no white space does: none, the first word, or each word.
enum class PiecePrefix { kNever, kFirst, kAlways };

struct SentencePieceOptions {
  PieceRules rules = PieceRules::kTokenizers;
  PieceModel model = PieceModel::kUnigram;
  std::string character_map;
  bool join_spaces = true;      // spaces in a row are one
  bool strip_left = false;      // white space at the beginning is dropped
  bool strip_right = false;     // white space at the end is dropped
  bool split_at_white = false;  // all white space separates words, and is no part of them
  PiecePrefix prefix = PiecePrefix::kAlways;
  int32_t unknown = 0;
  std::vector<int32_t> bytes;  // the ids of the pieces of 256 bytes, or empty
  bool cache = true;           // keep the tokens of words (for tests: they are the same without)
};

enum class TokenFields { kCounts, kIds, kByteSpans };
enum class SpanEnds { kWhole, kTrimmed };

class SentencePiece {
 public:
  // Takes the pieces by id, with their scores and kinds. Throws std::invalid_argument if they are damaged.
  SentencePiece(std::vector<std::string> pieces, std::vector<double> scores, std::vector<uint8_t> kinds,
                SentencePieceOptions options);
  ~SentencePiece();
  SentencePiece(SentencePiece&&) noexcept;

  // Tokenizes each of n consecutive spans [bounds[i], bounds[i + 1]) of valid UTF-8 text on its own, whole or without
  // the white space at its ends. It appends the number of tokens of each span to counts, and what `fields` asks for to
  // ids and byte_spans, [start, end) per token.
  void encode(std::string_view text, const int64_t* bounds, size_t n, SpanEnds ends, TokenFields fields,
              Values<int32_t>& ids, Values<int64_t>& byte_spans, std::vector<int64_t>& counts) const;

  int32_t vocabulary_size() const;

  // Returns whether white space may divide a text, as CountedWords says, and whether white space [begin, end) does.
  bool has_separate_words() const;
  bool divides(std::string_view text, int64_t begin, int64_t end) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

// Returns the result of SentencePiece::encode() for all spans, on many threads. It is the same for any number of
// threads. Without ids, `ids` is empty.
Tokens tokenize(const SentencePiece& tokenizer, std::string_view text, std::span<const int64_t> bounds, SpanEnds ends,
                TokenFields fields, int threads);

}  // namespace pychunk
