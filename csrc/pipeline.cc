#include "pipeline.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "buffer.h"
#include "dispatch.h"
#include "document.h"
#include "interrupt.h"
#include "methods.h"
#include "parallel.h"
#include "recursive.h"
#include "similarity.h"
#include "threshold.h"

namespace pychunk {
namespace {

// Text that one turn of a worker takes: enough to hide its cost, small enough to balance two threads on 1 MB.
constexpr int64_t kBlockBytes = 128 << 10;
// Tests on short inputs are built with less, so that they meet the borders of blocks.
#ifndef PYCHUNK_BLOCK_DOCUMENTS
#define PYCHUNK_BLOCK_DOCUMENTS 1024
#endif
constexpr int64_t kBlockDocuments = PYCHUNK_BLOCK_DOCUMENTS;

// Borders of blocks of consecutive documents.
std::vector<int64_t> plan_blocks(const Texts& texts) {
  std::vector<int64_t> borders{0};
  for (int64_t i = 0; i < texts.size(); ++i) {
    const int64_t begin = borders.back();
    if (i > begin && (texts.offsets[i + 1] - texts.offsets[begin] > kBlockBytes || i - begin >= kBlockDocuments))
      borders.push_back(i);
  }
  if (texts.size() > 0) borders.push_back(texts.size());
  return borders;
}

// A chunk before its row is written: bytes [begin, end), sentences [first, last) that it touches, of which
// those from own_first on are not repeated from the chunk before. Tokens are there where the table counts them.
struct Span {
  int64_t begin, end;
  int64_t first, last, own_first;
  int64_t tokens;
};

// Turns documents into the rows of one block.
class Worker {
 public:
  Worker(const Inputs& inputs, ChunkBlock& out) : inputs_(inputs), plan_(*inputs.plan), out_(out) {}

  void run(int64_t i) {
    thread_local Document document;
    document_ = &document;
    const Closing closing(document);
    document.open(inputs_, i);
    const std::string_view id = inputs_.ids.size() > 0 ? inputs_.ids[i] : document.text();
    out_.document_hashes.push_back(hash128(id, 0));
    const size_t before = out_.chunks.size();
    if (document.sentences() > 0) {
      spans_.clear();
      if (plan_.method == Method::kRecursive) {
        split_by_separators();
      } else {
        group(i);
      }
      if (tokens_are_counted(inputs_) && is_foreign()) refit();
      write_rows();
    }
    out_.chunks_in_document.push_back(static_cast<int64_t>(out_.chunks.size() - before));
    out_.tokens += document.tokens_met();
    out_.fallback_tokens += document.fallback_tokens();
  }

