#include "tokens/sentencepiece/piece_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/check.h"
#include "common/dispatch.h"
#include "text/graphemes.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

constexpr double kUnknownPenalty = 10;
// sentencepiece refuses pieces of 8,000 bytes or more.
constexpr size_t kMostPieceBytes = 8000;

bool is_latin_letter(uint32_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }
bool is_latin_or_digit(uint32_t c) { return is_latin_letter(c) || (c >= '0' && c <= '9'); }

// Returns the score that sentencepiece gives a user-defined symbol in place of its own.
double symbol_score(const std::string& piece) { return 0.1 * (static_cast<double>(piece.size()) - 1); }

std::vector<PieceTrie::Piece> matched(const std::vector<std::string>& pieces, const std::vector<double>& scores,
                                      const std::vector<uint8_t>& kinds, const SentencePieceOptions& options) {
  PYCHUNK_CHECK(pieces.size() == scores.size(), "scores must hold one entry for each of ", pieces.size(),
                " pieces, got ", scores.size());
  PYCHUNK_CHECK(pieces.size() == kinds.size(), "kinds must hold one entry for each of ", pieces.size(), " pieces, got ",
                kinds.size());
  PYCHUNK_CHECK(pieces.size() < size_t{std::numeric_limits<int32_t>::max()}, "pieces: there are too many");
  std::vector<PieceTrie::Piece> found;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string& piece = pieces[i];
    PYCHUNK_CHECK(kinds[i] <= static_cast<uint8_t>(PieceKind::kReserved), "kinds must be from 0 to 3, got ", kinds[i]);
    const auto kind = static_cast<PieceKind>(kinds[i]);
    if (kind == PieceKind::kReserved || piece.empty()) continue;
    PYCHUNK_CHECK(piece.size() < kMostPieceBytes, "pieces: piece ", i, " must have fewer than ", kMostPieceBytes,
                  " bytes, got ", piece.size());
    PYCHUNK_CHECK(kernels().find_invalid_utf8(reinterpret_cast<const uint8_t*>(piece.data()), piece.size()) < 0,
                  "pieces: piece ", i, " must be valid UTF-8");
    // The unigram model of sentencepiece skips unused pieces; BPE merges them, and divides them again at the end.
    if (kind == PieceKind::kUnused && options.model == PieceModel::kUnigram) continue;
    const bool is_symbol = kind == PieceKind::kUserDefined && options.model == PieceModel::kUnigram;
    found.push_back({piece, static_cast<int32_t>(i), is_symbol ? symbol_score(piece) : scores[i]});
  }
  return found;
}

std::vector<PieceTrie::Piece> user_defined(const std::vector<std::string>& pieces, const std::vector<uint8_t>& kinds) {
  std::vector<PieceTrie::Piece> found;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (static_cast<PieceKind>(kinds[i]) == PieceKind::kUserDefined && !pieces[i].empty())
      found.push_back({pieces[i], static_cast<int32_t>(i), 0});
  return found;
}

// Returns whether U+2581 is in a piece after something else.
bool continues_after_space(std::string_view piece) {
  while (piece.substr(0, kSpaceMark.size()) == kSpaceMark) piece.remove_prefix(kSpaceMark.size());
  return piece.find(kSpaceMark) != std::string_view::npos;
}

}  // namespace

