// The inverted file of rows whose terms were counted: for each term the rows that hold it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/string_table.h"

namespace pychunk {

// A batch of rows, as TermRows has them.
struct CountedRows {
  std::span<const int32_t> terms, counts, sizes;
};

// Terms by bytes, which is by code points, those that no row holds left out. Rows rows[offsets[t]] to
// rows[offsets[t + 1]] hold term t, increasing.
struct InvertedFile {
  Buffer<char> terms;
  Buffer<int64_t> term_offsets, offsets;
  Buffer<int32_t> rows, counts;
};

// Rows are numbered on from one batch to the next. 8 bytes of memory a posting for what is made, beside what is given.
// The same for any number of threads, each of which takes 8 bytes a term.
InvertedFile invert(const StringTable& terms, std::span<const CountedRows> batches, int threads = 1);

}  // namespace pychunk
