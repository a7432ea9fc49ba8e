// The GPU kernels, each the twin of a CPU function of its name and equal to it bit for bit. All pointers are device
// memory, all work is put into `stream`, and nothing waits; whoever calls checks shapes and keeps what is pointed to
// alive.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/memory.h"

namespace pychunk::cuda {

// Where the vectors of n sentences come from, [n, dim].
struct RowSource {
  enum class Kind : uint8_t { kGiven, kHalfStates, kFloatStates, kBag };
  Kind kind = Kind::kGiven;
  // hidden states: address of each sentence's first one and how many count; as pool() in csrc/vectors/pooling.h
  const uint64_t* first_state = nullptr;
  const int32_t* tokens = nullptr;
  bool mean = true, unit = true;
  // token ids: as embedding_bags()
  const int8_t* table = nullptr;
  const int32_t* ids = nullptr;
  const int64_t* id_offsets = nullptr;
};

// out[row] = unit vector of the ids [id_offsets[row], id_offsets[row + 1]); as csrc/vectors/static_encoder.h. Floor:
// the ids and the table's rows read once, 4 dim bytes a row written.
void embedding_bags(const int8_t* table, const int32_t* ids, const int64_t* id_offsets, int64_t rows, int dim,
                    float* out, cudaStream_t stream);

// Hidden states of one batch, [rows, width, dim], of which tokens[row] count, to out[row], or with `chosen` to
// out[chosen[row]]; as csrc/vectors/pooling.h. Floor: the states read once, 4 dim bytes a row written.
void pool(const void* states, bool half, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean,
          bool unit, const int64_t* chosen, float* out, cudaStream_t stream);

// out[i] = v_i . v_{i+1} for i < rows - 1, whatever documents they are of; as csrc/vectors/similarity.h with a window
// of 1. Floor: 4 dim bytes a row read, 4 written.
void adjacent_cosines(const float* vectors, int64_t rows, int dim, float* out, cudaStream_t stream);

// PIC of a ragged batch in one launch: vectors from their source, the summary, cosines to it, their mean threshold,
// runs. Small documents have a block each; those of over kBlockRows sentences have the whole device, one after the
// other. Floor: what the rows' source reads and writes, the vectors read once more from memory where a document's do
// not stay in cache (an extractive summary reads them up to seven times), 13 bytes a sentence written.
enum class SummaryKind : uint8_t { kGiven, kMean, kLead, kExtractive };
struct PicBatch {
  RowSource source;
  int64_t documents = 0, rows = 0;
  int dim = 0;
  const int64_t* offsets = nullptr;  // documents + 1: document d has the rows offsets[d] .. offsets[d + 1]
  float* vectors = nullptr;          // [rows, dim]: read where given, else written
  SummaryKind summary = SummaryKind::kExtractive;
  const float* given = nullptr;   // kGiven: [documents, dim]
  const int32_t* lead = nullptr;  // kLead: sentences of each document's first paragraph
  double k = 0.0;
  int64_t longest = 0;             // rows of the longest document
  const int32_t* large = nullptr;  // documents of over kBlockRows rows, `large_count` of them
  int64_t large_count = 0;
  // Results. Document d has its cuts (first sentence of each run, counted from the document's first) at
  // cuts[offsets[d]], cut_counts[d] of them.
  float* scores = nullptr;    // [rows] cosine to the summary
  float* adjacent = nullptr;  // [rows] cosine to the next sentence; 0 for a document's last
  int8_t* labels = nullptr;   // [rows] 1: at or above the threshold
  int32_t* cuts = nullptr;    // [rows]
  int32_t* cut_counts = nullptr;
  // An extractive summary: 1 for the sentences chosen, and for those that lacked at most `margin` to be; else 0.
  int8_t* close = nullptr;
  float margin = 0.0f;
};
constexpr int64_t kBlockRows = 2048;
void pic(const PicBatch& batch, int device, cudaStream_t stream);

}  // namespace pychunk::cuda
