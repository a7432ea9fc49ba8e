#include "text/categories.h"

#include <iterator>

#include "text/paged_cells.h"

namespace pychunk {
namespace {

#include "text/category_tables.inc"

}  // namespace

CategoryTable::CategoryTable() {
  PagedCells cells;
  for (size_t i = 0; i < std::size(kCategoryRuns); i += 3)
    cells.fill(kCategoryRuns[i], kCategoryRuns[i + 1], kCategoryRuns[i + 2]);
  std::vector<uint32_t> wide;
  cells.finish(pages_, wide);
  cells_.assign(wide.begin(), wide.end());
}

const CategoryTable& categories() {
  static const CategoryTable& table = *new CategoryTable();
  return table;
}

std::vector<uint32_t> category_runs() { return {std::begin(kCategoryRuns), std::end(kCategoryRuns)}; }

}  // namespace pychunk