 private:
  std::string_view piece(int64_t begin, int64_t end) const {
    return document_->text().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  const float* summary(int64_t i) {
    if (plan_.method != Method::kPic || plan_.summary != SummarySource::kGiven) return nullptr;
    if (inputs_.summary_scores.size() > 0) return nullptr;  // compared with already
    if (inputs_.summary_vectors.data != nullptr) return inputs_.summary_vectors.row(i);
    summary_.resize(static_cast<size_t>(inputs_.table.cols));
    document_->encode(inputs_.summaries[i], summary_.data());
    return summary_.data();
  }

  void group(int64_t i) {
    group_sentences(plan_, *document_, summary(i), grouping_);
    std::vector<Group>& groups = grouping_.groups;
    parts_.of_sentences(*document_);
    const auto fit = [&](bool join_only) {
      const std::vector<Limit> limits = limits_of_parts();
      const Affinities affinities = [this] { return affinities_of_parts(); };
      if (plan_.min_tokens > 0) join_short(groups, lengths(Unit::kTokens), plan_.min_tokens, limits, affinities);
      const size_t joined = groups.size();
      if (!join_only)
        for (const Limit& limit : limits) cut_long(groups, limit, affinities);
      return groups.size() > joined;
    };
    const bool cut = fit(false);
    const bool split = split_long_sentences();
    if (plan_.min_tokens > 0 && (cut || split)) fit(true);  // what cutting left short
    if (plan_.overlap > 0) {
      const Unit unit = plan_.method == Method::kFixed ? plan_.unit : Unit::kTokens;
      add_overlap(groups, lengths(unit), plan_.overlap, limits_of_parts(), parts_.pieces);
    }
    const bool counted = tokens_are_counted(inputs_) && !is_foreign();  // refit() may change what is in a chunk
    for (const Group& g : groups)
      spans_.push_back({parts_.begin(g.overlap_first), parts_.begin(g.last), parts_.sentence(g.overlap_first),
                        parts_.sentence(g.last - 1) + 1, parts_.sentence(g.first),
                        counted ? lengths(Unit::kTokens)(g.overlap_first, g.last) : 0});
  }

  // What groups are made of: the document's sentences, or with those that alone break a limit as pieces that do not.
  struct Parts {
    const Document* document = nullptr;
    std::vector<int64_t> starts;     // empty: the sentences
    std::vector<int32_t> sentences;  // that holds each part
    std::vector<uint8_t> pieces;     // whether it is a piece of one

    void of_sentences(const Document& of) {
      document = &of;
      starts.clear(), sentences.clear(), pieces.clear();
    }
    void add(int64_t start, int64_t sentence, bool piece) {
      starts.push_back(start);
      sentences.push_back(static_cast<int32_t>(sentence));
      pieces.push_back(piece);
    }
    int64_t begin(int64_t p) const {  // of the last one and one more: the text's end
      const auto size = static_cast<int64_t>(document->text().size());
      if (starts.empty()) return p < document->sentences() ? document->begin(p) : size;
      return p < static_cast<int64_t>(starts.size()) ? starts[static_cast<size_t>(p)] : size;
    }
    int64_t sentence(int64_t p) const { return starts.empty() ? p : sentences[static_cast<size_t>(p)]; }
  };

  const Lengths& lengths(Unit unit) {
    const auto u = static_cast<size_t>(unit);
    if (parts_.starts.empty()) return document_->lengths(unit);
    if (has_lengths_[u]) return lengths_[u];
    has_lengths_[u] = true;
    counts_.clear();
    if (unit == Unit::kTokens)
      for (size_t p = 0; p < parts_.starts.size(); ++p) {
        const auto at = static_cast<int64_t>(p);
        counts_.push_back(parts_.pieces[p] ? document_->count_tokens(piece(parts_.begin(at), parts_.begin(at + 1)))
                                           : document_->token_counts()[static_cast<size_t>(parts_.sentence(at))]);
      }
    document_->measure_parts(unit, parts_.starts, counts_, shared_words_, lengths_[u]);
    return lengths_[u];
  }

  // Limits of a chunk: the method's own size and max_tokens.
  std::vector<Limit> limits_of_parts() {
    std::vector<Limit> found;
    if (plan_.method == Method::kFixed) found.push_back({&lengths(plan_.unit), plan_.size});
    if (plan_.max_tokens > 0) found.push_back({&lengths(Unit::kTokens), plan_.max_tokens});
    return found;
  }

  // Pieces of one sentence belong together more than any two sentences do.
  std::span<const float> affinities_of_parts() {
    const std::span<const float> own = document_->affinities();
    if (parts_.starts.empty() || own.empty()) return own;
    affinities_.clear();
    for (size_t p = 1; p < parts_.starts.size(); ++p) {
      const bool inside = parts_.sentences[p] == parts_.sentences[p - 1];
      affinities_.push_back(inside ? std::numeric_limits<float>::infinity()
                                   : own[static_cast<size_t>(parts_.sentences[p - 1])]);
    }
    return affinities_;
  }

  // Groups of one sentence that break a limit become groups of one piece each; false if there are none.
  bool split_long_sentences() {
    std::vector<Group>& groups = grouping_.groups;
    const std::vector<Limit> limits = limits_of_parts();
    const auto fits = [&](const Group& g) {
      return g.last - g.first > 1 || std::all_of(limits.begin(), limits.end(),
                                                 [&](const Limit& limit) { return limit.allows(g.first, g.last); });
    };
    if (std::all_of(groups.begin(), groups.end(), fits)) return false;
    std::fill(std::begin(has_lengths_), std::end(has_lengths_), false);
    std::vector<Group> finer;
    Parts parts;
    parts.of_sentences(*document_);
    for (const Group& g : groups) {
      const bool whole = fits(g);
      const auto first = static_cast<int32_t>(parts.starts.size());
      if (whole) {
        for (int32_t s = g.first; s < g.last; ++s) parts.add(document_->begin(s), s, false);
        const auto last = static_cast<int32_t>(parts.starts.size());
        finer.push_back({first, last, first});
        continue;
      }
      for (const int64_t start : pieces_of(g.first)) {
        const auto at = static_cast<int32_t>(parts.starts.size());
        parts.add(start, g.first, true);
        finer.push_back({at, at + 1, at});
      }
    }
    groups = std::move(finer);
    parts_ = std::move(parts);
    return true;
  }

  // Where the pieces of a sentence begin that alone breaks a limit.
  std::vector<int64_t> pieces_of(int64_t s) {
    std::vector<int64_t> starts{document_->begin(s)};
    const int64_t stop = document_->end(s);
    const auto refine = [&](Unit unit, int64_t limit) {
      std::vector<int64_t> finer;
      for (size_t p = 0; p < starts.size(); ++p) {
        const int64_t end = p + 1 < starts.size() ? starts[p + 1] : stop;
        const Trimmed inside = trim(document_->text(), starts[p], end);
        if (measure(piece(inside.begin, inside.end), unit, inputs_.tokenizer) <= limit) {
          finer.push_back(starts[p]);
        } else {
          split_oversize(document_->text(), starts[p], end, unit, limit, inputs_.tokenizer, finer);
        }
      }
      starts = std::move(finer);
    };
    const bool foreign = is_foreign();  // refit() cuts by its tokens
    if (plan_.method == Method::kFixed && !(foreign && plan_.unit == Unit::kTokens)) refine(plan_.unit, plan_.size);
    if (plan_.max_tokens > 0 && !foreign) refine(Unit::kTokens, plan_.max_tokens);
    return starts;
  }

  void split_by_separators();

  bool is_foreign() const { return inputs_.tokenizer != nullptr && inputs_.tokenizer->is_foreign(); }

  // With a foreign tokenizer sums are only near what a chunk's text has: what is still too long is cut again.
  void refit() {
    int64_t limit = plan_.max_tokens;
    if (plan_.has_size() && plan_.unit == Unit::kTokens) limit = limit > 0 ? std::min(limit, plan_.size) : plan_.size;
    if (limit <= 0) return;
    std::vector<Span> fitting;
    int64_t least = 0;  // no chunk begins before the one before it
    for (Span span : spans_) {
      span.begin = std::max(span.begin, least);
      if (fits(span.begin, span.end, limit)) {
        fitting.push_back(span);
      } else {
        const int64_t own = document_->begin(span.own_first);
        std::vector<int64_t> starts;
        cut_to(span.first < span.own_first ? std::max(own, least) : span.begin, span.end, limit, starts);
        for (size_t p = 0; p < starts.size(); ++p) {
          const int64_t end = p + 1 < starts.size() ? starts[p + 1] : span.end;
          const int64_t first = document_->sentence_at(starts[p]);
          fitting.push_back({starts[p], end, first, document_->sentence_at(end - 1) + 1, first, 0});
        }
      }
      least = fitting.back().begin;
    }
    spans_ = std::move(fitting);
  }

  bool fits(int64_t begin, int64_t end, int64_t limit) const {
    const Trimmed inside = trim(document_->text(), begin, end);
    return inside.empty() || document_->count_tokens(piece(inside.begin, inside.end)) <= limit ||
           next_character(inside.begin) >= inside.end;
  }
  int64_t next_character(int64_t at) const {
    int length = 0;
    decode(document_->text(), static_cast<size_t>(at), length);
    return at + length;
  }

  // Appends where pieces of [begin, end) begin that fit: each as long as can be, to a sentence's end, else to a word's,
  // else to a character's.
  void cut_to(int64_t begin, int64_t end, int64_t limit, std::vector<int64_t>& starts) const {
    while (begin < end) {
      starts.push_back(begin);
      int64_t reach = begin;  // not far beyond what fits, so that the time is linear in the text
      for (int64_t window = 64 + 8 * std::min<int64_t>(limit, 1 << 20); reach < end; window *= 2) {
        reach = window < end - begin ? begin + window : end;
        while (reach < end &&
               (static_cast<unsigned char>(document_->text()[static_cast<size_t>(reach)]) & 0xC0) == 0x80)
          ++reach;
        if (!fits(begin, reach, limit)) break;
        if (reach == end) return;
      }
      int64_t stop = 0;
      for (int rung = 0; rung < 3 && stop == 0; ++rung) stop = furthest(begin, limit, borders(rung, begin, reach));
      begin = stop > 0 ? stop : next_character(begin);
    }
  }
  // The last of the rising borders up to which [begin, border) fits; 0: none. Counts rise with the border, nearly.
  int64_t furthest(int64_t begin, int64_t limit, const std::vector<int64_t>& borders) const {
    size_t low = 0, high = borders.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (fits(begin, borders[middle], limit)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 ? borders[low - 1] : 0;
  }
  // Inside [begin, end): beginnings of sentences, of words, or of characters, of the latter as many as may be needed.
  std::vector<int64_t> borders(int rung, int64_t begin, int64_t end) const {
    std::vector<int64_t> found;
    if (rung == 0) {
      for (int64_t s = document_->sentence_at(begin) + 1; s < document_->sentences() && document_->begin(s) < end; ++s)
        found.push_back(document_->begin(s));
      return found;
    }
    const std::string_view text = document_->text();
    bool after_space = false;
    for (int64_t at = begin; at < end; at = next_character(at)) {
      const bool space = space_length(text, static_cast<size_t>(at)) > 0;
      if (at > begin && !space && (rung == 2 || after_space)) found.push_back(at);
      after_space = space;
    }
    return found;
  }

  void write_rows() {
    int64_t previous_end = 0;
    const bool counted = tokens_are_counted(inputs_);
    // Growing by doubling, 9 million chunks would take three times their 0.8 GB.
    if (spans_.size() > 100'000) out_.chunks.reserve(out_.chunks.size() + spans_.size());
    for (const Span& span : spans_) {
      checkpoint_each(&span - spans_.data(), 64);
      const Trimmed inside = trim(document_->text(), span.begin, span.end);
      if (inside.empty()) continue;
      Chunk chunk{};
      chunk.start_byte = inside.begin, chunk.end_byte = inside.end;
      chunk.start = document_->characters_before(inside.begin);
      chunk.end = document_->characters_before(inside.end);
      chunk.overlap = std::max<int64_t>(0, std::min(previous_end, chunk.end) - chunk.start);
      previous_end = chunk.end;
      chunk.tokens = counted && is_foreign() ? document_->count_tokens(piece(inside.begin, inside.end)) : span.tokens;
      if (pages_are_counted(inputs_)) {
        chunk.page = document_->page_at(inside.begin);
        chunk.page_end = document_->page_at(inside.end - 1);
      }
      chunk.score = score_of(span);
      chunk.kind = kind_of(span, inside);
      if (plan_.chunk_vectors || plan_.sentence_vectors) write_vectors(span, inside);
      out_.chunks.push_back(chunk);
    }
  }

  // Sentence s as far as it lies in the chunk, trimmed, and whether that is all of it.
  Trimmed part_of(int64_t s, const Trimmed& inside, bool& whole) const {
    const Trimmed sentence = trim(document_->text(), document_->begin(s), document_->end(s));
    whole = inside.begin <= sentence.begin && sentence.end <= inside.end;
    if (whole) return sentence;
    return trim(document_->text(), std::max(sentence.begin, inside.begin), std::min(sentence.end, inside.end));
  }

  int64_t tokens_of(int64_t s, const Trimmed& part, bool whole) {
    return whole ? document_->token_counts()[static_cast<size_t>(s)]
                 : document_->count_tokens(piece(part.begin, part.end));
  }

  // Mean score of the chunk's own sentences; NaN where the method has none.
  float score_of(const Span& span) {
    std::span<const float> scores;
    if (plan_.method == Method::kPic) {
      scores = std::span<const float>(grouping_.scores).subspan(span.own_first, span.last - span.own_first);
    } else if (plan_.method == Method::kSemantic || plan_.method == Method::kNsp) {
      scores = document_->affinities().subspan(span.own_first, span.last - span.own_first - 1);
    }
    if (scores.empty()) return std::numeric_limits<float>::quiet_NaN();
    Moments moments;
    for (const float score : scores) moments.add(score);
    return static_cast<float>(moments.mean());
  }

  // The label of the run; of joined runs, the one that holds more tokens (a tie: relevant).
  ChunkKind kind_of(const Span& span, const Trimmed& inside) {
    if (grouping_.labels.empty() || plan_.method != Method::kPic) return kNoKind;
    const auto first = grouping_.labels.begin() + span.own_first, last = grouping_.labels.begin() + span.last;
    if (std::all_of(first, last, [&](int8_t label) { return label == *first; })) return static_cast<ChunkKind>(*first);
    int64_t balance = 0;
    for (int64_t s = span.own_first; s < span.last; ++s) {
      bool whole = false;
      const Trimmed part = part_of(s, inside, whole);
      const int64_t tokens = tokens_of(s, part, whole);
      balance += grouping_.labels[static_cast<size_t>(s)] ? tokens : -tokens;
    }
    return balance >= 0 ? kRelevant : kIrrelevant;
  }

  void write_vectors(const Span& span, const Trimmed& inside) {
    const Rows vectors = document_->table_vectors();
    const auto dim = static_cast<size_t>(vectors.cols);
    std::vector<float> part_vector(dim), sum(dim, 0.0f), plain(dim, 0.0f);
    int64_t sentences = 0, weight = 0;
    for (int64_t s = span.first; s < span.last; ++s) {
      bool whole = false;
      const Trimmed part = part_of(s, inside, whole);
      if (part.empty()) continue;
      const float* vector = vectors.get(s, s + 1).data;
      if (!whole && document_->table_encodes_text()) {
        document_->encode(piece(part.begin, part.end), part_vector.data());
        vector = part_vector.data();
      }
      if (plan_.sentence_vectors) {
        out_.sentences.push_back({document_->characters_before(part.begin), document_->characters_before(part.end)});
        out_.sentence_vectors.insert(out_.sentence_vectors.end(), vector, vector + dim);
        ++sentences;
      }
      if (plan_.chunk_vectors) {
        const int64_t tokens = tokens_of(s, part, whole);
        kernels().add_scaled(vector, dim, static_cast<float>(tokens), sum.data());
        kernels().add_scaled(vector, dim, 1.0f, plain.data());
        weight += tokens;
      }
    }
    if (plan_.sentence_vectors) out_.sentences_in_chunk.push_back(sentences);
    if (plan_.chunk_vectors) {
      std::vector<float>& chosen = weight > 0 ? sum : plain;  // no token: every sentence counts alike
      normalize(chosen.data(), vectors.cols);
      out_.chunk_vectors.insert(out_.chunk_vectors.end(), chosen.begin(), chosen.end());
    }
  }

  const Inputs& inputs_;
  const Plan& plan_;
  ChunkBlock& out_;
  Document* document_ = nullptr;
  Grouping grouping_;
  std::vector<Span> spans_;
  std::vector<float> summary_;
  Parts parts_;
  // Of the parts, where these are not the sentences.
  Lengths lengths_[3];
  bool has_lengths_[3] = {};
  SharedWords shared_words_;
  std::vector<int64_t> counts_;
  std::vector<float> affinities_;
};

void Worker::split_by_separators() {
  RecursiveSplitter splitter({plan_.size, plan_.overlap, plan_.unit, plan_.separators});
  RecursiveInput input{document_->text(), 0, static_cast<int64_t>(document_->text().size()), document_->starts(), {}};
  thread_local std::vector<int64_t> tokens;
  if (plan_.unit == Unit::kTokens) {
    token_starts(*inputs_.tokenizer, document_->text(), tokens);
    input.token_starts = tokens;
  }
  std::vector<Piece> pieces;
  splitter.split(input, pieces);
  forget_if_huge(tokens);

  // A word that had to be cut has other tokens than its pieces, so what goes into the table is counted by itself.
  int64_t limit = plan_.max_tokens;
  const bool to_characters = plan_.separators.empty() || std::find(plan_.separators.begin(), plan_.separators.end(),
                                                                   std::string()) != plan_.separators.end();
  if (plan_.unit == Unit::kTokens && to_characters) limit = limit > 0 ? std::min(limit, plan_.size) : plan_.size;
  if (is_foreign()) limit = 0;  // refit() cuts by its tokens
  const bool counted = tokens_are_counted(inputs_) && !is_foreign();
  const auto add = [&](int64_t begin, int64_t end) {
    const int64_t used = counted ? document_->count_tokens(piece(begin, end)) : 0;
    if (limit > 0 && used > limit) return false;
    const int64_t first = document_->sentence_at(begin);
    spans_.push_back({begin, end, first, document_->sentence_at(end - 1) + 1, first, used});
    return true;
  };
  std::vector<int64_t> starts;
  const auto cut = [&](int64_t begin, int64_t end) {
    starts.clear();
    split_oversize(document_->text(), begin, end, Unit::kTokens, limit, inputs_.tokenizer, starts);
    starts.push_back(end);
  };
  for (const Piece& p : pieces) {
    // Of a piece that was cut, only its last chunk may be repeated.
    int64_t begin = spans_.empty() ? p.start : std::max(p.start, spans_.back().begin);
    if (add(begin, p.end)) continue;
    cut(begin, p.end);
    const int64_t known = spans_.empty() ? 0 : spans_.back().end;
    if (trim(document_->text(), begin, starts[1]).end <= known) {  // nothing new fits beside what is repeated
      begin = trim(document_->text(), known, p.end).begin;
      if (begin >= p.end || add(begin, p.end)) continue;
      cut(begin, p.end);
    }
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const Trimmed part = trim(document_->text(), starts[i], starts[i + 1]);
      const int64_t first = document_->sentence_at(part.begin);
      spans_.push_back({part.begin, part.end, first, document_->sentence_at(part.end - 1) + 1, first,
                        document_->count_tokens(piece(part.begin, part.end))});
    }
  }
}

}  // namespace

bool tokens_are_counted(const Inputs& inputs) {
  const Plan& plan = *inputs.plan;
  return plan.needs_tokens() || (plan.needs_vectors() && inputs.vectors.data == nullptr);
}

bool pages_are_counted(const Inputs& inputs) {
  return inputs.plan->method == Method::kPage || inputs.page_starts.size() > 0;
}

Table segment(const Inputs& inputs) {
  const std::vector<int64_t> borders = plan_blocks(inputs.texts);
  std::vector<ChunkBlock> blocks(borders.size() - 1);
  parallel_for(static_cast<int64_t>(blocks.size()), inputs.threads, [&](int64_t b) {
    ChunkBlock& block = blocks[static_cast<size_t>(b)];
    block.first_document = borders[static_cast<size_t>(b)];
    Worker worker(inputs, block);
    for (int64_t i = block.first_document; i < borders[static_cast<size_t>(b) + 1]; ++i) worker.run(i);
  });
  return build_table(inputs.texts, inputs.first_row, blocks, inputs.threads);
}

SentenceTable split(const Inputs& inputs) {
  const Texts& texts = inputs.texts;
  const std::vector<int64_t> borders = plan_blocks(texts);
  struct Part {
    std::vector<int64_t> spans, counts;
    std::vector<uint8_t> flags;
  };
  std::vector<Part> parts(borders.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), inputs.threads, [&](int64_t b) {
    thread_local Document document;
    Part& part = parts[static_cast<size_t>(b)];
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const Closing closing(document);
      document.open(inputs, i);
      for (int64_t s = 0; s < document.sentences(); ++s) {
        part.spans.push_back(document.begin(s));
        part.spans.push_back(document.end(s));
      }
      part.flags.insert(part.flags.end(), document.all_flags().begin(), document.all_flags().end());
      part.counts.push_back(document.sentences());
    }
  });
  int64_t total = 0;
  for (const Part& part : parts) total += static_cast<int64_t>(part.flags.size());
  SentenceTable out{Buffer<int64_t>(2 * total), Buffer<int64_t>(texts.size() + 1), Buffer<uint8_t>(total)};
  int64_t sentence = 0, document = 0;
  out.doc_offsets[0] = 0;
  for (const Part& part : parts) {
    std::copy(part.spans.begin(), part.spans.end(), out.spans.data + 2 * sentence);
    std::copy(part.flags.begin(), part.flags.end(), out.flags.data + sentence);
    sentence += static_cast<int64_t>(part.flags.size());
    for (const int64_t count : part.counts) {
      out.doc_offsets[document + 1] = out.doc_offsets[document] + count;
      ++document;
    }
  }
  return out;
}

Buffer<float> encode_static(const Texts& texts, const WordPiece& tokenizer, const Matrix<const int8_t>& table,
                            int threads) {
  Buffer<float> out(texts.size() * table.cols);
  const std::vector<int64_t> borders = plan_blocks(texts);
  const auto dim = static_cast<size_t>(table.cols);
  parallel_for(static_cast<int64_t>(borders.size()) - 1, threads, [&](int64_t b) {
    Values<int32_t> ids;
    std::vector<int32_t> sums(dim);
    std::vector<int64_t> offsets;
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const std::string_view text = texts[i];
      const int64_t bounds[] = {0, static_cast<int64_t>(text.size())};
      ids.clear(), offsets.clear();
      tokenizer.encode(text, bounds, 1, ids, offsets, nullptr);
      kernels().embedding_bag(table.data, dim, ids.data(), ids.size(), ids.size(), sums.data());
      kernels().unit_from_sums(sums.data(), dim, &out[i * table.cols]);
    }
  });
  return out;
}

std::vector<double> thresholds(const Plan& plan, const Ragged<float>& scores, int threads) {
  std::vector<double> out(static_cast<size_t>(scores.size()), std::numeric_limits<double>::quiet_NaN());
  parallel_for(scores.size(), threads, [&](int64_t i) {
    const std::span<const float> own = scores[i];
    double& threshold = out[static_cast<size_t>(i)];
    if (own.empty()) return;
    if (plan.method == Method::kPic) {
      Moments moments;
      for (const float score : own) moments.add(score);
      threshold = moments.mean() + plan.k * moments.deviation();
    } else if (plan.threshold != ThresholdKind::kGradient) {
      threshold = threshold_of(own, plan.threshold, plan.threshold_value);
    }
  });
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
