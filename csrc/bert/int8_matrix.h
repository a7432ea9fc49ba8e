// Matrices and rows of bytes, for products in 8 bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pychunk {

// The columns of a packed matrix lie in panels of 16, one register of 32-bit sums.
constexpr size_t kPanelColumns = 16;
// The bytes of a row, and of a column, that share a scale. One scale for a whole row of 1,536 numbers costs eight times
// the error; one for a whole column, 1.5 times.
constexpr size_t kGroupBytes = 64;

// Rows of bytes, each group of kGroupBytes with its own scale. A number is its byte times the scale.
struct Int8Rows {
  const int8_t* bytes;      // [rows, in]
  const float* scales;      // [rows, groups]
  const int32_t* sums;      // [rows, groups]: the sums of the bytes
  size_t rows, in, groups;  // `in` is a multiple of 4
};

// The scales of a matrix's columns, those of group g from scales[g * stride] on, and their bias, unless it is null.
struct Int8Columns {
  const float* scales;
  size_t stride;  // 0: all groups have the same scales
  const float* bias;
};

// A matrix [in, outs] of float32, stored as bytes, each group of kGroupBytes of a column with its own scale. The
// columns are padded with zeros to a multiple of 16. They lie in panels of 16, with four numbers of a column side by
// side, and each byte with 128 added.
struct Int8Matrix {
  Int8Matrix(const float* weights, const float* bias, size_t in, size_t outs, const float* factors = nullptr);

  size_t in, outs;
  std::vector<uint8_t> packed;
  std::vector<float> scales, bias;  // [groups, outs], [outs]
};

}  // namespace pychunk
