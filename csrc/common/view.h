// Non-owning views of flat arrays.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "common/check.h"

namespace pychunk {

// The rows of a row-major matrix.
template <typename T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0, cols = 0;
  T* row(int64_t i) const { return data + i * cols; }
  Matrix slice(int64_t begin, int64_t end) const { return {data + begin * cols, end - begin, cols}; }
};

// The values of all documents in one flat array. Document i has the values offsets[i] .. offsets[i + 1].
template <typename T>
struct Ragged {
  std::span<const T> values;
  std::span<const int64_t> offsets;
  int64_t size() const { return offsets.empty() ? 0 : static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const T> operator[](int64_t i) const {
    return values.subspan(static_cast<size_t>(offsets[i]), static_cast<size_t>(offsets[i + 1] - offsets[i]));
  }
};

// A batch of documents: one UTF-8 buffer and its offsets.
struct Texts {
  const char* data = nullptr;
  std::span<const int64_t> offsets;
  int64_t size() const { return offsets.empty() ? 0 : static_cast<int64_t>(offsets.size()) - 1; }
  std::string_view operator[](int64_t i) const {
    return {data + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }
};

// Checks that 0 <= offsets[0] <= offsets[1] <= ... <= end.
inline void check_offsets(std::span<const int64_t> offsets, int64_t end, std::string_view name) {
  PYCHUNK_CHECK(!offsets.empty(), name, " must hold at least one entry");
  PYCHUNK_CHECK(offsets.front() >= 0, name, " must begin at 0 or more, got ", offsets.front());
  for (size_t i = 1; i < offsets.size(); ++i)
    PYCHUNK_CHECK(offsets[i] >= offsets[i - 1], name, " must not decrease, got ", offsets[i - 1], " and then ",
                  offsets[i], " at position ", i);
  PYCHUNK_CHECK(offsets.back() <= end, "the last of ", name, " must be at most ", end, ", got ", offsets.back());
}

}  // namespace pychunk
