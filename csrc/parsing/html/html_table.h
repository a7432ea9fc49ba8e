// A table of data of a page.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parsing/html/html_scan.h"

namespace pychunk::html {

// As in pychunk/_engine/reference/parsing/html_table.py.
constexpr int64_t kMostCells = 200'000, kMostColumns = 50, kMostRows = 65'534;

// Cells of a table of data, in a grid: a cell that spans rows stands in each of them, as a chunk may begin with any,
// and a head that spans columns beside others names each of them.
struct DataTable {
  struct Row {
    std::vector<std::string> cells;
    int64_t own = 0;  // cells that begin in this row
    bool any_head = false, all_heads = true;
    void add_head(bool head) { any_head |= head, all_heads &= head; }
  };

  void begin_row();

  // Cells span no rows of another group.
  void begin_group();

  void add(std::string text, bool head, int64_t columns, int64_t down);

  void end_row();

  // Leaves out empty rows, finds the header; false where what is left is no table of data.
  bool settle();

  std::vector<Row> rows;
  std::string caption;
  int64_t link_chars = 0, links = 0, cells = 0;
  bool header = false;

 private:
  struct Span {
    int64_t until = 0;  // the first row, counted from 1, that it does not reach
    std::string text;
    bool head = false;
  };

  // What cells of the rows above put into this row: up to its first free column, or to its end.
  void fill(bool to_end);

  // A text again, as long as repeated ones are few: spans of small pages may be many.
  std::string repeat(const std::string& text);

  std::vector<Span> spans_;
  std::vector<std::pair<size_t, size_t>> wide_heads_;
  int64_t repeated_ = 0;
};

// What a cell holds that is more than a line: items of lists, and tables, which are written one after another.
struct CellParts {
  void enter(const HtmlTag& tag, std::string& cell);
  void leave(const HtmlTag& tag);
  int64_t tables = 0;  // open tables inside

 private:
  bool items_ = false, rows_ = false, cells_ = false;  // whether the list, the table, its row has any
};

// Appends the text of a cell, its items and rows apart by semicolons, its nested cells by commas.
void append_cell(std::string_view cell, std::string& out);

}  // namespace pychunk::html
