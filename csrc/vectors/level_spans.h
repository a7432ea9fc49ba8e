// Nodes of the levels of documents: spans of sentences, their vectors, and windows of tokens that lie in each other.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"

namespace pychunk {

// Nodes of one level, runs of sentences [first[i], last[i]) of the batch, rising; none crosses a document.
struct Spans {
  std::span<const int64_t> first, last;
};

// The unit-length sum of the vectors of each node's sentences, each times its weight (where all are 0: times 1), added
// in their order as a chunk's vector is. One array [nodes, dim] a level. Documents are runs of sentences
// [doc_offsets[i], doc_offsets[i + 1]).
// Floor: every level reads each vector once; document by document they come from memory once for all levels.
std::vector<Buffer<float>> span_vectors(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                        std::span<const int64_t> doc_offsets, const std::vector<Spans>& levels,
                                        int threads);

// Documents in turns of a worker, whole and of some 512 sentences: turn i is documents [out[i], out[i + 1]).
std::vector<size_t> document_turns(std::span<const int64_t> doc_offsets);

// First sentences of windows: of each document greedy runs of the units before, sentences first, that hold at most
// `size` tokens, or one unit. Each size makes a level of the one before it, so that windows lie in each other.
std::vector<std::vector<int64_t>> token_windows(std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                                const std::vector<int64_t>& sizes);

}  // namespace pychunk
