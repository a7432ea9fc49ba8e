// The sentence that stands nearest to what the chunks around a chunk are about: the one whose vector lies furthest
// along the sum of theirs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Of each chunk c the best sentence of the chunks [since[c], until[c]) but itself, of equals the first; -1 where they
// have none. Chunk c has the sentences [first[c], first[c + 1]). Numbers of vectors count in whole 2048ths, so that of
// vectors of unit length, up to 2^20 to a window, all sums and products are exact, in whatever order; products that
// differ by less than 1/256 or so are equal.
//
// Floor: each vector is read once and kept as float64 while chunks around it are looked at (2048 bytes of 256 numbers);
// each is multiplied once for every chunk whose window it is in.
std::vector<int64_t> most_central(const Matrix<const float>& vectors, std::span<const int64_t> first,
                                  std::span<const int64_t> since, std::span<const int64_t> until, int threads);

}  // namespace pychunk
