#include "segment/pipeline.h"

#include <algorithm>
#include <atomic>

#include "common/arithmetic.h"
#include "common/hash.h"
#include "common/parallel.h"
#include "common/work_split.h"
#include "document/document.h"
#include "methods/methods.h"
#include "segment/chunk_rows.h"
#include "segment/chunker.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

void chunk_rows_of(const Inputs& inputs, int64_t i, Document& document, Chunking& chunking, Slabs& slabs,
                   ChunkBlock& out) {
  const Closing closing(document);
  document.open(inputs, i);
  const std::string_view id = inputs.ids.size() > 0 ? inputs.ids[i] : document.text();
  out.document_hashes.push_back(hash128(id, 0));
  const size_t before = out.chunks.size();
  if (document.sentences() > 0) {
    chunk_document(inputs, document, chunking);
    write_rows(inputs, document, chunking, slabs, out);
  }
  if (inputs.plan->summaries_out) out.summaries.add(inputs, document, chunking.grouping);
  out.chunks_in_document.push_back(static_cast<int64_t>(out.chunks.size() - before));
  out.tokens += document.tokens_met();
  out.fallback_tokens += document.fallback_tokens();
}

}  // namespace

Table segment(const Inputs& inputs) {
  const std::vector<int64_t> borders = plan_blocks(inputs.texts);
  std::vector<ChunkBlock> blocks(borders.size() - 1);
  Slabs slabs;
  parallel_for(static_cast<int64_t>(blocks.size()), inputs.threads, [&](int64_t b) {
    thread_local Document document;
    ChunkBlock& block = blocks[static_cast<size_t>(b)];
    block.first_document = borders[static_cast<size_t>(b)];
    Chunking chunking;
    for (int64_t i = block.first_document; i < borders[static_cast<size_t>(b) + 1]; ++i)
      chunk_rows_of(inputs, i, document, chunking, slabs, block);
    block.chunk_vectors.close(slabs);
    block.sentence_vectors.close(slabs);
  });
  return build_table(inputs.texts, inputs.ids.size() > 0, inputs.first_row, blocks, inputs.threads);
}

CutTable cuts(const Inputs& inputs, bool held) {
  PYCHUNK_CHECK(!inputs.plan->cuts_text(), "method '", inputs.plan->method->name,
                "' with separators cuts inside sentences, so it has no cuts between sentences; leave separators out");
  struct Part {
    std::vector<int32_t> first;
    std::vector<int8_t> relevance;
    std::vector<float> score;
    std::vector<int64_t> cuts, scores;  // of each document
  };
  const Scores of = inputs.scores();
  const std::vector<int64_t> borders = plan_blocks(inputs.texts);
  std::vector<Part> parts(borders.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), inputs.threads, [&](int64_t b) {
    thread_local Document document;
    thread_local std::vector<float> windowed;
    Grouping grouping;
    Part& part = parts[static_cast<size_t>(b)];
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const Closing closing(document);
      document.open(inputs, i);
      if (document.sentences() > 0) {
        group_sentences(inputs, document, grouping);
      } else {
        grouping = {};
      }
      for (const Group& group : grouping.groups) {
        part.first.push_back(group.first);
        if (!grouping.labels.empty()) part.relevance.push_back(grouping.labels[static_cast<size_t>(group.first)]);
      }
      std::span<const float> scores = grouping.scores;
      if (of == Scores::kPairs) scores = document.affinities();
      if (held && of == Scores::kPairs && inputs.plan->window > 1 && !inputs.cuts.given()) {
        adjacent_cosines(document.vectors(), inputs.plan->window, windowed);
        scores = windowed;
      }
      part.score.insert(part.score.end(), scores.begin(), scores.end());
      part.cuts.push_back(static_cast<int64_t>(grouping.groups.size()));
      part.scores.push_back(static_cast<int64_t>(scores.size()));
    }
  });
  CutTable out;
  out.offsets.push_back(0), out.score_offsets.push_back(0);
  for (const Part& part : parts) {
    out.first.insert(out.first.end(), part.first.begin(), part.first.end());
    out.relevance.insert(out.relevance.end(), part.relevance.begin(), part.relevance.end());
    out.score.insert(out.score.end(), part.score.begin(), part.score.end());
    for (const int64_t count : part.cuts) out.offsets.push_back(out.offsets.back() + count);
    for (const int64_t count : part.scores) out.score_offsets.push_back(out.score_offsets.back() + count);
  }
  out.reason.assign(out.first.size(), static_cast<int8_t>(inputs.plan->method->reason));
  return out;
}

AdjacentSums adjacent_sums(const Inputs& inputs) {
  std::atomic<int64_t> sum{0}, count{0};
  parallel_for(inputs.texts.size(), inputs.threads, [&](int64_t i) {
    thread_local Document document;
    thread_local std::vector<float> windowed;
    const Closing closing(document);
    document.open(inputs, i);
    std::span<const float> scores = document.affinities();
    if (inputs.plan->window > 1) {
      adjacent_cosines(document.vectors(), inputs.plan->window, windowed);
      scores = windowed;
    }
    Moments moments;
    for (const float score : scores) moments.add(score);
    sum += moments.sum, count += moments.count;
  });
  return {sum, count};
}

}  // namespace pychunk
