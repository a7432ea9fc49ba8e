#include "search/bm25.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/check.h"
#include "common/interrupt.h"
#include "common/parallel.h"

namespace pychunk {
namespace {

// Up to this number, queries are scored one after the other. With few queries little is shared, and this takes 0.7 of
// the time of tiles.
constexpr int64_t kFewQueries = 4;
// The number of postings in one step. Their scores are divided in whole registers, and need 2 KB in addition to the
// rows.
constexpr size_t kPostingsTogether = 512;
// The number of rows in one step for all queries, a power of two. Their scores stay in the first-level cache, and the
// scores that terms add to them stay in the second-level cache.
constexpr int64_t kTileRows = 4096;
// The scores of a term that at least every fourth row contains are added to all rows, in whole registers. Rows without
// it get 0, which changes no score. Most postings of a sentence's words belong to such terms.
constexpr size_t kDenseShare = 4;
// The number of consecutive tiles that one thread takes.
constexpr int64_t kTilesARun = 4;

// Check the rows of postings, because a damaged file may contain any number. A part has fewer than 2^31 rows, so the
// highest bit of `wrong` is set if any row is too large. The baseline instruction set has no maximum of unsigned
// numbers, so that computing one takes longer.
template <typename Row>
void check_rows(std::span<const Row> rows, size_t size) {
  const auto last = static_cast<uint32_t>(std::min(size, size_t{1} << 31)) - 1u;
  uint32_t wrong = 0;
  for (const Row row : rows) wrong |= (last - row) | row;
  PYCHUNK_CHECK(rows.empty() || (size > 0 && wrong >> 31 == 0), "postings must be of rows below ", size, ", got ",
                *std::max_element(rows.begin(), rows.end()));
}

// Call body(numbers [begin, end)) with the numbers in their own type.
template <typename Body>
auto with_numbers(const Numbers& numbers, int64_t begin, int64_t end, Body body) {
  PYCHUNK_CHECK(0 <= begin && begin <= end && end <= numbers.size, "postings must be within the ", numbers.size,
                " stored ones, got those from ", begin, " to ", end);
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

// ---- one query after the other ----

// Fetch numbers from memory ahead of their use, because each loop of add_bm25() would wait for its own first ones. They
// need not be in an array. 2.4 million postings then take 2.4 ms instead of 2.8, of which 0.8 are the floor: their
// bytes at 12 GB/s.
template <typename T>
void prefetch(const T* numbers, size_t n) {
  const auto address = reinterpret_cast<uintptr_t>(numbers);
  for (size_t byte = 0; byte < n * sizeof(T); byte += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(address + byte));
}

// Add weight * c / (c + base[r]) to out[r] for each row r and its count c.
template <typename Row, typename Count>
void add_bm25(std::span<const Row> rows, std::span<const Count> counts, float weight, std::span<const float> base,
              std::span<float> out) {
  float added[kPostingsTogether];
  for (size_t begin = 0; begin < rows.size(); begin += kPostingsTogether) {
    checkpoint_each(static_cast<int64_t>(begin / kPostingsTogether), 1024);
    const size_t n = std::min(kPostingsTogether, rows.size() - begin);
    const Row* row = rows.data() + begin;
    const Count* count = counts.data() + begin;
    prefetch(row + 2 * kPostingsTogether, n), prefetch(count + 2 * kPostingsTogether, n);
    check_rows(rows.subspan(begin, n), out.size());
    for (size_t i = 0; i < n; ++i) added[i] = base[row[i]];
    for (size_t i = 0; i < n; ++i) {
      const auto times = static_cast<float>(count[i]);
      added[i] = weight * times / (times + added[i]);
    }
    for (size_t i = 0; i < n; ++i) out[row[i]] += added[i];
  }
}

// Score all rows of a part for one query.
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

// ---- many queries together ----

// Return how many of some increasing rows are below a limit. Usually few are.
template <typename Row>
size_t count_below(std::span<const Row> rows, int64_t limit) {
  size_t step = 1;
  while (step <= rows.size() && static_cast<int64_t>(rows[step - 1]) < limit) step *= 2;
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(step, rows.size()));
  return static_cast<size_t>(std::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(step / 2), end, limit,
                                              [](Row row, int64_t most) { return static_cast<int64_t>(row) < most; }) -
                             rows.begin());
}

// The weights of terms in all queries. The same term with the same weight adds the same score, whichever query it
// belongs to.
struct TermWeights {
  struct Each {
    int64_t term;
    float weight;
  };
  std::vector<Each> each;      // ordered by term
  std::vector<uint32_t> uses;  // for each term of each query, its index in `each`

