#include "common/row_hashes.h"

#include <algorithm>

#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr int64_t kBlock = 1024;  // The rows of a task: at 30 ns for a short row, a task takes 30 us or more.

}  // namespace

void extend_row_hashes(const Texts& texts, const Hash128* states, Hash128* out, int threads) {
  const int64_t rows = texts.size();
  parallel_for((rows + kBlock - 1) / kBlock, threads, [&](int64_t block) {
    for (int64_t row = block * kBlock; row < std::min(rows, (block + 1) * kBlock); ++row)
      out[row] = text_hash(states[row], hash128(texts[row], 0), 0);
  });
}

}  // namespace pychunk
