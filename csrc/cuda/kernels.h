// The GPU kernels. Each is the counterpart of the CPU function of the same name, and equal to it bit for bit. All
// pointers are device memory, all work is put into `stream`, and nothing waits. The caller checks shapes and keeps all
// memory alive.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/memory.h"

namespace pychunk::cuda {

// The source of the vectors of n sentences, [n, dim].
struct RowSource {
  enum class Kind : uint8_t { kGiven, kHalfStates, kFloatStates, kBag };
  Kind kind = Kind::kGiven;
  // For hidden states, as in pool() of csrc/vectors/pooling.h: the address of each sentence's first state, and the
  // number of its states that count.
  const uint64_t* first_state = nullptr;
  const int32_t* tokens = nullptr;
  bool mean = true, unit = true;
  // For token ids: the arguments of embedding_bags().
  const int8_t* table = nullptr;
  const int32_t* ids = nullptr;
  const int64_t* id_offsets = nullptr;
};

// Set out[row] to the unit vector of the ids [id_offsets[row], id_offsets[row + 1]), as csrc/vectors/static_encoder.h
// does. Lower bound: the ids and the table's rows are read once, and 4 dim bytes written for each row.
void embedding_bags(const int8_t* table, const int32_t* ids, const int64_t* id_offsets, int64_t rows, int dim,
                    float* out, cudaStream_t stream);

// Pool the hidden states of one batch, [rows, width, dim], of which tokens[row] count, to out[row], or with `chosen` to
// out[chosen[row]], as csrc/vectors/pooling.h does. Lower bound: the states are read once, and 4 dim bytes written for
// each row.
void pool(const void* states, bool half, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean,
          bool unit, const int64_t* chosen, float* out, cudaStream_t stream);

// Set out[i] to v_i . v_{i+1} for i < rows - 1, whatever documents they belong to, as csrc/vectors/similarity.h does
// with a window of 1. Lower bound: 4 dim bytes read and 4 written for each row.
void adjacent_cosines(const float* vectors, int64_t rows, int dim, float* out, cudaStream_t stream);

// Run PIC on a ragged batch in one launch: vectors from their source, the summary, cosines to it, their mean threshold,
// and runs. Small documents have a block each. Those of over kBlockRows sentences have the whole device, one after the
// other. Lower bound: the reads and writes of the rows' source, and 13 bytes written for each sentence. If a document's
// vectors do not stay in cache, they are read from memory once more, or up to seven times more for an extractive
// summary.
enum class SummaryKind : uint8_t { kGiven, kMean, kLead, kExtractive };
struct PicBatch {
  RowSource source;
  int64_t documents = 0, rows = 0;
  int dim = 0;
  const int64_t* offsets = nullptr;  // documents + 1: document d has the rows offsets[d] .. offsets[d + 1]
  float* vectors = nullptr;          // [rows, dim]: read if given, else written
  SummaryKind summary = SummaryKind::kExtractive;
  const float* given = nullptr;   // kGiven: [documents, dim]
  const int32_t* lead = nullptr;  // kLead: the number of sentences in each document's first paragraph
  double k = 0.0;
  int64_t longest = 0;             // the rows of the longest document
  const int32_t* large = nullptr;  // the documents of over kBlockRows rows, `large_count` of them
  int64_t large_count = 0;
  // The results. Document d has its cuts (the first sentence of each run, counted from the document's first) from
  // cuts[offsets[d]] on, cut_counts[d] of them.
  float* scores = nullptr;    // [rows] cosine to the summary
  float* adjacent = nullptr;  // [rows] cosine to the next sentence; 0 for a document's last
  int8_t* labels = nullptr;   // [rows] 1: at or above the threshold
  int32_t* cuts = nullptr;    // [rows]
  int32_t* cut_counts = nullptr;
  // For an extractive summary: 1 for the chosen sentences, and for those whose score was at most `margin` below that of
  // a sentence when it was chosen; else 0.
  int8_t* close = nullptr;
  float margin = 0.0f;
};
constexpr int64_t kBlockRows = 2048;
void pic(const PicBatch& batch, int device, cudaStream_t stream);

}  // namespace pychunk::cuda
