// The data table of a page.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parsing/html/html_scan.h"

namespace pychunk::html {

// The limits of pychunk/_engine/reference/parsing/html_table.py.
constexpr int64_t kMostCells = 200'000, kMostColumns = 50, kMostRows = 65'534;

// The cells of a data table in a grid. A cell that spans rows is repeated in each of them, because a chunk may begin
// with any row. A head that spans several columns, and is not alone in its row, is repeated in each column.
struct DataTable {
  struct Row {
    std::vector<std::string> cells;
    int64_t own = 0;  // the number of cells that begin in this row
    bool any_head = false, all_heads = true;
    void add_head(bool head) { any_head |= head, all_heads &= head; }
  };

  void begin_row();

  // End the spans of all cells where a group of rows begins: no cell spans the rows of two groups.
  void begin_group();

  void add(std::string text, bool head, int64_t columns, int64_t down);

  void end_row();

  // Remove empty rows and find the header. Return false if the remaining rows are no data table.
  bool settle();

  std::vector<Row> rows;
  std::string caption;
  int64_t link_chars = 0, links = 0, cells = 0;
  bool header = false;

 private:
  struct Span {
    int64_t until = 0;  // the last row of the span, counted from 1
    std::string text;
    bool head = false;
  };

  // Add the cells of earlier rows that span this row, up to its first free column or to its end.
  void fill(bool to_end);

  // Return the text of one more cell that a span covers, or an empty text once all repeated texts together are too
  // long. Without this limit, a small page with many spans could become a text of any length.
  std::string repeat(const std::string& text);

  std::vector<Span> spans_;
  std::vector<std::pair<size_t, size_t>> wide_heads_;
  int64_t repeated_ = 0;
};

// The parts of a cell beyond one line: items of lists, and nested tables. They are written one after the other.
struct CellParts {
  void enter(const HtmlTag& tag, std::string& cell);
  void leave(const HtmlTag& tag);
  int64_t tables = 0;  // the number of open tables inside

 private:
  bool items_ = false, rows_ = false, cells_ = false;  // whether an item, a row, a cell came before
};

// Append the text of a cell. Semicolons separate list items and the rows of nested tables; commas separate the cells of
// nested tables.
void append_cell(std::string_view cell, std::string& out);

}  // namespace pychunk::html