  explicit TermWeights(const WeightedTerms& queries) : uses(queries.weights.size()) {
    const std::span<const int64_t> terms = queries.terms.values;
    std::vector<uint32_t> order(uses.size());
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](uint32_t i) { return std::pair(terms[i], std::bit_cast<uint32_t>(queries.weights[i])); };
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || key(order[i]) != key(order[i - 1])) each.push_back({terms[order[i]], queries.weights[order[i]]});
      uses[order[i]] = static_cast<uint32_t>(each.size() - 1);
    }
  }
};

// One thread's walk over the rows [begin, end) of a part, tile by tile.
class PartScores {
 public:
  PartScores(const PartPostings& part, const WeightedTerms& queries, const TermWeights& weights,
             std::span<const float> base, const bool* alive, int64_t begin)
      : part_(part), queries_(queries), weights_(weights), base_(base), alive_(alive), runs_(weights.each.size()) {
    next_.reserve(weights.each.size());
    for (const auto& [term, weight] : weights.each) {
      const int64_t first = part.begins[static_cast<size_t>(term)], last = part.ends[static_cast<size_t>(term)];
      with_numbers(part.counts, first, last, [](auto) {});
      next_.push_back(with_numbers(part.rows, first, last, [&](const auto rows) {
        const auto below = [](auto row, int64_t limit) { return static_cast<int64_t>(row) < limit; };
        return first + (std::lower_bound(rows.begin(), rows.end(), begin, below) - rows.begin());
      }));
    }
  }

  // Write the scores of rows [begin, end). The scores of a query begin `stride` numbers after those of the previous
  // query.
  void tile(int64_t begin, int64_t end, float* out, int64_t stride) {
    checkpoint();
    places_.clear(), added_.clear();
    for (size_t i = 0; i < next_.size(); ++i) add(i, begin, end);
    const auto size = static_cast<size_t>(end - begin);
    for (int64_t query = 0; query < queries_.terms.size(); ++query, out += stride) {
      float scores[kTileRows] = {};
      const auto first = static_cast<size_t>(queries_.terms.offsets[static_cast<size_t>(query)]);
      const auto last = static_cast<size_t>(queries_.terms.offsets[static_cast<size_t>(query) + 1]);
      for (size_t use = first; use < last; ++use) {
        const Run& run = runs_[weights_.uses[use]];
        const uint16_t* places = places_.data() + run.place;
        const float* added = added_.data() + run.added;
        if (run.dense)
          for (size_t row = 0; row < size; ++row) scores[row] += added[row];
        else
          for (size_t i = 0; i < run.size; ++i) scores[places[i]] += added[i];
      }
      if (alive_ != nullptr)
        for (size_t row = 0; row < size; ++row)
          scores[row] = alive_[begin + static_cast<int64_t>(row)] ? scores[row] : 0.0f;
      const float bound = queries_.bounds[static_cast<size_t>(query)];
      if (bound != 0.0f)
        for (size_t row = 0; row < size; ++row) out[row] = scores[row] / bound;
      else
        std::copy_n(scores, size, out);
    }
  }

  // Check that no posting has a row after the last one.
  void check_end() const {
    for (size_t i = 0; i < next_.size(); ++i)
      with_numbers(part_.rows, next_[i], part_.ends[static_cast<size_t>(weights_.each[i].term)],
                   [&](const auto rows) { check_rows(rows, static_cast<size_t>(part_.row_count)); });
  }

 private:
  // The position of a tile's postings in places_, and of the scores that they add in added_.
  struct Run {
    size_t place, added, size;
    bool dense;  // one score for every row of the tile, rather than for each row with the term
  };

