// Rows of floats stored as bytes, each row with its scale.
#pragma once
#include <cstdint>

namespace pychunk {

class UnitSums;

// Writes each row of `sums` as sums.cols() + 4 bytes to `out`: integers from -127 to 127, then their scale as a float
// in native byte order. The scale is the row's largest absolute value divided by 127. NaN becomes 0.
void pack_rows(const UnitSums& sums, int8_t* out, int threads);

}  // namespace pychunk
