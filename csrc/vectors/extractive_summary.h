// The most central sentence of a chunk's neighbours. Its vector has the largest product with the sum of the vectors of
// all sentences of these neighbours.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Returns for each chunk c the most central sentence of the chunks [since[c], until[c]) except c itself. Of equal
// sentences it takes the first. If there are no such chunks, it returns -1. Chunk c has the sentences [first[c],
// first[c + 1]).
//
// Vector elements are rounded to multiples of 1/2048. For up to 2^20 unit vectors in a window, sums and products are
// therefore exact in any order. Products that differ by less than about 1/256 count as equal.
//
// Lower bound on the cost: each vector is read once, and kept as float64 while the chunks around it are processed (2048
// bytes for 256 numbers). It is multiplied once for each chunk whose window contains it.
std::vector<int64_t> most_central(const Matrix<const float>& vectors, std::span<const int64_t> first,
                                  std::span<const int64_t> since, std::span<const int64_t> until, int threads);

}  // namespace pychunk
