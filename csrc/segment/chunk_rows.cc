#include "segment/chunk_rows.h"

#include <algorithm>
#include <limits>

#include "common/arithmetic.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "segment/outline.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

class RowWriter {
 public:
  RowWriter(const Inputs& inputs, Document& document, const Chunking& chunking, Slabs& slabs, ChunkBlock& out)
      : inputs_(inputs), plan_(*inputs.plan), document_(document), chunking_(chunking), slabs_(slabs), out_(out) {}

  void run() {
    // Without this, the vector would grow by doubling, and 9 million chunks would take three times their 0.8 GB.
    if (chunking_.spans.size() > 100'000) out_.chunks.reserve(out_.chunks.size() + chunking_.spans.size());
    RowWriter& row = *this;
    const Inputs& in = inputs_;
    for (const Span& span : chunking_.spans) {
      checkpoint_each(&span - chunking_.spans.data(), 64);
      span_ = &span;
      inside = trim(document_.text(), span.begin, span.end);
      if (inside.empty()) continue;
      Chunk chunk{};
#define PYCHUNK_SET(name, there, value) \
  if (there) chunk.name = value;
      PYCHUNK_WHOLE_COLUMNS(PYCHUNK_SET)
#undef PYCHUNK_SET
      const int64_t own_first = own_first_of(span);
      previous_end_ = chunk.end_byte;
      chunk.score = score_of(span);
      chunk.relevance = relevance_of(span, inside);
      chunk.end_reason = reason_of(span, inside.end);
      if (plan_.chunk_vectors || plan_.sentence_vectors) write_vectors(span, inside);
      out_.chunks.push_back(chunk);
      if (in.outlines()) rows_.push_back({own_first, span.last});
    }
    if (in.outlines()) write_outline(document_, chunking_.grouping.outline, rows_, out_);
  }

  // The values of the current chunk that columns.h reads.
  Trimmed inside{0, 0};
  int64_t characters(int64_t byte) const { return document_.characters_before(byte); }
  int64_t line(int64_t byte) const { return document_.line_at(byte); }
  int64_t page(int64_t byte) const { return document_.page_at(byte); }
  int64_t tokens() {
    return inputs_.counter != nullptr ? document_.count_tokens(piece(inside.begin, inside.end)) : span_->tokens;
  }
  int64_t overlap() const {  // the characters that repeat the previous chunk
    const int64_t end = std::min(previous_end_, inside.end);
    return end <= inside.begin ? 0 : characters(end) - characters(inside.begin);
  }

 private:
  // Return the first sentence of which the chunk has text that the previous chunk does not have. Chunks between
  // separators may begin with whole sentences of the previous chunk.
  int64_t own_first_of(const Span& span) const {
    if (previous_end_ <= inside.begin) return span.own_first;
    const int64_t at = trim(document_.text(), std::min(previous_end_, inside.end), inside.end).begin;
    return at < inside.end ? std::max(span.own_first, document_.sentence_at(at)) : span.last - 1;
  }

  // Return the part of sentence s that is in the chunk, trimmed, and set `whole` if that is the whole sentence.
  Trimmed part_of(int64_t s, const Trimmed& inside, bool& whole) const {
    const Trimmed sentence = trim(document_.text(), document_.begin(s), document_.end(s));
    whole = inside.begin <= sentence.begin && sentence.end <= inside.end;
    if (whole) return sentence;
    return trim(document_.text(), std::max(sentence.begin, inside.begin), std::min(sentence.end, inside.end));
  }

  int64_t weight_of(int64_t s, const Trimmed& part, bool whole) {
    return whole ? document_.weight(s) : document_.weight(piece(part.begin, part.end));
  }

  // Return the reason why a chunk ends. `end` is the end of its text without the white space that follows, with which a
  // sentence that the caller passed may begin.
  // - kEnd: only white space follows the chunk.
  // - With separators: kRemoved before a removed span, else the method's reason.
  // - The reason of the next group, if that group begins where the chunk ends.
  // - kSize: the method has a size and cuts inside a sentence.
  // - kBudget: all other cuts.
  CutReason reason_of(const Span& span, int64_t end) const {
    const Method& method = *plan_.method;
    if (is_blank_after(span.end)) return CutReason::kEnd;
    if (plan_.cuts_text() && !inputs_.cuts.given())
      return is_before_removed(span) ? CutReason::kRemoved : method.reason;
    const int64_t next = span.last < document_.sentences() ? document_.begin(span.last) : span.end + 1;
    const bool whole = end <= next && next <= span.end;
    const CutReason begins = whole ? chunking_.begins[static_cast<size_t>(span.last)] : CutReason::kEnd;
    if (begins != CutReason::kEnd) return begins;
    return method.sized && !whole ? CutReason::kSize : CutReason::kBudget;
  }

  bool is_before_removed(const Span& span) const {
    return span.last < document_.sentences() && document_.is_removed(span.last);
  }

  bool is_blank_after(int64_t at) const {
    const std::string_view text = document_.text();
    for (int length; at < static_cast<int64_t>(text.size()); at += length) {
      length = space_length(text, at);
      if (length == 0) return false;
    }
    return true;
  }

  // Return the mean score of the sentences that do not repeat the previous chunk, or of their adjacent pairs. It is NaN
  // if the method has no scores.
  float score_of(const Span& span) {
    std::span<const float> scores;
    const Scores of = inputs_.scores();
    if (of == Scores::kSentences) {
      scores = std::span<const float>(chunking_.grouping.scores).subspan(span.own_first, span.last - span.own_first);
    } else if (of == Scores::kPairs) {
      scores = document_.affinities().subspan(span.own_first, span.last - span.own_first - 1);
    }
    if (scores.empty()) return std::numeric_limits<float>::quiet_NaN();
    Moments moments;
    for (const float score : scores) moments.add(score);
    return static_cast<float>(moments.mean());
  }

  // Return the label of a chunk's sentences. If their labels differ, because runs of sentences were joined, return the
  // label that covers more tokens, or more bytes if tokens are not counted. If both labels cover the same number,
  // return "relevant".
  Relevance relevance_of(const Span& span, const Trimmed& inside) {
    if (chunking_.grouping.labels.empty()) return kNoRelevance;
    const auto first = chunking_.grouping.labels.begin() + span.own_first,
               last = chunking_.grouping.labels.begin() + span.last;
    if (std::all_of(first, last, [&](int8_t label) { return label == *first; })) return static_cast<Relevance>(*first);
    int64_t balance = 0;
    for (int64_t s = span.own_first; s < span.last; ++s) {
      bool whole = false;
      const Trimmed part = part_of(s, inside, whole);
      if (part.empty()) continue;
      const int64_t weight = inputs_.counts_tokens() ? weight_of(s, part, whole) : part.end - part.begin;
      const int8_t label = chunking_.grouping.labels[static_cast<size_t>(s)];
      balance += label > 0 ? weight : label == 0 ? -weight : 0;
    }
    return balance >= 0 ? kRelevant : kIrrelevant;
  }

  void write_vectors(const Span& span, const Trimmed& inside) {
    const Rows vectors = document_.table_vectors();
    const auto dim = static_cast<size_t>(vectors.cols);
    std::vector<float> part_vector(dim), sum(dim, 0.0f), plain(dim, 0.0f);
    int64_t sentences = 0, weight = 0;
    for (int64_t s = span.first; s < span.last; ++s) {
      bool whole = false;
      const Trimmed part = part_of(s, inside, whole);
      if (part.empty()) continue;
      const float* vector = vectors.get(s, s + 1).data;
      if (!whole && document_.table_encodes_text()) {
        document_.encode(piece(part.begin, part.end), part_vector.data());
        vector = part_vector.data();
      }
      if (plan_.sentence_vectors) {
        out_.sentences.push_back({document_.characters_before(part.begin), document_.characters_before(part.end)});
        out_.sentence_vectors.append({vector, dim}, slabs_);
        ++sentences;
      }
      if (plan_.chunk_vectors) {
        const int64_t tokens = weight_of(s, part, whole);
        kernels().add_scaled(vector, dim, static_cast<float>(tokens), sum.data());
        kernels().add_scaled(vector, dim, 1.0f, plain.data());
        weight += tokens;
      }
    }
    if (plan_.sentence_vectors) out_.sentences_in_chunk.push_back(sentences);
    if (plan_.chunk_vectors) {
      std::vector<float>& chosen = weight > 0 ? sum : plain;  // without tokens, every sentence has the same weight
      normalize(chosen.data(), vectors.cols);
      out_.chunk_vectors.append(chosen, slabs_);
    }
  }

  std::string_view piece(int64_t begin, int64_t end) const {
    return document_.text().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  const Inputs& inputs_;
  const Plan& plan_;
  Document& document_;
  const Chunking& chunking_;
  Slabs& slabs_;
  ChunkBlock& out_;
  const Span* span_ = nullptr;
  int64_t previous_end_ = 0;
  std::vector<OwnSentences> rows_;
};

}  // namespace

void write_rows(const Inputs& inputs, Document& document, const Chunking& chunking, Slabs& slabs, ChunkBlock& out) {
  RowWriter(inputs, document, chunking, slabs, out).run();
}

}  // namespace pychunk
