#include "bm25.h"

#include <algorithm>

#include "check.h"
#include "interrupt.h"
#include "parallel.h"

namespace pychunk {
namespace {

// Postings at a time: what they add is divided in whole registers, 4.5 KB beside the rows.
constexpr size_t kPostingsTogether = 512;

// Of a file that is damaged any number may come.
template <typename Row>
void check_rows(std::span<const Row> rows, size_t size) {
  Row most = 0;
  for (const Row row : rows) most = row > most ? row : most;
  PYCHUNK_CHECK(rows.empty() || most < size, "postings must be of rows below ", size, ", got ", most);
}

// out[r] += weight * c / (c + base[r]) for each row r and its count c.
template <typename Row, typename Count>
void add_bm25(std::span<const Row> rows, std::span<const Count> counts, float weight, std::span<const float> base,
              std::span<float> out) {
  float added[kPostingsTogether];
  for (size_t begin = 0; begin < rows.size(); begin += kPostingsTogether) {
    checkpoint_each(static_cast<int64_t>(begin / kPostingsTogether), 1024);
    const size_t n = std::min(kPostingsTogether, rows.size() - begin);
    const Row* row = rows.data() + begin;
    const Count* count = counts.data() + begin;
    check_rows(rows.subspan(begin, n), out.size());
    for (size_t i = 0; i < n; ++i) added[i] = base[row[i]];
    for (size_t i = 0; i < n; ++i) {
      const auto times = static_cast<float>(count[i]);
      added[i] = weight * times / (times + added[i]);
    }
    for (size_t i = 0; i < n; ++i) out[row[i]] += added[i];
  }
}

// body(numbers [begin, end) as what they are)
template <typename Body>
auto with_numbers(const Numbers& numbers, int64_t begin, int64_t end, Body body) {
  PYCHUNK_CHECK(0 <= begin && begin <= end && end <= numbers.size, "postings must lie within ", numbers.size,
                ", got those from ", begin, " to ", end);
  const auto span = [&]<typename T>(const T* data) {
    return std::span<const T>(data + begin, static_cast<size_t>(end - begin));
  };
  switch (numbers.bytes) {
    case 1:
      return body(span(static_cast<const uint8_t*>(numbers.data)));
    case 2:
      return body(span(static_cast<const uint16_t*>(numbers.data)));
    default:
      return body(span(static_cast<const uint32_t*>(numbers.data)));
  }
}

void score_part(const PartPostings& part, std::span<const int64_t> terms, const float* weights, float bound,
                std::span<const float> base, const bool* alive, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto term = static_cast<size_t>(terms[i]);
    const int64_t begin = part.begins[term], end = part.ends[term];
    with_numbers(part.rows, begin, end, [&](const auto rows) {
      with_numbers(part.counts, begin, end, [&](const auto counts) { add_bm25(rows, counts, weights[i], base, out); });
    });
  }
  if (alive != nullptr)
    for (size_t row = 0; row < out.size(); ++row) out[row] = alive[row] ? out[row] : 0.0f;
  if (bound != 0.0f)
    for (float& score : out) score /= bound;
}

}  // namespace

void bm25_scores(std::span<const PartPostings> parts, const WeightedTerms& queries, std::span<const float> base,
                 const bool* alive, float* out, int threads) {
  const auto rows = static_cast<int64_t>(base.size());
  int64_t first = 0;
  for (const PartPostings& part : parts) {
    PYCHUNK_CHECK(part.first_row == first && part.row_count >= 0, "parts must follow one another");
    PYCHUNK_CHECK(part.rows.size == part.counts.size, "there must be ", part.rows.size, " counts, got ",
                  part.counts.size);
    PYCHUNK_CHECK(part.begins.size() == part.ends.size(), "there must be as many ends as begins");
    for (const int64_t term : queries.terms.values)
      PYCHUNK_CHECK(term >= 0 && term < static_cast<int64_t>(part.begins.size()), "terms must be below ",
                    part.begins.size(), ", got ", term);
    first += part.row_count;
  }
  PYCHUNK_CHECK(first == rows, "parts must have ", rows, " rows, got ", first);
  PYCHUNK_CHECK(queries.weights.size() == queries.terms.values.size() &&
                    static_cast<int64_t>(queries.bounds.size()) == queries.terms.size(),
                "each term must have a weight, each query a bound");
  const auto count = static_cast<int64_t>(parts.size());
  parallel_for(queries.terms.size() * count, threads, [&](int64_t item) {
    const int64_t query = item / count;
    const PartPostings& part = parts[static_cast<size_t>(item % count)];
    const auto begin = static_cast<size_t>(part.first_row), size = static_cast<size_t>(part.row_count);
    const float* weights = queries.weights.data() + queries.terms.offsets[static_cast<size_t>(query)];
    score_part(part, queries.terms[query], weights, queries.bounds[static_cast<size_t>(query)],
               base.subspan(begin, size), alive == nullptr ? nullptr : alive + begin,
               {out + query * rows + part.first_row, size});
  });
}

int64_t count_alive(const Numbers& rows, std::span<const uint8_t> alive) {
  return with_numbers(rows, 0, rows.size, [&](const auto own) {
    check_rows(own, alive.size());
    int64_t found = 0;
    for (const auto row : own) found += alive[row] != 0;
    return found;
  });
}

}  // namespace pychunk
