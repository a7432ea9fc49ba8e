// The columns of a chunk table, built from the chunks that worker threads found.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/buffer.h"
#include "common/hash.h"
#include "common/options.h"
#include "common/segmented_buffer.h"
#include "common/view.h"
#include "segment/columns.h"
#include "segment/outline.h"
#include "segment/summaries.h"

namespace pychunk {

enum Relevance : int8_t { kIrrelevant = 0, kRelevant = 1, kNoRelevance = -1 };

// A row of the table. See columns.h.
struct Chunk {
#define PYCHUNK_FIELD(name, there, value) int64_t name;
  PYCHUNK_WHOLE_COLUMNS(PYCHUNK_FIELD)
#undef PYCHUNK_FIELD
  float score;  // NaN: none
  Relevance relevance;
  CutReason end_reason;
};

struct ChunkSentence {
  int64_t start, end;  // in characters
};

// The chunks of consecutive documents, from one worker.
struct ChunkBlock {
  int64_t first_document = 0;
  std::vector<int64_t> chunks_in_document;
  std::vector<Hash128> document_hashes;  // of the document's id; without ids, of its text
  std::vector<Chunk> chunks;
  SlabRows chunk_vectors;                   // dim values for each chunk
  std::vector<int64_t> sentences_in_chunk;  // for the `sentences` column
  std::vector<ChunkSentence> sentences;
  SlabRows sentence_vectors;
  Summaries summaries;
  OutlineTexts outline;
  int64_t tokens = 0, fallback_tokens = 0;  // tokens that were computed or passed, and the fallback tokens among them
};

struct Table {
  Buffer<int64_t> document, chunk;  // the columns document_index and chunk_index
#define PYCHUNK_FIELD(name, there, value) Buffer<int64_t> name;
  PYCHUNK_WHOLE_COLUMNS(PYCHUNK_FIELD)
#undef PYCHUNK_FIELD
  Buffer<int64_t> text_offsets;
  Buffer<char> text;
  Buffer<char> chunk_id, text_id;  // 32 hexadecimal digits for each chunk
  Buffer<int8_t> relevance, end_reason;
  Buffer<float> score;
  Buffer<float> chunk_vectors;
  Buffer<int64_t> sentence_offsets, sentence_start, sentence_end;
  Buffer<float> sentence_vectors;
  Summaries summaries;
  OutlineTexts outline;
  int64_t tokens_met = 0, fallback_tokens = 0;
};

// Join the blocks, in order, on `threads` threads. `document` counts from first_row. The `sentences` columns are filled
// if any block has them. `has_ids` says whether documents have ids.
Table build_table(const Texts& texts, bool has_ids, int64_t first_row, std::vector<ChunkBlock>& blocks, int threads);

}  // namespace pychunk
