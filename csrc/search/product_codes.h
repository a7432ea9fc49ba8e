// Codes of half a byte for each piece of a vector, and the rows that score best by them: candidates, whose vectors tell
// which are the nearest. Product quantisation (Jegou, Douze and Schmid, 2011) in groups of 32 rows whose tables lie in
// registers (Andre, Kermarrec and Le Scouarnec, 2015).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"
#include "search/scan.h"

namespace pychunk {

// Rows whose codes lie together, and 16 bytes for each piece of them: row r's code is the lower half of byte r, row
// r + 16's the upper half.
constexpr int64_t kCodeGroup = 32, kCodeBytes = 16;

// 16 centroids for each of `pieces` runs of `width` numbers, one after the other from a vector's first number on; what
// is behind the last run is no part of the code. A vector that is shorter goes on with zeros.
struct CodeBooks {
  const float* centroids;  // [pieces, 16, width]
  int64_t pieces, width;
  // Pieces that the codes hold: up to a multiple of four, the last ones zero.
  int64_t held() const { return (pieces + 3) / 4 * 4; }
};

// Most pieces: so many tables of bytes add up to less than 2^16.
constexpr int64_t kMostPieces = 256;

// The codes of rows as they are stored, in groups of 32, the last filled up with code 0; out [groups, held, 16]. A
// piece's code is its nearest centroid, of equals the first.
// Floor: 2 * 16 * dim operations a row; 256 numbers take some 0.2 us.
void encode_rows(const StoredRows& rows, StoredAs kind, int64_t dim, const CodeBooks& books, uint8_t* out, int threads);

// Rows that have codes, numbered on from one run to the next.
struct CodedRows {
  const uint8_t* codes;
  int64_t rows;
};

// Of each query the `count` rows that score highest by its products with centroids, brought to bytes; best first, of
// equals the first row. allowed: one value a row, nullptr for all. Which rows, and their order, depends on query, codes
// and `allowed` alone.
// Floor: half a byte a piece read, for each query.
std::vector<std::vector<int64_t>> best_by_codes(std::span<const CodedRows> parts, const CodeBooks& books,
                                                const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                                int threads);

}  // namespace pychunk