PieceVocabulary::PieceVocabulary(std::vector<std::string> texts, std::vector<double> given,
                                 std::vector<uint8_t> kinds_of, SentencePieceOptions with)
    : options(std::move(with)),
      map(options.character_map),
      pieces(std::move(texts)),
      scores(std::move(given)),
      trie(matched(pieces, scores, kinds_of, options)),
      symbols(user_defined(pieces, kinds_of)) {
  const auto size = static_cast<int32_t>(pieces.size());
  PYCHUNK_CHECK(options.unknown >= 0 && options.unknown < size, "unknown must be the id of one of ", size,
                " pieces, got ", options.unknown);
  PYCHUNK_CHECK(options.bytes.empty() || options.bytes.size() == 256, "bytes must hold 256 ids or none, got ",
                options.bytes.size());
  for (const int32_t id : options.bytes)
    PYCHUNK_CHECK(id >= 0 && id < size, "bytes must be ids of ", size, " pieces, got ", id);
  for (const uint8_t kind : kinds_of) kinds.push_back(static_cast<PieceKind>(kind));

  const bool single = follows_sentencepiece();
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < pieces.size(); ++i) {
    PYCHUNK_CHECK(std::isfinite(scores[i]) && std::fabs(scores[i]) < 1e30, "scores: the score of piece ", i,
                  " must be a finite number below 1e30");
    if (!single || kinds[i] == PieceKind::kNormal) lowest = std::min(lowest, scores[i]);
    const bool defined = kinds[i] == PieceKind::kUserDefined;
    single_scores.push_back(defined && options.model == PieceModel::kUnigram
                                ? static_cast<float>(symbol_score(pieces[i]))
                                : static_cast<float>(scores[i]));
    has_unused |= kinds[i] == PieceKind::kUnused;
    if (kinds[i] != PieceKind::kReserved && single && continues_after_space(pieces[i])) has_words = false;
    if (!defined || pieces[i].empty()) continue;
    starts_symbol[static_cast<uint8_t>(pieces[i][0])] = true;
    // Normalising leaves a symbol as it is, with its spaces, so words are known only after normalising.
    if (pieces[i].find(' ') != std::string::npos || pieces[i].find(kSpaceMark) != std::string::npos) has_words = false;
  }
  if (std::isinf(lowest)) lowest = 0;
  unknown_score = lowest - kUnknownPenalty;
  single_unknown_score = static_cast<float>(lowest) - static_cast<float>(kUnknownPenalty);

  bool ascii_space[128] = {};
  for (uint8_t c = 1; c < 128; ++c) {
    const CharacterMap::Entry entry = map[c];
    ascii_space[c] = entry.value >= 0 ? map.replacement(entry.value) == " "
                                      : c == ' ' || (options.split_at_white && c >= '\t' && c <= '\r');
    is_space[c] = ascii_space[c];
    is_kept[c] = (single ? entry.empty() : entry.value < 0) && !is_space[c] && !starts_symbol[c] && c > 0x20;
    if (is_space[c]) roles[c] = kSpace;
  }
  bool has_plain_spaces = true;  // no letter becomes a space
  for (uint32_t c = 0; c < 128; ++c) has_plain_spaces &= !(is_space[c] && is_latin_or_digit(c));
  splits_before_normalising =
      has_words && has_plain_spaces && map[' '].empty() && !map.has_longer_key_with(ascii_space) &&
      std::none_of(pieces.begin(), pieces.end(), [&](const std::string& piece) {
        // A symbol with a line feed or a tab, which otherwise would be a space.
        const auto i = static_cast<size_t>(&piece - pieces.data());
        return kinds[i] == PieceKind::kUserDefined &&
               std::any_of(piece.begin(), piece.end(), [&](char c) { return is_space[static_cast<uint8_t>(c)]; });
      });
  find_borders();
}

void PieceVocabulary::find_borders() {
  letters.assign(trie.characters() + 1, 0);
  if (follows_sentencepiece() || options.model != PieceModel::kUnigram || !splits_before_normalising) return;
  most_score = std::fabs(unknown_score);
  for (const double score : scores) most_score = std::max(most_score, std::fabs(score));

  bool is_mark[128] = {};
  for (uint32_t c = 0x21; c < 0x7F; ++c) {
    is_mark[c] = !is_latin_or_digit(c) && is_kept[c] && trie.first(trie.code(c)).id() >= 0;
  }
  const auto for_each_pair = [&](auto look) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (kinds[i] == PieceKind::kReserved) continue;
      const auto* const text = reinterpret_cast<const uint8_t*>(pieces[i].data());
      uint32_t before = 0;
      for (size_t at = 0; at < pieces[i].size();) {
        const auto [c, length] = decode_utf8(text + at);
        if (at > 0) look(before, static_cast<uint32_t>(c));
        before = c;
        at += static_cast<size_t>(length);
      }
    }
  };
  for_each_pair([&](uint32_t a, uint32_t b) {
    if (a < 128 && is_latin_letter(b)) is_mark[a] = false;
    if (b < 128 && is_latin_letter(a)) is_mark[b] = false;
  });
  // Unknown tokens side by side are one. If text can match the unknown piece, two of them might meet at its ends.
  const std::string& unknown = pieces[static_cast<size_t>(options.unknown)];
  if (kinds[static_cast<size_t>(options.unknown)] != PieceKind::kReserved && unknown.size() > 1)
    for (const char end : {unknown.front(), unknown.back()})
      if (static_cast<uint8_t>(end) < 128) is_mark[static_cast<uint8_t>(end)] = false;
  std::vector<bool> adjoins(trie.characters() + 1);
  for_each_pair([&](uint32_t a, uint32_t b) {
    if (a < 128 && is_mark[a]) adjoins[trie.code(b)] = true;
    if (b < 128 && is_mark[b]) adjoins[trie.code(a)] = true;
  });
  for (uint32_t c = 0x21; c < 0x110000; ++c) {
    const uint16_t code = trie.code(c);
    if (code == 0 || adjoins[code] || trie.first(code).id() < 0 || map[c].value >= 0) continue;
    if (c < 128 ? !is_kept[c] || is_mark[c] : c == 0x2581 || is_control(c) || extends_cluster(c) || prepends_cluster(c))
      continue;
    letters[code] = 1;
    if (c < 128) roles[c] = kLetter;
  }
  for (uint32_t c = 0; c < 128; ++c)
    if (is_mark[c]) roles[c] = kPunctuation;
}

}  // namespace pychunk
