#include "parsing/markdown.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "common/work_split.h"
#include "parsing/markdown_dialects.h"
#include "parsing/markdown_html.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_digit_of_number(char c) { return c >= '0' && c <= '9'; }

// The characters that are stripped from labels and table cells.
constexpr bool is_trimmed(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// Return the column after a space or tab at a column.
constexpr int64_t next_column(char c, int64_t column) { return column + (c == '\t' ? 4 - column % 4 : 1); }

// A line as seen by the innermost container that has examined it.
struct MarkdownLine {
  int64_t start;   // first byte other than spaces and tabs, including the marks of containers
  int64_t text;    // first such byte after these marks; `end` if there is none
  int64_t end;     // the end of the line without its line break
  int64_t indent;  // columns before `text` from the container's left edge; -1: it continues a quote's paragraph
  int64_t column;  // columns to the left of that edge, which determine the width of tabs
  bool blank() const { return text >= end; }
};

// The place in which blocks are searched.
struct MarkdownPlace {
  int64_t indent = 0;        // columns by which a line must be indented to belong to it
  int64_t list_indent = -1;  // the indent of the list around it; -1 outside of lists
  int quotes = 0, lists = 0;
  int64_t item_blocks = -1;  // blocks before the innermost list item; -1 if it contains a quote around this place
  bool is_note = false;      // whether it is in a footnote or a definition, which cannot contain another one
  bool full() const { return quotes + lists >= kDeepest; }
  bool holds_code(const MarkdownLine& line) const { return line.indent - indent >= 4; }
};

// The kinds of text that may be open before a line. The kind decides which blocks may begin in the line, and so end the
// text.
enum class OpenText { kParagraph, kDefinition, kQuote, kTable, kItem };

// The mark of a list item.
struct ItemMark {
  int64_t end = 0;  // the byte after it; 0: there is none
  char sign = 0;    // its last byte
  bool first = true;
};

// A quote that is open. Its lines are determined when they are needed.
struct OpenQuote {
  MarkdownPlace outside;
  int64_t first = 0, seen = 0;  // lines [first, seen) are inside it
  bool blank = false;           // whether the last of them is blank
  bool ended = false;           // whether line `seen` is outside
  int64_t saved_from = 0;
  std::vector<MarkdownLine> saved;  // lines [saved_from, seen) as seen from outside
};

class MarkdownScanner {
 public:
  // Reset the scanner for a text. The memory is reused.
  void open(std::string_view text, std::vector<MarkdownBlock>& out) {
    text_ = text, out_ = &out;
    size_ = static_cast<int64_t>(text.size());
    next_ = here_ = made_ = last_start_ = last_end_ = 0;
    depth_ = 0;
    feed_at_ = return_at_ = -1;
    open_formulas_.fill(0);
    open_headings_.fill(0);
    if (ring_.empty()) ring_.resize(64);
  }
  void scan() {
    const int64_t mark = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    next_ = mark;
    int64_t begin = mark;
    const int64_t end = front_matter_end(begin);
    if (end > 0) {
      add(BlockKind::kFrontMatter, 0, begin == mark ? 0 : begin, trimmed_end(begin, end));
      next_ = behind_break(end);
    } else {
      feed_at_ = return_at_ = -1;  // line breaks are searched again from the start
      if (mark > 0 && exists(0) && !at(0).blank()) at(0).start = 0;
    }
    blocks({});
  }
  // Release the memory that a huge document needed.
  void close() {
    forget_if_huge(ring_);
    for (OpenQuote& quote : quotes_) forget_if_huge(quote.saved);
  }

 private:
  friend class Definition;

  // ---- lines ----

  char byte(int64_t i) const { return text_[static_cast<size_t>(i)]; }
  // Return the first byte of a line that is not blank.
  char head(const MarkdownLine& line) const { return byte(line.text); }
  MarkdownLine& at(int64_t i) { return ring_[static_cast<size_t>(i) & (ring_.size() - 1)]; }

  int64_t find(char c, int64_t from) const {
    const void* found = std::memchr(text_.data() + from, c, static_cast<size_t>(size_ - from));
    return found == nullptr ? size_ : static_cast<const char*>(found) - text_.data();
  }
  // Return the end of the line that begins at a byte, without its line break.
  int64_t line_end(int64_t begin) {
    if (feed_at_ < begin) feed_at_ = find('\n', begin);
    if (return_at_ < begin) return_at_ = find('\r', begin);
    return std::min(feed_at_, return_at_);
  }
  int64_t behind_break(int64_t end) const {
    if (end == size_) return size_;
    return end + (byte(end) == '\r' && end + 1 < size_ && byte(end + 1) == '\n' ? 2 : 1);
  }
  int64_t trimmed_end(int64_t begin, int64_t end) const {
    while (end > begin && is_blank(byte(end - 1))) --end;
    return end;
  }

  // Return whether the document has a line i, which must not be long before the lines that are read.
  bool exists(int64_t i) {
    while (made_ <= i) {
      if (next_ >= size_) return false;
      checkpoint_each(made_, 1 << 14);
      if (made_ - here_ == static_cast<int64_t>(ring_.size())) widen();
      const int64_t end = line_end(next_);
      int64_t first = next_, indent = 0;
      while (first < end && is_blank(byte(first))) indent = next_column(byte(first++), indent);
      at(made_++) = {first, first, end, indent, 0};
      next_ = behind_break(end);
    }
    return true;
  }
  void widen() {
    std::vector<MarkdownLine> wider(2 * ring_.size());
    for (int64_t i = here_; i < made_; ++i) wider[static_cast<size_t>(i) & (wider.size() - 1)] = at(i);
    ring_.swap(wider);
  }

  // Return whether line i is inside all open quotes.
  bool has(int64_t i) { return has(i, depth_); }
  bool has(int64_t i, int depth) {
    if (depth == 0) return exists(i);
    OpenQuote& quote = quotes_[static_cast<size_t>(depth) - 1];
    while (quote.seen <= i && !quote.ended)
      if (!has(quote.seen, depth - 1) || !take(quote)) quote.ended = true;
    return i < quote.seen;
  }
  // Return whether the next line is inside a quote. If so, the mark of the quote is removed from the stored line.
  bool take(OpenQuote& quote) {
    MarkdownLine& line = at(quote.seen);
    if (line.blank()) return false;
    if (head(line) == '>' && line.indent >= quote.outside.indent) {
      save(quote);
      unquote(line);
      quote.blank = line.blank();
    } else {
      if (quote.blank || ends_text(quote.seen, quote.outside, OpenText::kQuote)) return false;
      save(quote);
      line.indent = -1;
    }
    ++quote.seen;
    return true;
  }
  void save(OpenQuote& quote) {
    const int64_t passed = here_ - quote.saved_from;
    if (passed > 64 && passed > static_cast<int64_t>(quote.saved.size()) / 2) {
      quote.saved.erase(quote.saved.begin(), quote.saved.begin() + passed);
      quote.saved_from = here_;
    }
    quote.saved.push_back(at(quote.seen));
  }
  // Remove the mark of a quote from a line, and the space after it.
  void unquote(MarkdownLine& line) const {
    int64_t first = line.text + 1, column = line.indent + 1;
    const bool spaced = first < line.end && is_blank(byte(first));
    const bool partial = spaced && byte(first) == '\t' && (line.column + column) % 4 != 3;  // part of the tab remains
    if (spaced && !partial) ++first, ++column;
    const int64_t edge = line.column + column + (partial ? 1 : 0);
    int64_t to = edge;
    while (first < line.end && is_blank(byte(first))) to = next_column(byte(first++), to);
    line.column = line.indent + 1 + (spaced ? 1 : 0);
    line.text = first, line.indent = to - edge;
  }

  void pass() {
    const MarkdownLine& line = at(here_++);
    if (line.start < line.end) last_start_ = line.start, last_end_ = line.end;
  }

  // ---- blocks ----

  void add(BlockKind kind, int64_t level, int64_t start, int64_t end) {
    out_->push_back({start, end, kind, static_cast<int16_t>(level)});
  }
  // Add a block from a byte up to the last line that was passed.
  void leaf(BlockKind kind, int64_t level, int64_t start) {
    add(kind, level, start, trimmed_end(last_start_, last_end_));
  }
  // Add a block of text, whose kind depends on the containers around it.
  void text_leaf(const MarkdownPlace& place, int64_t start) {
    if (place.item_blocks == static_cast<int64_t>(out_->size())) return leaf(BlockKind::kItem, place.lists, start);
    if (place.quotes > 0) return leaf(BlockKind::kQuote, place.quotes, start);
    leaf(BlockKind::kParagraph, 0, start);
  }

  // Add a heading or a term. In a quote or a list item it becomes text: it heads no text after this container.
  void heading_leaf(const MarkdownPlace& place, BlockKind kind, int level, int64_t start) {
    if (place.quotes + place.lists > 0) return text_leaf(place, start);
    leaf(kind, level, start);
  }

  // Find the blocks from line here_ on that belong to a place.
  void blocks(const MarkdownPlace& place) {
    for (;;) {
      while (has(here_) && at(here_).blank()) ++here_;
      if (!has(here_) || at(here_).indent < place.indent) return;
      block(place);
    }
  }
  void block(const MarkdownPlace& place) {
    const MarkdownLine line = at(here_);
    const char c = head(line);
    if (const int heads = table_heads(here_, place); heads > 0) return table(place, heads);
    if (place.holds_code(line)) return indented(place);
    if (const int64_t marks = fence(line); marks > 0) return fenced(place, c, marks);
    if (c == '>' && !place.full()) return quote(place);
    if (is_thematic_break(line)) return pass();
    if (const ItemMark mark = list_mark(line, place); mark.end > 0) return list(place, mark);
    if (c == '[' && !place.is_note) {
      if (const size_t mark = footnote_mark(rest(line)); mark > 0)
        return note(place, line.text + static_cast<int64_t>(mark), place.indent + 4);
    }
    if (c == '[' && definition(place)) return;
    if (const int64_t lines = formula_lines(here_, place); lines > 0) return lines_leaf(BlockKind::kCode, lines);
    if (const int64_t lines = module_lines(place); lines > 0) return lines_leaf(BlockKind::kCode, lines);
    if (c == '<') {
      const HtmlStart html = html_start(text_, line.text, line.end);
      if (html.rule != HtmlRule::kNone) return this->html(place, html);
    }
    if (const int level = heading(line); level > 0) {
      pass();
      return heading_leaf(place, BlockKind::kHeading, level, line.start);
    }
    if (is_term(place)) return definitions(place);
    paragraph(place);
  }
  std::string_view rest(const MarkdownLine& line) const { return slice(text_, line.text, line.end); }

  // Return whether line i begins a block that ends the text before it.
  bool ends_text(int64_t i, const MarkdownPlace& place, OpenText open) {
    if ((open == OpenText::kParagraph || open == OpenText::kDefinition) && table_heads(i, place) > 0) return true;
    const MarkdownLine line = at(i);
    if (line.blank() || place.holds_code(line)) return false;
    const char c = head(line);
    switch (c) {
      case '`':
      case '~':
        return fence(line) > 0;
      case '>':
        return !place.full();
      case '#':
        return open != OpenText::kItem && heading(line) > 0;
      case '$':
      case '\\':
        return open == OpenText::kParagraph && formula_lines(i, place) > 0;
      case '[':
        return open != OpenText::kItem && (!place.is_note || line.indent < place.indent) &&
               footnote_mark(rest(line)) > 0;
      case ':':
        return open == OpenText::kParagraph && place.is_note && line.indent < place.indent &&
               begins_definition(rest(line));
      case '<': {
        if (open == OpenText::kItem) return false;
        const HtmlRule rule = html_start(text_, line.text, line.end).rule;
        return rule != HtmlRule::kNone && rule != HtmlRule::kAnyTag;
      }
      default:
        break;
    }
    if (is_thematic_break(line)) return true;
    if (open == OpenText::kItem) return false;
    const ItemMark mark = list_mark(line, place);
    if (mark.end == 0) return false;
    // A list interrupts a paragraph only if its first item has text and, in a numbered list, the number 1.
    return open != OpenText::kParagraph || line.indent < place.indent ||
           (mark.first && trimmed_end(mark.end, line.end) > mark.end);
  }

  // ---- leaves ----

  // Return the level of a heading's marks, or 0 if the line is no heading.
  int heading(const MarkdownLine& line) const {
    int64_t i = line.text;
    while (i < line.end && i - line.text < 7 && byte(i) == '#') ++i;
    const auto level = static_cast<int>(i - line.text);
    return level <= 6 && (i == line.end || is_blank(byte(i))) ? level : 0;
  }
  // Return whether a line consists of *, - or _, at least three times.
  bool is_thematic_break(const MarkdownLine& line) const {
    const char c = head(line);
    if (c != '*' && c != '-' && c != '_') return false;
    int64_t marks = 0;
    for (int64_t i = line.text; i < line.end; ++i) {
      if (byte(i) == c) {
        ++marks;
      } else if (!is_blank(byte(i))) {
        return false;
      }
    }
    return marks >= 3;
  }
  int64_t run(const MarkdownLine& line, char c) const {
    int64_t i = line.text;
    while (i < line.end && byte(i) == c) ++i;
    return i - line.text;
  }
  // Return the number of marks that open fenced code, or 0 if the line opens none.
  int64_t fence(const MarkdownLine& line) const {
    const char c = head(line);
    if (c != '`' && c != '~') return 0;
    const int64_t marks = run(line, c), after = line.text + marks;
    if (marks < 3) return 0;
    const bool again = c == '`' && std::memchr(text_.data() + after, '`', static_cast<size_t>(line.end - after));
    return again ? 0 : marks;
  }
  void fenced(const MarkdownPlace& place, char c, int64_t marks) {
    const int64_t start = at(here_).start;
    pass();
    while (has(here_)) {
      const MarkdownLine line = at(here_);
      if (!line.blank() && line.indent < place.indent) break;
      pass();
      if (line.blank() || head(line) != c || place.holds_code(line)) continue;
      const int64_t closing = run(line, c), after = line.text + closing;
      if (closing >= marks && trimmed_end(after, line.end) == after) break;
    }
    leaf(BlockKind::kCode, 0, start);
  }
  void indented(const MarkdownPlace& place) {
    const MarkdownLine first = at(here_);
    int64_t start = first.start;
    if (start == first.text)  // the indentation is part of the code
      while (start > 0 && is_blank(byte(start - 1))) --start;
    pass();
    int64_t last_start = last_start_, last_end = last_end_;
    for (; has(here_) && (at(here_).blank() || place.holds_code(at(here_)));) {
      const bool blank = at(here_).blank();
      pass();
      if (!blank) last_start = last_start_, last_end = last_end_;
    }
    add(BlockKind::kCode, 0, start, trimmed_end(last_start, last_end));
  }
  void html(const MarkdownPlace& place, const HtmlStart& html) {
    const bool until_blank = html.rule == HtmlRule::kBlockTag || html.rule == HtmlRule::kAnyTag;
    const bool has_headings = until_blank && !html.is_table && place.quotes + place.lists == 0 && !place.is_note;
    int64_t start = at(here_).start;  // the start of the text that is in no block yet; -1: there is none
    for (bool ended = false; !ended;) {
      if (start < 0) start = at(here_).start;
      const bool heads = has_headings && html_heading(start);
      if (heads) {
        start = -1;
        if (!at(here_).blank()) continue;
      } else {
        ended = !until_blank && html_ends(html.rule, rest(at(here_)));
      }
      pass();
      if (!has(here_)) break;
      const MarkdownLine& line = at(here_);
      if (line.indent < place.indent && (until_blank || !line.blank())) break;
      if (until_blank && line.blank()) break;
    }
    if (start < 0) return;
    if (html.is_code) return leaf(BlockKind::kCode, 0, start);
    if (html.is_table) return leaf(BlockKind::kTable, 0, start);
    text_leaf(place, start);
  }
  // Add the heading that begins in line here_, if its end tag comes before a blank line. Before it, add the text from
  // `start` on, which is in no block yet. The text after the end tag remains to be read.
  bool html_heading(int64_t start) {
    const HeadingTag tag = heading_tag(text_, at(here_).text, at(here_).end);
    if (tag.begin < 0) return false;
    int64_t& open = open_headings_[static_cast<size_t>(tag.level)];
    if (open > here_) return false;
    int64_t i = here_, end = heading_end(text_, tag.inside, at(i).end, tag.level);
    while (end < 0 && has(i + 1) && !at(i + 1).blank()) {
      const MarkdownLine& next = at(++i);
      end = heading_end(text_, next.text, next.end, tag.level);
    }
    if (end < 0) {
      open = i + 1;
      return false;
    }
    int64_t begin = tag.begin;
    if (begin > at(here_).text) {
      add(BlockKind::kParagraph, 0, start, trimmed_end(start, begin));
    } else if (start < at(here_).start) {
      leaf(BlockKind::kParagraph, 0, start);
    } else {
      begin = start;
    }
    add(BlockKind::kHeading, tag.level, begin, end);
    while (here_ < i) pass();
    MarkdownLine& line = at(here_);
    while (end < line.end && is_blank(byte(end))) ++end;
    line.start = line.text = end;
    return true;
  }
  // Return the level of a heading with this underline, or 0 if the line is none.
  int underline(const MarkdownLine& line) const {
    const char c = head(line);
    if (c != '=' && c != '-') return 0;
    const int64_t after = line.text + run(line, c);
    return trimmed_end(after, line.end) > after ? 0 : c == '=' ? 1 : 2;
  }
  void paragraph(const MarkdownPlace& place) {
    const int64_t start = at(here_).start;
    pass();
    while (has(here_) && !at(here_).blank()) {
      const MarkdownLine line = at(here_);
      if (!place.holds_code(line)) {
        const int level = line.indent >= place.indent ? underline(line) : 0;
        if (level > 0) {
          pass();
          return heading_leaf(place, BlockKind::kHeading, level, start);
        }
        if (line.indent >= 0 && ends_text(here_, place, OpenText::kParagraph)) break;
      }
      pass();
    }
    text_leaf(place, start);
  }

  // Add a block of the next lines.
  void lines_leaf(BlockKind kind, int64_t lines) {
    const int64_t start = at(here_).start;
    for (int64_t i = 0; i < lines; ++i) pass();
    leaf(kind, 0, start);
  }
  // Return the number of lines of the formula that begins with line i. It is 0 if there is none, or if it does not end
  // before a blank line.
  int64_t formula_lines(int64_t i, const MarkdownPlace& place) {
    const MarkdownLine first = at(i);
    if (head(first) != '$' && head(first) != '\\') return 0;
    const FormulaMark mark = formula_mark(rest(first));
    if (mark.kind < 0) return 0;
    const size_t close = formula_close(mark.kind, rest(first), mark.length);
    if (close != std::string_view::npos) return is_lone_formula(mark.kind, rest(first), mark.length, close) ? 1 : 0;
    int64_t& open = open_formulas_[static_cast<size_t>(mark.kind)];
    if (open > i) return 0;
    int64_t j = i + 1;
    for (; has(j) && !at(j).blank() && at(j).indent >= place.indent; ++j)
      if (formula_close(mark.kind, rest(at(j)), 0) != std::string_view::npos) return j + 1 - i;
    open = j;
    return 0;
  }
  // Return the number of lines of JavaScript that begin here, or 0 if none do.
  int64_t module_lines(const MarkdownPlace& place) {
    const char c = head(at(here_));
    if ((c != 'i' && c != 'e') || place.quotes + place.lists > 0 || !begins_module(rest(at(here_)))) return 0;
    int64_t i = here_ + 1;
    while (has(i) && !at(i).blank()) ++i;
    return i - here_;
  }
  // Return whether the next line is a term: a line of its own, followed by its definition, perhaps after a blank line.
  bool is_term(const MarkdownPlace& place) {
    if (place.is_note || !has(here_ + 1)) return false;
    int64_t i = here_ + 1;
    if (at(i).blank()) {
      const char last = byte(trimmed_end(at(here_).text, at(here_).end) - 1);
      if (last == '.' || last == '!' || last == '?' || last == ':' || last == ',' || last == ';' || !has(++i))
        return false;
    }
    const MarkdownLine& line = at(i);
    return !line.blank() && line.indent >= place.indent && !place.holds_code(line) && begins_definition(rest(line));
  }
  void definitions(const MarkdownPlace& place) {
    const int64_t start = at(here_).start;
    pass();
    heading_leaf(place, BlockKind::kTerm, 0, start);
    for (;;) {
      while (has(here_) && at(here_).blank()) ++here_;
      if (!has(here_)) return;
      const MarkdownLine line = at(here_);
      if (line.indent < place.indent || place.holds_code(line) || !begins_definition(rest(line))) return;
      int64_t first = line.text + 1, to = line.column + line.indent + 1;
      while (is_blank(byte(first))) to = next_column(byte(first++), to);
      note(place, line.text + 1, std::min(to - line.column, line.indent + 5));
    }
  }
  // Read a footnote or a definition: the text after its mark, and all lines indented by at least `indent` columns.
  void note(const MarkdownPlace& place, int64_t mark_end, int64_t indent) {
    MarkdownLine& line = at(here_);
    line.text = mark_end;
    while (line.text < line.end && is_blank(byte(line.text))) ++line.text;
    line.indent = indent;
    MarkdownPlace inside = place;
    inside.indent = indent, inside.is_note = true;
    blocks(inside);
  }

  // Return the number of head rows of the table that begins with line i, one or two, or 0 if none begins. Two head rows
  // must begin with bars and have equally many cells. A row of dashes follows them.
  int table_heads(int64_t i, const MarkdownPlace& place) {
    if (is_table(i, place)) return 1;
    const MarkdownLine first = at(i);
    if (first.blank() || head(first) != '|' || place.holds_code(first) || !has(i + 1)) return 0;
    const MarkdownLine second = at(i + 1);
    if (second.blank() || head(second) != '|' || second.indent < place.indent || !is_table(i + 1, place)) return 0;
    return cells_of_header(first) == cells_of_header(second) ? 2 : 0;
  }
  // Return whether line i is a table's header. Then the next line has a cell of dashes for each of its cells.
  bool is_table(int64_t i, const MarkdownPlace& place) {
    if (!has(i + 1)) return false;
    const MarkdownLine& next = at(i + 1);
    if (next.blank()) return false;
    const char c = head(next);
    if (c != '|' && c != '-' && c != ':') return false;
    if (next.indent < place.indent || place.holds_code(next) || place.holds_code(at(i))) return false;
    const int64_t cells = cells_of_dashes(next);
    return cells > 0 && cells == cells_of_header(at(i));
  }
  // Return the number of cells of dashes in a line, or 0 if it contains anything else.
  int64_t cells_of_dashes(const MarkdownLine& line) const {
    if (line.end - line.text < 2 || (head(line) == '-' && is_blank(byte(line.text + 1)))) return 0;
    int64_t cells = 0;
    for (int64_t i = line.text;;) {
      while (i < line.end && is_blank(byte(i))) ++i;
      const int64_t begin = i;
      if (i < line.end && byte(i) == ':') ++i;
      const int64_t dashes = i;
      while (i < line.end && byte(i) == '-') ++i;
      const bool any = i > dashes;
      if (any && i < line.end && byte(i) == ':') ++i;
      const bool empty = i == begin;
      while (i < line.end && is_blank(byte(i))) ++i;
      if (i < line.end && byte(i) != '|') return 0;
      if (any) {
        ++cells;
      } else if (!empty || (i < line.end && cells > 0) || (i < line.end && begin_of_cells(line, i))) {
        return 0;  // only the first or the last cell may be empty
      }
      if (i >= line.end) return cells;
      ++i;
    }
  }
  // Return whether an empty cell that ends at a bar is not the first.
  bool begin_of_cells(const MarkdownLine& line, int64_t bar) const {
    for (int64_t i = line.text; i < bar; ++i)
      if (byte(i) == '|') return true;
    return false;
  }
  // Return the number of cells of a row, or 0 if it has no bar.
  int64_t cells_of_header(const MarkdownLine& line) const {
    const int64_t begin = cell_begin(line), end = cell_end(begin, line.end);
    int64_t bars = 0, split = 0;
    for (int64_t i = begin; i < end; ++i) {
      if (byte(i) != '|') continue;
      ++bars;
      split += i == begin || byte(i - 1) != '\\';
    }
    if (bars == 0) return 0;
    int64_t cells = split + 1;
    if (byte(begin) == '|') --cells;
    if (cells > 0 && byte(end - 1) == '|' && (end - 1 == begin || byte(end - 2) != '\\')) --cells;
    return cells;
  }
  int64_t cell_begin(const MarkdownLine& line) const {
    int64_t i = line.text;
    while (i < line.end) {
      const Decoded c = decode_utf8(text_, i);
      if (!is_trimmed(c.code_point)) break;
      i += c.length;
    }
    return i;
  }
  int64_t cell_end(int64_t begin, int64_t end) const {
    while (end > begin) {
      const int64_t last = character_before(text_, end, begin);
      if (!is_trimmed(decode_utf8(text_, last).code_point)) break;
      end = last;
    }
    return end;
  }
  void table(const MarkdownPlace& place, int heads) {
    const int64_t start = at(here_).start;
    for (int row = 0; row <= heads; ++row) pass();
    while (has(here_)) {
      const MarkdownLine line = at(here_);
      if (line.indent < place.indent || place.holds_code(line) || line.blank()) break;
      if (ends_text(here_, place, OpenText::kTable) || cell_begin(line) == line.end) break;
      pass();
    }
    leaf(BlockKind::kTable, 0, start);
  }

  // Skip a link reference definition, if there is one.
  bool definition(const MarkdownPlace& place);

  // ---- containers ----

  void quote(const MarkdownPlace& place) {
    OpenQuote& quote = quotes_[static_cast<size_t>(depth_)];
    quote.outside = place;
    quote.first = quote.seen = quote.saved_from = here_;
    quote.saved.clear();
    quote.ended = false;
    save(quote);
    unquote(at(here_));
    quote.blank = at(here_).blank();
    ++quote.seen;
    ++depth_;
    MarkdownPlace inside = place;
    inside.indent = 0, inside.item_blocks = -1, ++inside.quotes;
    blocks(inside);
    --depth_;
    // Lines that its blocks did not take are seen from outside again.
    for (int64_t i = here_; i < quote.seen; ++i) at(i) = quote.saved[static_cast<size_t>(i - quote.saved_from)];
  }

  // Return the mark of a list item at the beginning of a line.
  ItemMark mark_of(const MarkdownLine& line) const {
    if (line.blank()) return {};
    int64_t i = line.text;
    ItemMark mark;
    if (is_digit_of_number(byte(i))) {
      int64_t number = 0;
      while (i < line.end && i - line.text < 10 && is_digit_of_number(byte(i)))
        number = 10 * number + (byte(i++) - '0');
      if (i - line.text > 9 || i == line.end || (byte(i) != '.' && byte(i) != ')')) return {};
      mark.first = number == 1;
    } else if (byte(i) != '*' && byte(i) != '-' && byte(i) != '+') {
      return {};
    }
    mark.sign = byte(i++);
    if (i < line.end && !is_blank(byte(i))) return {};
    mark.end = i;
    return mark;
  }
  // Return the mark of a list item that begins a list.
  ItemMark list_mark(const MarkdownLine& line, const MarkdownPlace& place) const {
    const bool outside = place.list_indent >= 0 && line.indent - place.list_indent >= 4 && line.indent < place.indent;
    return outside || place.full() || place.holds_code(line) ? ItemMark{} : mark_of(line);
  }
  void list(const MarkdownPlace& place, ItemMark mark) {
    const char sign = mark.sign;
    do {
      item(place, mark);
      if (!has(here_)) return;
      const MarkdownLine line = at(here_);
      if (line.indent < place.indent || place.holds_code(line) || ends_text(here_, place, OpenText::kItem)) return;
      mark = mark_of(line);
    } while (mark.end > 0 && mark.sign == sign);
  }
  void item(const MarkdownPlace& place, const ItemMark& mark) {
    MarkdownLine& line = at(here_);
    const int64_t column = line.indent + (mark.end - line.text);
    int64_t first = mark.end, to = line.column + column;
    while (first < line.end && is_blank(byte(first))) to = next_column(byte(first++), to);
    const int64_t spaces = to - line.column - column;
    const bool blank = first == line.end;
    line.text = first, line.indent = column + spaces;
    const MarkdownLine whole = line;
    const auto before = static_cast<int64_t>(out_->size());
    if (blank && has(here_ + 1) && at(here_ + 1).blank()) {
      here_ += 2;  // an item that begins with two blank lines is empty
    } else {
      MarkdownPlace inside = place;
      inside.indent = column + (blank || spaces > 4 ? 1 : spaces);
      inside.list_indent = place.indent;
      inside.item_blocks = before;
      ++inside.lists;
      blocks(inside);
    }
    if (static_cast<int64_t>(out_->size()) == before)
      add(BlockKind::kItem, place.lists + 1, whole.start, trimmed_end(whole.start, whole.end));
  }

  // Return the end of the line that closes the front matter at the beginning of a document, or 0 if there is none.
  // Blank lines may precede its opening fence. After them, `---` and `+++` count only if the next line is a key.
  // `begin` is moved after the blank lines.
  int64_t front_matter_end(int64_t& begin) {
    const int64_t mark = begin;
    int64_t end = line_end(begin);
    while (end < size_ && trimmed_end(begin, end) == begin) begin = behind_break(end), end = line_end(begin);
    const std::string_view fence = slice(text_, begin, trimmed_end(begin, end));
    const bool is_object = fence == "{";
    if ((fence != "---" && fence != "+++" && fence != ";;;" && !is_object) || end == size_) return 0;
    bool first = true;
    for (int64_t line = behind_break(end); line < size_;) {
      const int64_t to = line_end(line);
      const std::string_view found = slice(text_, line, trimmed_end(line, to));
      if (first && found.empty()) return 0;
      if (first && is_object && !found.substr(std::min(found.find_first_not_of(" \t"), found.size())).starts_with('"'))
        return 0;
      if (first && begin > mark && !is_object && fence != ";;;" && !is_front_matter_key(found)) return 0;
      if (found == (is_object ? "}" : fence) || (found == "..." && fence == "---")) return to;
      line = behind_break(to), first = false;
    }
    return 0;
  }

  std::string_view text_;
  std::vector<MarkdownBlock>* out_ = nullptr;
  int64_t size_ = 0;
  int64_t next_ = 0;                       // first byte of the next line to be made
  int64_t feed_at_ = -1, return_at_ = -1;  // next LF and CR after the lines made, found when needed; size_: none
  int64_t here_ = 0;                       // the next line to be passed
  int64_t made_ = 0;                       // lines made; [here_, made_) are in the ring
  std::vector<MarkdownLine> ring_;
  int64_t last_start_ = 0, last_end_ = 0;  // the last line passed that is not empty
  // For each kind of formula, and each level of HTML heading: if one begins before this line, it has no end.
  std::array<int64_t, kFormulas> open_formulas_{};
  std::array<int64_t, 7> open_headings_{};
  std::array<OpenQuote, kDeepest> quotes_;
  int depth_ = 0;  // the number of open quotes
};

// A possible link reference definition: lines without their indentation as one text. The next line is read only when it
// is needed. Positions are bytes of the document. The position at a line's end is the position of its line break, or
// the end of the text.
class Definition {
 public:
  Definition(MarkdownScanner& scanner, const MarkdownPlace& place)
      : scanner_(scanner), place_(place), read_(scanner.here_), line_(scanner.at(read_++)) {}

  // Return the number of its lines, or 0 if there is no definition.
  int64_t lines() {
    int64_t at = label();
    if (at >= 0) at = destination(skip(at));
    if (at < 0) return 0;
    const bool plain = rest_is_blank(at);
    const int64_t read = read_ - scanner_.here_;
    if (const int64_t begin = skip(at); begin > at) {
      const int64_t close = title(begin);
      if (close >= 0 && rest_is_blank(close)) return read_ - scanner_.here_;
      if (close >= 0 && close - begin == 2) return 0;  // no text may follow an empty title
    }
    return plain ? read : 0;
  }

 private:
  static constexpr int kNone = -1;

  // Return the byte at a position: a line feed for any line break, kNone after the text that was read.
  int byte(int64_t at) const {
    if (at < line_.end) return static_cast<unsigned char>(scanner_.byte(at));
    return at == line_.end && at < scanner_.size_ ? '\n' : kNone;
  }
  // Read the next line, if it continues the definition.
  bool next() {
    if (!scanner_.has(read_)) return false;
    const MarkdownLine line = scanner_.at(read_);
    if (line.blank()) return false;
    if (!place_.holds_code(line) && line.indent >= 0 && scanner_.ends_text(read_, place_, OpenText::kDefinition))
      return false;
    line_ = line, ++read_;
    return true;
  }
  // Return the position after a line break.
  int64_t behind_break(int64_t at) { return next() ? line_.text : at + 1; }

  bool rest_is_blank(int64_t at) const { return at >= line_.end || scanner_.trimmed_end(at, line_.end) == at; }
  int64_t skip(int64_t at) {
    for (int c; (c = byte(at)) == ' ' || c == '\t' || c == '\n';) at = c == '\n' ? behind_break(at) : at + 1;
    return at;
  }
  // Return the beginning of the text after "[label]:", or -1.
  int64_t label() {
    bool any = false;
    int64_t at = line_.text + 1;
    for (;;) {
      int c = byte(at);
      if (c == '\\')
        any = true, c = byte(++at);
      else if (c == kNone || c == '[' || c == ']')
        break;
      if (c == kNone) return -1;
      if (c == '\n') {
        at = behind_break(at);
        continue;
      }
      const Decoded found = decode_utf8(scanner_.text_, at);
      any = any || !is_trimmed(found.code_point);
      at += found.length;
    }
    return any && byte(at) == ']' && byte(at + 1) == ':' ? at + 2 : -1;
  }
  // Return the end of a link's destination, or -1.
  int64_t destination(int64_t at) const {
    if (byte(at) == '<') {
      for (++at;; ++at) {
        const int c = byte(at);
        if (c == '>') return at + 1;
        if (c == kNone || c == '\n' || c == '<') return -1;
        if (c == '\\' && byte(at + 1) != kNone) ++at;
      }
    }
    const int64_t begin = at;
    int open = 0;
    for (int c; (c = byte(at)) != kNone && (c > ' ' || c == 0) && c != 0x7F; ++at) {
      if (c == '\\' && byte(at + 1) != kNone) {
        if (byte(at + 1) == ' ') break;
        ++at;
      } else if (c == '(') {
        if (++open > 32) return -1;
      } else if (c == ')' && --open < 0) {
        open = 0;
        break;
      }
    }
    return at > begin && open == 0 ? at : -1;
  }
  // Return the end of a title, or -1.
  int64_t title(int64_t at) {
    const int c = byte(at);
    if (c != '"' && c != '\'' && c != '(') return -1;
    const int closing = c == '(' ? ')' : c;
    for (++at;; ++at) {
      const int d = byte(at);
      if (d == closing) return at + 1;
      if (d == '(' && closing == ')') return -1;
      if (d == '\\' && byte(at + 1) != kNone) ++at;
      if (byte(at) == '\n' || byte(at) == kNone) {
        if (!next()) return -1;
        at = line_.text - 1;
      }
    }
  }

  MarkdownScanner& scanner_;
  const MarkdownPlace& place_;
  int64_t read_;
  MarkdownLine line_;  // the last line read
};

bool MarkdownScanner::definition(const MarkdownPlace& place) {
  const int64_t lines = Definition(*this, place).lines();
  for (int64_t i = 0; i < lines; ++i) pass();
  return lines > 0;
}

// Not inlined: if the compiler knew that the scanner is a thread's own, the code would look up its address again and
// again.
[[gnu::noinline]] void scan(MarkdownScanner& scanner, std::string_view text, std::vector<MarkdownBlock>& out) {
  scanner.open(text, out);
  scanner.scan();
  scanner.close();
}

// Convert blocks from bytes to characters of their document.
void to_characters(std::string_view text, MarkdownBlock* blocks, size_t count) {
  const uint8_t* data = as_bytes(text);
  int64_t byte = 0, character = 0;
  const auto move = [&](int64_t& at) {
    character += kernels().count_characters(data + byte, static_cast<size_t>(at - byte));
    byte = at, at = character;
  };
  for (size_t i = 0; i < count; ++i) move(blocks[i].start), move(blocks[i].end);
}

}  // namespace

