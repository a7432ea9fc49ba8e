#include "bm25.h"

#include "check.h"

namespace pychunk {
namespace {

// Of a file that is damaged any number may come.
template <typename Row>
void check_rows(std::span<const Row> rows, size_t size) {
  Row most = 0;
  for (const Row row : rows) most = row > most ? row : most;
  PYCHUNK_CHECK(rows.empty() || most < size, "postings must be of rows below ", size, ", got ", most);
}

}  // namespace

template <typename Row, typename Count>
void add_bm25(std::span<const Row> rows, std::span<const Count> counts, float weight, std::span<const float> base,
              std::span<float> out) {
  PYCHUNK_CHECK(rows.size() == counts.size(), "there must be ", rows.size(), " counts, got ", counts.size());
  PYCHUNK_CHECK(base.size() == out.size(), "there must be ", out.size(), " numbers of rows, got ", base.size());
  check_rows(rows, out.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto times = static_cast<float>(counts[i]);
    out[rows[i]] += weight * times / (times + base[rows[i]]);
  }
}

template <typename Row>
int64_t count_alive(std::span<const Row> rows, std::span<const uint8_t> alive) {
  check_rows(rows, alive.size());
  int64_t found = 0;
  for (const Row row : rows) found += alive[row] != 0;
  return found;
}

#define PYCHUNK_BM25(Row, Count) \
  template void add_bm25(std::span<const Row>, std::span<const Count>, float, std::span<const float>, std::span<float>);
#define PYCHUNK_BM25_ROWS(Row) \
  PYCHUNK_BM25(Row, uint8_t)   \
  PYCHUNK_BM25(Row, uint16_t)  \
  PYCHUNK_BM25(Row, uint32_t) template int64_t count_alive(std::span<const Row>, std::span<const uint8_t>);
PYCHUNK_BM25_ROWS(uint8_t)
PYCHUNK_BM25_ROWS(uint16_t)
PYCHUNK_BM25_ROWS(uint32_t)

}  // namespace pychunk
