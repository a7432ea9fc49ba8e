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
  // Whether a run of more than 100 bytes without ASCII white space may exist (true may be a false alarm).
  bool (*may_hold_long_run)(const uint8_t* text, size_t size);

  // ---- vectors (embed_simd.h, similarity_simd.h) ----
  // sums[j] = sum over t of table[ids[t], j], exactly.
  void (*embedding_bag)(const int8_t* table, size_t dim, const int32_t* ids, size_t n, int32_t* sums);
  // out = sums / |sums|; zero stays zero.
  void (*unit_from_sums)(const int32_t* sums, size_t dim, float* out);
  // a . b as a fixed tree of partial sums.
  float (*dot)(const float* a, const float* b, size_t dim);
  // out[i] = rows[i] . v
  void (*dot_rows)(const float* rows, size_t n, size_t dim, const float* v, float* out);
  // sum += weight * x
  void (*add_scaled)(const float* x, size_t dim, float weight, float* sum);
};

}  // namespace pychunk