void markdown_blocks(std::string_view text, std::vector<MarkdownBlock>& out) {
  if (text.empty()) return;
  thread_local MarkdownScanner scanner;
  scan(scanner, text, out);
}

BlockTable markdown_blocks(const Texts& texts, int threads) {
  const std::vector<int64_t> borders = plan_blocks(texts);
  struct Part {
    std::vector<MarkdownBlock> blocks;
    std::vector<int64_t> counts;
  };
  std::vector<Part> parts(borders.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), threads, [&](int64_t b) {
    Part& part = parts[static_cast<size_t>(b)];
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const size_t before = part.blocks.size();
      markdown_blocks(texts[i], part.blocks);
      to_characters(texts[i], part.blocks.data() + before, part.blocks.size() - before);
      part.counts.push_back(static_cast<int64_t>(part.blocks.size() - before));
    }
  });
  int64_t total = 0;
  for (const Part& part : parts) total += static_cast<int64_t>(part.blocks.size());
  BlockTable out{Buffer<int64_t>(texts.size() + 1), Buffer<int8_t>(total), Buffer<int16_t>(total),
                 Buffer<int64_t>(total), Buffer<int64_t>(total)};
  int64_t row = 0, document = 0;
  out.offsets[0] = 0;
  for (const Part& part : parts) {
    for (const MarkdownBlock& block : part.blocks) {
      out.kind[row] = static_cast<int8_t>(block.kind), out.level[row] = block.level;
      out.start[row] = block.start, out.end[row] = block.end;
      ++row;
    }
    for (const int64_t count : part.counts) {
      out.offsets[document + 1] = out.offsets[document] + count;
      ++document;
    }
  }
  return out;
}

}  // namespace pychunk
