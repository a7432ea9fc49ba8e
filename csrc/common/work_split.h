// Documents dealt out to threads: blocks of consecutive ones.
#pragma once
#include <cstdint>
#include <vector>

#include "common/view.h"

// Tests on short inputs are built with less, so that they meet the borders of blocks.
#ifndef PYCHUNK_BLOCK_DOCUMENTS
#define PYCHUNK_BLOCK_DOCUMENTS 1024
#endif

namespace pychunk {

// Text that one turn of a worker takes: enough to hide its cost, small enough to balance two threads on 1 MB.
constexpr int64_t kBlockBytes = 128 << 10;
constexpr int64_t kBlockDocuments = PYCHUNK_BLOCK_DOCUMENTS;

// Borders of the blocks: block b holds documents borders[b] .. borders[b + 1].
inline std::vector<int64_t> plan_blocks(const Texts& texts) {
  std::vector<int64_t> borders{0};
  for (int64_t i = 0; i < texts.size(); ++i) {
    const int64_t begin = borders.back();
    if (i > begin && (texts.offsets[i + 1] - texts.offsets[begin] > kBlockBytes || i - begin >= kBlockDocuments))
      borders.push_back(i);
  }
  if (texts.size() > 0) borders.push_back(texts.size());
  return borders;
}

}  // namespace pychunk
