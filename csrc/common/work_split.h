// The division of a batch into blocks of consecutive documents, which threads take in turn.
#pragma once
#include <cstdint>
#include <vector>

#include "common/view.h"

// The most documents in a block. Tests on short inputs are built with a smaller number, so that they reach the
// boundaries of blocks.
#ifndef PYCHUNK_BLOCK_DOCUMENTS
#define PYCHUNK_BLOCK_DOCUMENTS 1024
#endif

namespace pychunk {

// The bytes of text in one block: enough to hide the cost of a turn, and few enough to balance two threads on 1 MB.
constexpr int64_t kBlockBytes = 128 << 10;
constexpr int64_t kBlockDocuments = PYCHUNK_BLOCK_DOCUMENTS;

// Returns the boundaries of the blocks: block b has the documents borders[b] .. borders[b + 1].
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
