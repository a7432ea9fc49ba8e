#include "document/block_cohesion.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "document/document.h"
#include "text/characters.h"
#include "text/utf8_text.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

std::string_view text_of_sentence(const Document& document, int64_t s) {
  const Trimmed inside = trim(document.text(), document.begin(s), document.end(s));
  return slice(document.text(), inside.begin, std::max(inside.begin, inside.end));
}

// Return whether a row is the delimiter row below a table's header rows, which has only bars, dashes and colons.
bool is_delimiter(std::string_view row) {
  return row.find('-') != std::string_view::npos && row.find_first_not_of("|:- \t") == std::string_view::npos;
}
bool is_delimiter(const Document& document, int64_t s) { return is_delimiter(text_of_sentence(document, s)); }

// Return whether a row opens or closes a code fence, ``` or ~~~.
bool is_fence(std::string_view row) { return row.starts_with("```") || row.starts_with("~~~"); }

// The words with which a line of code continues the block before it or ends it, as closing brackets do.
constexpr auto kBlockClosers = std::to_array<std::string_view>(
    {"case", "catch", "done", "elif", "else", "end", "esac", "except", "fi", "finally", "rescue", "until", "while"});

bool closes_block(std::string_view row) {
  if (row.empty() || row.find_first_of("})]") == 0 || is_fence(row)) return true;
  const size_t stop = std::min(row.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), row.size());
  return std::ranges::find(kBlockClosers, row.substr(0, stop)) != kBlockClosers.end();
}

// Return whether the statement of a line of code certainly goes on in the next line, because the line ends with an open
// bracket, a comma or an operator. A comment at its end does not count.
bool is_open(std::string_view row) {
  for (const std::string_view mark : {" //", " # "}) row = row.substr(0, row.find(mark));
  const size_t last = row.find_last_not_of(" \t");
  return last != std::string_view::npos && std::string_view(",([{=&|+\\").find(row[last]) != std::string_view::npos;
}

// Return the columns of white space before the text of a line of code. A tab counts as four.
int64_t indentation(const Document& document, int64_t s) {
  const std::string_view text = document.text();
  int64_t columns = 0, at = trim(text, document.begin(s), document.end(s)).begin;
  for (; at > 0; --at) {
    const char c = text[static_cast<size_t>(at) - 1];
    if (c != ' ' && c != '\t') break;
    columns += c == '\t' ? 4 : 1;
  }
  return columns;
}

// Set the strength of the boundaries between lines of code [first, last). A boundary before a definition, whose first
// line is indented least, is stronger than a boundary inside a definition. A blank line at a boundary makes it
// stronger. The weakest boundaries are those in statements, and those before a closing bracket or a line that is
// indented more than the line before it.
void break_code(const Document& document, int64_t first, int64_t last, Borders& borders) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t s = first; s < last; ++s)
    if (!is_fence(text_of_sentence(document, s))) least = std::min(least, indentation(document, s));
  int64_t before = first < last ? indentation(document, first) : 0;
  for (int64_t s = first + 1; s < last; ++s) {
    Break& found = borders.breaks[static_cast<size_t>(s)];
    const int64_t own = indentation(document, s), above = std::exchange(before, own);
    if (found >= Break::kPage) continue;
    const std::string_view row = text_of_sentence(document, s);
    const bool inside = own > least || closes_block(row), blank = found == Break::kBlankLine;
    const bool in_statement =
        own > above || row.find_first_of("})]") == 0 || is_open(text_of_sentence(document, s - 1));
    if (inside)
      found = blank ? Break::kLine : in_statement ? Break::kPiece : Break::kSentence;
    else
      found = blank ? Break::kBlankLine : Break::kLine;
  }
}

// The most words and bytes of a heading that is the first sentence of its paragraph, such as "Contraindications."
// before a list of them.
constexpr int64_t kRunInWords = 5;
constexpr size_t kRunInBytes = 100;

bool runs_in(std::string_view sentence) {
  return sentence.size() <= kRunInBytes && count_words(sentence) <= kRunInWords;
}

// The most words of a label such as "Note", which has a block of its own before the text or the list that it labels,
// and the fewest bytes of that text.
constexpr int64_t kLabelWords = 3;
constexpr size_t kLabelledBytes = 40;

bool labels(std::string_view sentence, std::string_view next, bool listed) {
  if (sentence.empty() || sentence.size() > kRunInBytes || (!listed && next.size() < kLabelledBytes)) return false;
  const auto size = static_cast<int64_t>(sentence.size());
  const char32_t first = decode_utf8(sentence, 0).code_point;
  const char32_t last = decode_utf8(sentence, character_before(sentence, size)).code_point;
  return is_letter(first) && !is_stop(last) && last != U',' && last != U';' && count_words(sentence) <= kLabelWords;
}

// The most terms that can share one definition. More terms in a row are a list without definitions, such as a table of
// contents.
constexpr size_t kTermRun = 8;

bool asks(std::string_view sentence) { return sentence.ends_with("?") || sentence.ends_with("？"); }

