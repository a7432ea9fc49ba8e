// Codes of half a byte for each piece of a vector, and the rows that score best by them. These rows are candidates: the
// caller then compares their vectors to find the nearest. This is product quantization (Jegou, Douze and Schmid, 2011)
// in groups of 32 rows whose tables are in registers (Andre, Kermarrec and Le Scouarnec, 2015).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"
#include "search/scan.h"

namespace pychunk {

// The rows in a group of codes, and the bytes for each piece of them. Byte r has the code of row r in its lower half,
// and the code of row r + 16 in its upper half.
constexpr int64_t kCodeGroup = 32, kCodeBytes = 16;

// The centroids: 16 for each of `pieces` runs of `width` numbers, which follow each other from a vector's first number
// on. Numbers after the last run are not part of the code. A shorter vector is filled up with zeros.
struct CodeBooks {
  const float* centroids;  // [pieces, 16, width]
  int64_t pieces, width;
  // Return the number of pieces in the codes: `pieces`, rounded up to a multiple of four. The added pieces are zero.
  int64_t held() const { return (pieces + 3) / 4 * 4; }
};

// The most pieces. The scores of that many pieces, a byte each, add up to less than 2^16.
constexpr int64_t kMostPieces = 256;

// Encode rows in the stored layout: `out` has the shape [groups, held(), 16]. A group has 32 rows; code 0 fills up the
// last group. The code of a piece is the number of its nearest centroid, the lowest of equally near ones. Lower bound
// on the cost: 2 * 16 * dim operations for each row. A row of 256 numbers takes some 0.2 us.
void encode_rows(const StoredRows& rows, StoredAs kind, int64_t dim, const CodeBooks& books, uint8_t* out, int threads);

// Rows that have codes. Row numbers continue from one run to the next.
struct CodedRows {
  const uint8_t* codes;
  int64_t rows;
};

// Return the `count` rows that score highest for each query, best first, the first of equals first. A row's score is
// the sum of the query's products with the row's centroids, each rounded to a byte. allowed: one value for each row,
// nullptr for all. The rows and their order depend only on query, codes and `allowed`. Lower bound: half a byte read
// for each piece and query.
std::vector<std::vector<int64_t>> best_by_codes(std::span<const CodedRows> parts, const CodeBooks& books,
                                                const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                                int threads);

}  // namespace pychunk
