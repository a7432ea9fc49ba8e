// The pieces of a SentencePiece vocabulary, checked, with everything that is computed from them once.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/sentencepiece/character_map.h"
#include "tokens/sentencepiece/piece_trie.h"
#include "tokens/sentencepiece/sentencepiece.h"

namespace pychunk {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, which stands for a space

struct PieceVocabulary {
  PieceVocabulary(std::vector<std::string> texts, std::vector<double> given, std::vector<uint8_t> kinds_of,
                  SentencePieceOptions with);

  bool follows_sentencepiece() const { return options.rules == PieceRules::kSentencePiece; }

  SentencePieceOptions options;
  CharacterMap map;
  std::vector<std::string> pieces;
  std::vector<PieceKind> kinds;
  std::vector<double> scores;
  std::vector<float> single_scores;  // as sentencepiece adds them
  double unknown_score = 0;
  float single_unknown_score = 0;
  PieceTrie trie;     // pieces that text may match
  PieceTrie symbols;  // user-defined ones, which normalising leaves as they are
  bool has_unused = false;
  // Whether the tokens of a word do not depend on other words: no piece continues after white space.
  bool has_words = true;
  // Whether text can be normalised word by word, where the ASCII characters in `is_space` separate words.
  bool splits_before_normalising = true;
  bool is_space[256] = {};
  bool starts_symbol[256] = {};
  bool is_kept[256] = {};  // ASCII characters that normalising keeps as they are, between other ASCII characters

  // The kinds of bytes that end a word or a part of one. A part ends between a letter and a mark of punctuation if no
  // piece holds both side by side, since every path ends a piece there. Parts are more often in the cache than words:
  // of 4.1 million words of Wikipedia, 442,000 are not there, and of their parts 244,000. A mark that a piece holds
  // beside an ASCII letter is no punctuation here.
  static constexpr uint8_t kSpace = 1, kLetter = 2, kPunctuation = 4;
  uint8_t roles[256] = {};  // 0: anything else
  double most_score = 0;    // the highest absolute value of a score
  bool is_letter(uint32_t code_point) const { return letters[trie.code(code_point)]; }

 private:
  void find_borders();

  std::vector<uint8_t> letters;  // by the code of the character; no bits, which take longer to read
};

}  // namespace pychunk
