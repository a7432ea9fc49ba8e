// The hot loops that are built once per instruction set, as a table of function pointers.
// Every build of a loop returns the same bits; tests/test_isa.py runs them against each other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pychunk {

struct Kernels {
  const char* name;  // "baseline", "avx2" or "avx512"

  // ---- text (text_simd.h) ----
  // Byte offset of the first byte that is not part of valid UTF-8, or -1.
  int64_t (*find_invalid_utf8)(const uint8_t* text, size_t size);
  // Number of characters: bytes that do not continue one.
  int64_t (*count_characters)(const uint8_t* text, size_t size);
};

}  // namespace pychunk
