// BM25 of a term's postings, for all rows of a part. 12 bytes of scores and base moved a posting, and what it takes
// itself; additions are one a row, so that their order is that of the terms.
#pragma once
#include <cstdint>
#include <span>

namespace pychunk {

// out[r] += weight * c / (c + base[r]) for each row r and its count c, in float32, as written. Number types: unsigned
// of 8, 16 or 32 bits. Throws std::invalid_argument where a row is not below out.size(), which is base.size(), too.
template <typename Row, typename Count>
void add_bm25(std::span<const Row> rows, std::span<const Count> counts, float weight, std::span<const float> base,
              std::span<float> out);

// How many of the rows have a 1 in `alive`.
template <typename Row>
int64_t count_alive(std::span<const Row> rows, std::span<const uint8_t> alive);

}  // namespace pychunk
