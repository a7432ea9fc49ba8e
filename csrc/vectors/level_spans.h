// The nodes of the levels of documents: spans of sentences, their vectors, and nested windows of tokens.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"

namespace pychunk {

// The nodes of one level, as increasing runs of sentences [first[i], last[i]) of the batch. No run crosses a document
// boundary.
struct Spans {
  std::span<const int64_t> first, last;
};

// Returns one array [nodes, dim] per level. The vector of a node is the unit-length sum of its sentences' vectors, each
// times its weight (or times 1 if all weights are 0). They are added in order, like a chunk's vector. Document i has
// the sentences [doc_offsets[i], doc_offsets[i + 1]).
//
// Lower bound on the cost: every level reads each vector once. Since documents are processed one by one, vectors come
// from memory once for all levels.
std::vector<Buffer<float>> span_vectors(const Matrix<const float>& vectors, std::span<const int64_t> weights,
                                        std::span<const int64_t> doc_offsets, const std::vector<Spans>& levels,
                                        int threads);

// Divides the documents among turns, which workers take one by one. A turn has whole documents with about 512
// sentences. Turn i has the documents [out[i], out[i + 1]).
std::vector<size_t> document_turns(std::span<const int64_t> doc_offsets);

// Returns the first sentences of windows, for each size. A window is a greedy run of the units of the level below,
// within one document, with at most `size` tokens, or a single longer unit. The lowest units are sentences. Each size
// builds on the level before it, so that windows are nested.
std::vector<std::vector<int64_t>> token_windows(std::span<const int64_t> tokens, std::span<const int64_t> doc_offsets,
                                                const std::vector<int64_t>& sizes);

}  // namespace pychunk
