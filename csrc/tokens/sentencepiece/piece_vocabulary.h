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
  bool is_kept[256] = {};  // ASCII characters that normalising keeps as they are, wherever they are
};

}  // namespace pychunk
