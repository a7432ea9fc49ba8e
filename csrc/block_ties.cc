#include "block_ties.h"

#include <algorithm>

#include "characters.h"
#include "document.h"
#include "measure.h"
#include "utf8_text.h"

namespace pychunk {
namespace {

std::string_view text_of_sentence(const Document& document, int64_t s) {
  const Trimmed inside = trim(document.text(), document.begin(s), document.end(s));
  return slice(document.text(), inside.begin, std::max(inside.begin, inside.end));
}

// The row below a table's head: bars, dashes and colons.
bool is_delimiter(std::string_view row) {
  return row.find('-') != std::string_view::npos && row.find_first_not_of("|:- \t") == std::string_view::npos;
}

// The words of a heading that runs into its text, as "Contraindications." in front of what they are.
constexpr int64_t kRunInWords = 5;
constexpr size_t kRunInBytes = 100;

bool runs_in(std::string_view sentence) {
  return sentence.size() <= kRunInBytes && count_words(sentence) <= kRunInWords;
}

// "Note", in a block of its own before what is noted, or before a list; of bytes that it labels, so many and more.
constexpr int64_t kLabelWords = 3;
constexpr size_t kLabelledBytes = 40;

bool labels(std::string_view sentence, std::string_view next, bool listed) {
  if (sentence.empty() || sentence.size() > kRunInBytes || (!listed && next.size() < kLabelledBytes)) return false;
  const auto size = static_cast<int64_t>(sentence.size());
  const char32_t first = decode_utf8(sentence, 0).code_point;
  const char32_t last = decode_utf8(sentence, character_before(sentence, size)).code_point;
  return is_letter(first) && !is_stop(last) && last != U',' && last != U';' && count_words(sentence) <= kLabelWords;
}

// Terms that share one definition, at most; more in a row are a list of terms without any, as a table of contents is.
constexpr size_t kTermRun = 8;

bool asks(std::string_view sentence) { return sentence.ends_with("?") || sentence.ends_with("？"); }

// Between the sentences of one block; `row` counts from its first.
Tie tie_inside(const Document& document, int64_t s, int64_t row, Tie plain) {
  const BlockKind kind = document.kind_of(s);
  if (is_whole(kind)) return Tie::kLead;
  if (!has_rows(kind)) {
    return row == 1 && plain == Tie::kOpen && runs_in(text_of_sentence(document, s - 1)) ? Tie::kLead : plain;
  }
  const bool heads =
      kind == BlockKind::kTable && (row == 1 || (row == 2 && is_delimiter(text_of_sentence(document, s - 1))));
  return heads ? Tie::kLead : Tie::kTrail;
}

// Between the block of the sentence before, which has `row` sentences before that one, and the next. `listed`: both are
// terms of a list without definitions.
Tie tie_between(const Document& document, int64_t s, int64_t row, bool listed, Tie plain) {
  const BlockKind before = document.kind_of(s - 1), after = document.kind_of(s);
  const auto level = [&](int64_t at) {
    return document.blocks().level[static_cast<size_t>(document.block_of()[static_cast<size_t>(at)])];
  };
  if (after == BlockKind::kHeading)
    return before == BlockKind::kHeading && level(s) > level(s - 1) ? Tie::kLead : Tie::kSection;
  if (before == BlockKind::kHeading || (before == BlockKind::kTerm && !listed)) return Tie::kLead;
  const bool prose = before == BlockKind::kParagraph || before == BlockKind::kItem || before == BlockKind::kQuote;
  if (after == BlockKind::kCode && prose) return Tie::kLead;
  if (before == BlockKind::kCaption && after == BlockKind::kTable) return Tie::kLead;
  if (before == BlockKind::kTable && after == BlockKind::kCaption) return Tie::kTrail;
  const bool answers = after == BlockKind::kParagraph || after == BlockKind::kItem || after == BlockKind::kQuote;
  if (prose && answers && row == 0 && asks(text_of_sentence(document, s - 1))) return Tie::kLead;
  if (before == BlockKind::kParagraph && answers && row == 0 && plain == Tie::kOpen &&
      labels(text_of_sentence(document, s - 1), text_of_sentence(document, s), after == BlockKind::kItem))
    return Tie::kLead;
  // A term without a letter, as "%%", belongs to its definition alone.
  return after == BlockKind::kTerm && plain == Tie::kTrail ? Tie::kOpen : plain;
}

}  // namespace

uint8_t block_level(const Document& document, int64_t s) {
  const std::span<const int32_t> block = document.block_of();
  const auto at = static_cast<size_t>(s);
  if (document.kind_of(s) != BlockKind::kHeading || (s > 0 && block[at - 1] == block[at])) return 0;
  return static_cast<uint8_t>(std::clamp<int16_t>(document.blocks().level[static_cast<size_t>(block[at])], 1, 255));
}

void block_levels(const Document& document, std::vector<uint8_t>& levels) {
  levels.clear();
  for (int64_t s = 0; s < static_cast<int64_t>(document.block_of().size()); ++s)
    levels.push_back(document.is_removed(s) ? 0 : block_level(document, s));
}

void tie_blocks(const Document& document, Borders& borders) {
  const std::span<const int32_t> block = document.block_of();
  const auto is_term = [&](size_t s) { return document.kind_of(static_cast<int64_t>(s)) == BlockKind::kTerm; };
  int64_t row = 0;                       // sentences of the block of the sentence before, before that one
  size_t first_term = 0, last_term = 0;  // of terms in a row
  for (size_t s = 1; s < block.size(); ++s) {
    const auto at = static_cast<int64_t>(s);
    const bool inside = block[s] == block[s - 1];
    if (s >= last_term && is_term(s - 1)) {
      first_term = s - 1;
      for (last_term = s; last_term < block.size() && is_term(last_term);) ++last_term;
    }
    const bool listed = s < last_term && last_term - first_term > kTermRun;
    Tie& tie = borders.ties[s];
    if (borders.breaks[s] < Break::kPage)
      tie = inside ? tie_inside(document, at, row + 1, tie) : tie_between(document, at, row, listed, tie);
    row = inside ? row + 1 : 0;
  }
}

}  // namespace pychunk
