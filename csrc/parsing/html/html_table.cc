#include "parsing/html/html_table.h"

#include <algorithm>

#include "parsing/html/html_scripts.h"
#include "parsing/html/html_text.h"
#include "text/utf8_text.h"

namespace pychunk::html {

namespace {

// The most characters of repeated cells in one table.
constexpr int64_t kMostRepeated = 200'000;
// The most rows of heads that become one.
constexpr size_t kMostHeads = 4;

// Join several rows of heads into one, for each column from the top, because Markdown has only one.
void join_heads(std::vector<DataTable::Row>& rows) {
  size_t heads = 0;
  while (heads < rows.size() && rows[heads].all_heads) ++heads;
  if (heads < 2 || heads == rows.size() || heads > kMostHeads) return;
  auto& first = rows[0].cells;
  for (size_t r = 1; r < heads; ++r) first.resize(std::max(first.size(), rows[r].cells.size()));
  for (size_t c = 0; c < first.size(); ++c) {
    const std::string* above = &first[c];
    std::string joined = first[c];
    for (size_t r = 1; r < heads; ++r) {
      if (c >= rows[r].cells.size() || rows[r].cells[c].empty() || rows[r].cells[c] == *above) continue;
      above = &rows[r].cells[c];
      if (!joined.empty()) joined.push_back(' ');
      joined.append(*above);
    }
    first[c] = std::move(joined);
  }
  rows.erase(rows.begin() + 1, rows.begin() + static_cast<std::ptrdiff_t>(heads));
}

}  // namespace

void DataTable::begin_row() {
  end_row();
  rows.emplace_back();
}

void DataTable::begin_group() {
  end_row();
  spans_.clear();
}

void DataTable::add(std::string text, bool head, int64_t columns, int64_t down) {
  if (rows.empty()) rows.emplace_back();
  fill(false);
  Row& row = rows.back();
  ++row.own, row.add_head(head), cells += columns;
  const size_t first = row.cells.size(), end = first + static_cast<size_t>(columns);
  if (head && columns > 1) wide_heads_.push_back({first, end});
  row.cells.push_back(text);
  for (size_t c = first + 1; c < end; ++c) {
    const bool reached = c < spans_.size() && spans_[c].until >= static_cast<int64_t>(rows.size());
    row.cells.push_back(reached ? repeat(spans_[c].text) : std::string());
  }
  if (down > 1) {
    spans_.resize(std::max(spans_.size(), end));
    for (size_t c = first; c < end; ++c) {
      spans_[c] = {static_cast<int64_t>(rows.size()) + down - 1, c == first || head ? text : std::string(), head};
    }
  }
}

void DataTable::end_row() {
  if (!rows.empty() && rows.back().own > 0) {
    fill(true);
    Row& row = rows.back();
    for (const auto& [first, end] : wide_heads_) {
      if (row.own == 1) break;
      for (size_t c = first + 1; c < end; ++c) row.cells[c] = repeat(row.cells[first]);
    }
  }
  wide_heads_.clear();
}

void DataTable::fill(bool to_end) {
  Row& row = rows.back();
  const auto number = static_cast<int64_t>(rows.size());
  while (!spans_.empty() && spans_.back().until < number) spans_.pop_back();
  while (row.cells.size() < spans_.size() && cells <= kMostCells) {
    const Span& span = spans_[row.cells.size()];
    const bool reached = span.until >= number;
    if (!reached && !to_end) return;
    if (reached) row.add_head(span.head);
    row.cells.push_back(reached ? repeat(span.text) : std::string());
    ++cells;
  }
}

std::string DataTable::repeat(const std::string& text) {
  repeated_ += count_characters(text);
  return repeated_ <= kMostRepeated ? text : std::string();
}

bool DataTable::settle() {
  int64_t width = 0, wide = 0;
  bool any_head = false;
  for (const auto& row : rows) {
    width = std::max(width, static_cast<int64_t>(row.cells.size()));
    any_head |= row.any_head;
  }
  std::erase_if(rows, [](const DataTable::Row& row) {
    return row.own == 0 || std::ranges::all_of(row.cells, [](const std::string& text) { return text.empty(); });
  });
  const auto kept = static_cast<int64_t>(rows.size());
  bool beside = false;  // a row has text in two cells; a notice with its icon has not
  for (const auto& row : rows) {
    wide += row.cells.size() > 1;
    beside |= std::ranges::count_if(row.cells, [](const std::string& text) { return !text.empty(); }) > 1;
  }
  if (kept < 2 || width < 2 || width * kept > kMostCells || wide * 2 < kept || !beside) return false;
  header = rows[0].all_heads || (width > 2 && !any_head);
  join_heads(rows);
  return true;
}

void CellParts::enter(const HtmlTag& tag, std::string& cell) {
  const auto part = [&](bool any, char mark) { any ? cell.append({kLineBreak, mark}) : cell.append(1, ' '); };
  switch (tag.kind) {
    case HtmlKind::kList:
    case HtmlKind::kOrdered:
      items_ = false;
      break;
    case HtmlKind::kItem:
      part(items_, ';');
      items_ = true;
      break;
    case HtmlKind::kTable:
      ++tables;
      rows_ = cells_ = false;
      break;
    case HtmlKind::kRow:
      if (tables == 0) break;
      part(rows_, ';');
      rows_ = true, cells_ = false;
      break;
    case HtmlKind::kCell:
    case HtmlKind::kHeadCell:
      if (tables == 0) break;
      part(cells_, ',');
      cells_ = true;
      break;
    default:
      break;
  }
}

void CellParts::leave(const HtmlTag& tag) {
  if (tag.kind == HtmlKind::kList || tag.kind == HtmlKind::kOrdered) items_ = true;
  if (tag.kind == HtmlKind::kTable) --tables;
}

void append_cell(std::string_view cell, std::string& out) {
  size_t end = std::min(cell.find(kLineBreak), cell.size());
  append_words(cell.substr(0, end), out);
  while (end < cell.size()) {
    const char mark = cell[end + 1];
    const size_t begin = end + 2;
    end = std::min(cell.find(kLineBreak, begin), cell.size());
    const std::string_view part = cell.substr(begin, end - begin);
    if (is_blank(part)) continue;
    if (!out.empty() && std::string_view(".,;:!?").find(out.back()) == std::string_view::npos) out.push_back(mark);
    if (!out.empty()) out.push_back(' ');
    append_words(part, out);
  }
}

}  // namespace pychunk::html
