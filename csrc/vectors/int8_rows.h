// Rows of floats as bytes, with a scale each.
#pragma once
#include <cstdint>

#include "common/view.h"

namespace pychunk {

// Each row of `rows` to rows.cols + 4 bytes of `out`: whole numbers from -127 to 127 and, as a float in the machine's
// order, what they are times: the row's largest over 127. A number that is none is 0.
// Floor: 5 bytes moved for each number; some 1 GB of rows a second and thread.
void pack_rows(Matrix<const float> rows, int8_t* out, int threads);

}  // namespace pychunk
