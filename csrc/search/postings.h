// The inverted file of rows whose terms were counted, which lists for each term the rows that contain it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/string_table.h"

namespace pychunk {

// A batch of rows, in the layout of TermRows.
struct CountedRows {
  std::span<const int32_t> terms, counts, sizes;
};

// The terms in the order of their bytes, which is also the order of their code points. Terms that no row contains are
// omitted. Rows rows[offsets[t]] to rows[offsets[t + 1]] contain term t, in increasing order.
struct InvertedFile {
  Buffer<char> terms;
  Buffer<int64_t> term_offsets, offsets;
  Buffer<int32_t> rows, counts;
};

// Build the inverted file. Row numbers continue from one batch to the next. The result needs 8 bytes of memory for each
// posting, in addition to the arguments. It is the same for any number of threads, each of which needs 8 bytes for each
// term.
InvertedFile invert(const StringTable& terms, std::span<const CountedRows> batches, int threads = 1);

}  // namespace pychunk
