// Cosines between the sentence vectors of one document: adjacent ones, and to a summary vector. All vectors
// are of unit length or zero, so a cosine is a dot product, and a zero vector has cosine 0 to everything.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "common/rows.h"
#include "common/view.h"

namespace pychunk {

// x / |x| in place; a zero vector stays zero. Finite values of any magnitude.
void normalize(float* x, int64_t dim);

// The rows of `vectors`, each scaled to unit length, into `out`; returns the first row that holds infinity or NaN,
// -1 if there is none.
int64_t normalized(const Matrix<const float>& vectors, float* out);

// a[i] = e_i . e_{i+1}, n - 1 of them. With window w > 1: the cosine between the sums of (up to) w vectors on
// either side of the border.
void adjacent_cosines(const Rows& vectors, int64_t window, std::vector<float>& out);

// out[i] = e_i . v
void cosines_to(const Rows& vectors, const float* v, float* out);

// The summary vector of a document made from its own sentence vectors; dim values.
//   mean        unit-length sum of all of them
//   lead        unit-length sum of those of the first paragraph (flags: SentenceFlag)
//   extractive  unit-length sum of min(5, 1 + n / 20) of them, chosen one by one: highest cosine to the mean
//               less half the highest cosine to those chosen, the earliest on a tie
//   sentence    one of them, drawn by `seed`
//   random      a direction drawn by `seed`
// `took`: which sentences it was made of where it is not made of all or none, rising.
void summary_vector(SummarySource source, const Rows& vectors, std::span<const uint8_t> flags, uint64_t seed,
                    std::vector<float>& out, std::vector<int32_t>& took);

}  // namespace pychunk