  void add(size_t i, int64_t begin, int64_t end) {
    const int64_t term = weights_.each[i].term;
    const float weight = weights_.each[i].weight;
    const bool known = i > 0 && weights_.each[i - 1].term == term;  // the rows of this term are already stored
    const int64_t last = part_.ends[static_cast<size_t>(term)];
    with_numbers(part_.rows, next_[i], last, [&](const auto all) {
      const size_t size = known ? runs_[i - 1].size : count_below(all, end);
      const auto every = static_cast<size_t>(end - begin);
      const bool dense = size * kDenseShare >= every;
      runs_[i] = {known ? runs_[i - 1].place : places_.size(), added_.size(), size, dense};
      const auto rows = all.first(size);
      if (!known) {
        places_.resize(places_.size() + size);
        uint16_t* places = places_.data() + runs_[i].place;
        PYCHUNK_CHECK(size <= every, "postings of a term must have increasing rows");
        uint32_t most = 0;
        if (every == kTileRows) {  // a power of two, so OR shows whether a place is too large
          for (size_t k = 0; k < size; ++k) {
            const uint32_t place = static_cast<uint32_t>(rows[k]) - static_cast<uint32_t>(begin);
            most |= place;
            places[k] = static_cast<uint16_t>(place);
          }
        } else {
          for (size_t k = 0; k < size; ++k) {
            const uint32_t place = static_cast<uint32_t>(rows[k]) - static_cast<uint32_t>(begin);
            most = std::max(most, place);
            places[k] = static_cast<uint16_t>(place);
          }
        }
        PYCHUNK_CHECK(size == 0 || most < every, "postings of a term must have increasing rows");
      }
      const uint16_t* places = places_.data() + runs_[i].place;
      added_.resize(added_.size() + (dense ? every : size));
      float* added = added_.data() + runs_[i].added;
      float room[kTileRows];
      float* found = dense ? room : added;
      const float* base = base_.data() + begin;
      for (size_t k = 0; k < size; ++k) found[k] = base[places[k]];
      with_numbers(part_.counts, next_[i], next_[i] + static_cast<int64_t>(size), [&](const auto counts) {
        for (size_t k = 0; k < size; ++k) {
          const auto times = static_cast<float>(counts[k]);
          found[k] = weight * times / (times + found[k]);
        }
      });
      if (dense) {
        std::fill_n(added, every, 0.0f);
        for (size_t k = 0; k < size; ++k) added[places[k]] = room[k];
      }
      next_[i] += static_cast<int64_t>(size);
    });
  }

  const PartPostings& part_;
  const WeightedTerms& queries_;
  const TermWeights& weights_;
  const std::span<const float> base_;
  const bool* const alive_;
  std::vector<int64_t> next_;  // the first posting that is in no tile yet
  std::vector<Run> runs_;
  Values<uint16_t> places_;
  Values<float> added_;
};

}  // namespace

void bm25_scores(std::span<const PartPostings> parts, const WeightedTerms& queries, std::span<const float> base,
                 const bool* alive, float* out, int threads) {
  const auto rows = static_cast<int64_t>(base.size());
  int64_t first = 0;
  struct Work {
    const PartPostings* part;
    int64_t begin, end;
  };
  std::vector<Work> work;
  for (const PartPostings& part : parts) {
    PYCHUNK_CHECK(part.first_row == first && part.row_count >= 0, "parts must follow one another");
    PYCHUNK_CHECK(part.rows.size == part.counts.size, "there must be ", part.rows.size, " counts, got ",
                  part.counts.size);
    PYCHUNK_CHECK(part.begins.size() == part.ends.size(), "there must be as many ends as begins");
    for (const int64_t term : queries.terms.values)
      PYCHUNK_CHECK(term >= 0 && term < static_cast<int64_t>(part.begins.size()), "terms must be below ",
                    part.begins.size(), ", got ", term);
    for (int64_t begin = 0; begin < part.row_count; begin += kTilesARun * kTileRows)
      work.push_back({&part, begin, std::min(begin + kTilesARun * kTileRows, part.row_count)});
    first += part.row_count;
  }
  PYCHUNK_CHECK(first == rows, "parts must have ", rows, " rows, got ", first);
  PYCHUNK_CHECK(queries.weights.size() == queries.terms.values.size() &&
                    static_cast<int64_t>(queries.bounds.size()) == queries.terms.size(),
                "each term must have a weight and each query a bound");
  if (queries.terms.size() < kFewQueries) {
    const auto count = static_cast<int64_t>(parts.size());
    parallel_for(queries.terms.size() * count, threads, [&](int64_t item) {
      const auto query = static_cast<size_t>(item / count);
      const PartPostings& part = parts[static_cast<size_t>(item % count)];
      const auto begin = static_cast<size_t>(part.first_row), size = static_cast<size_t>(part.row_count);
      score_part(part, queries.terms[static_cast<int64_t>(query)],
                 queries.weights.data() + queries.terms.offsets[query], queries.bounds[query],
                 base.subspan(begin, size), alive == nullptr ? nullptr : alive + begin,
                 {out + static_cast<int64_t>(query) * rows + part.first_row, size});
    });
    return;
  }
  const TermWeights weights(queries);
  parallel_for(static_cast<int64_t>(work.size()), threads, [&](int64_t item) {
    const auto& [part, begin, end] = work[static_cast<size_t>(item)];
    const auto own = static_cast<size_t>(part->first_row), size = static_cast<size_t>(part->row_count);
    PartScores scores(*part, queries, weights, base.subspan(own, size), alive == nullptr ? nullptr : alive + own,
                      begin);
    for (int64_t at = begin; at < end; at += kTileRows)
      scores.tile(at, std::min(at + kTileRows, end), out + part->first_row + at, rows);
    if (end == part->row_count) scores.check_end();
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