// Return the cohesion between sentences s - 1 and s, which are in one block. `row` is the position of sentence s in the
// block, counted from 0.
Cohesion cohesion_inside(const Document& document, int64_t s, int64_t row, Cohesion plain) {
  const BlockKind kind = document.kind_of(s);
  if (is_whole(kind)) return Cohesion::kLead;
  if (!has_rows(kind)) {
    return row == 1 && plain == Cohesion::kOpen && runs_in(text_of_sentence(document, s - 1)) ? Cohesion::kLead : plain;
  }
  const bool heads = kind == BlockKind::kTable && row <= 3 &&
                     (row == 1 || is_delimiter(document, s - 1) || (row == 2 && is_delimiter(document, s)));
  return heads ? Cohesion::kLead : Cohesion::kTrail;
}

// Return the cohesion between sentences s - 1 and s, which are in different blocks. `row` is the number of sentences
// before s - 1 in its block. `listed` says that both blocks are terms of a list without definitions.
Cohesion cohesion_between(const Document& document, int64_t s, int64_t row, bool listed, Cohesion plain) {
  const BlockKind before = document.kind_of(s - 1), after = document.kind_of(s);
  const auto level = [&](int64_t at) {
    return document.blocks().level[static_cast<size_t>(document.block_of()[static_cast<size_t>(at)])];
  };
  if (introduces_heading(document, s - 1)) return Cohesion::kLead;
  if (after == BlockKind::kHeading || introduces_heading(document, s))
    return before == BlockKind::kHeading && level(s) > level(s - 1) ? Cohesion::kLead : Cohesion::kSection;
  if (before == BlockKind::kHeading || (before == BlockKind::kTerm && !listed)) return Cohesion::kLead;
  const bool prose = before == BlockKind::kParagraph || before == BlockKind::kItem || before == BlockKind::kQuote;
  if ((after == BlockKind::kCode || after == BlockKind::kTable) && prose) return Cohesion::kLead;
  if (before == BlockKind::kCaption && after == BlockKind::kTable) return Cohesion::kLead;
  if (before == BlockKind::kTable && after == BlockKind::kCaption) return Cohesion::kTrail;
  const bool answers = after == BlockKind::kParagraph || after == BlockKind::kItem || after == BlockKind::kQuote;
  if (prose && answers && row == 0 && asks(text_of_sentence(document, s - 1))) return Cohesion::kLead;
  if (before == BlockKind::kParagraph && answers && row == 0 && plain == Cohesion::kOpen &&
      labels(text_of_sentence(document, s - 1), text_of_sentence(document, s), after == BlockKind::kItem))
    return Cohesion::kLead;
  // A term without a letter, such as "%%", belongs to its definition, and not to the text before it.
  return after == BlockKind::kTerm && plain == Cohesion::kTrail ? Cohesion::kOpen : plain;
}

}  // namespace

bool introduces_heading(const Document& document, int64_t s) {
  if (document.kind_of(s) != BlockKind::kCode) return false;
  const BlockSpans& blocks = document.blocks();
  const int64_t at = document.block_of()[static_cast<size_t>(s)];
  return blocks.level[static_cast<size_t>(at)] > 0 && at + 1 < blocks.size() &&
         blocks.kind_of(at + 1) == BlockKind::kHeading;
}

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

void find_block_cohesion(const Document& document, Borders& borders) {
  const std::span<const int32_t> block = document.block_of();
  const auto is_term = [&](size_t s) { return document.kind_of(static_cast<int64_t>(s)) == BlockKind::kTerm; };
  int64_t row = 0;  // the number of sentences in the previous sentence's block before that sentence
  size_t first_term = 0, last_term = 0;  // the bounds of a run of consecutive terms
  for (size_t s = 1; s < block.size(); ++s) {
    const auto at = static_cast<int64_t>(s);
    const bool inside = block[s] == block[s - 1];
    if (s >= last_term && is_term(s - 1)) {
      first_term = s - 1;
      for (last_term = s; last_term < block.size() && is_term(last_term);) ++last_term;
    }
    const bool listed = s < last_term && last_term - first_term > kTermRun;
    Cohesion& cohesion = borders.cohesion[s];
    if (borders.breaks[s] < Break::kPage)
      cohesion = inside ? cohesion_inside(document, at, row + 1, cohesion)
                        : cohesion_between(document, at, row, listed, cohesion);
    row = inside ? row + 1 : 0;
  }
  const auto size = static_cast<int64_t>(block.size());
  for (int64_t first = 0, last = 1; first < size; first = last++) {
    while (last < size && block[static_cast<size_t>(last)] == block[static_cast<size_t>(first)]) ++last;
    if (document.kind_of(first) == BlockKind::kCode) break_code(document, first, last, borders);
  }
}

int64_t table_heads(const Document& document, int64_t first) {
  const std::span<const int32_t> block = document.block_of();
  const auto at = static_cast<size_t>(first);
  const bool two = at + 2 < block.size() && block[at + 2] == block[at] && is_delimiter(document, first + 2);
  return two && !is_delimiter(document, first + 1) ? 2 : 1;
}

bool opens_fence(const Document& document, int64_t s) { return is_fence(text_of_sentence(document, s)); }

}  // namespace pychunk
