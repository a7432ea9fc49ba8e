#include "tokens/sentencepiece/sentencepiece.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "common/parallel.h"
#include "common/work_counters.h"
#include "text/graphemes.h"
#include "text/utf8_text.h"
#include "tokens/sentencepiece/piece_encoder.h"
#include "tokens/sentencepiece/piece_vocabulary.h"
#include "tokens/word_cache.h"

namespace pychunk {
namespace {

// The bytes of text that one turn of a thread takes, enough to hide the cost of the turn.
constexpr int64_t kBytesOfTurn = 128 << 10;

}  // namespace

struct SentencePiece::Impl {
  PieceVocabulary vocabulary;
  // The caches that no thread uses. There are never more caches than threads that tokenize at once.
  std::mutex mutex;
  std::vector<std::unique_ptr<WordCache>> caches;

  // Neither function waits: a process that was forked while another thread held the lock would wait for ever.
  std::unique_ptr<WordCache> take() {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock.owns_lock() || caches.empty()) return std::make_unique<WordCache>();
    std::unique_ptr<WordCache> found = std::move(caches.back());
    caches.pop_back();
    return found;
  }
  void put(std::unique_ptr<WordCache> cache) {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock.owns_lock()) caches.push_back(std::move(cache));
  }
};

SentencePiece::SentencePiece(std::vector<std::string> pieces, std::vector<double> scores, std::vector<uint8_t> kinds,
                             SentencePieceOptions options)
    : impl_(new Impl{
          PieceVocabulary(std::move(pieces), std::move(scores), std::move(kinds), std::move(options)), {}, {}}) {}
SentencePiece::~SentencePiece() = default;
SentencePiece::SentencePiece(SentencePiece&&) noexcept = default;

int32_t SentencePiece::vocabulary_size() const { return static_cast<int32_t>(impl_->vocabulary.pieces.size()); }

bool SentencePiece::has_separate_words() const {
  const PieceVocabulary& v = impl_->vocabulary;
  // sentencepiece adds scores up over the text, with rounding errors that may decide.
  if (v.follows_sentencepiece() || !v.splits_before_normalising) return false;
  return v.options.split_at_white ? v.options.prefix == PiecePrefix::kAlways
                                  : v.options.join_spaces && v.options.prefix != PiecePrefix::kNever;
}

bool SentencePiece::divides(std::string_view text, int64_t begin, int64_t end) const {
  const PieceVocabulary& v = impl_->vocabulary;
  for (int64_t at = begin; at < end; ++at)
    if (!v.is_space[static_cast<uint8_t>(text[static_cast<size_t>(at)])]) return false;
  // Characters that are replaced, perhaps by a space or by nothing, and marks may depend on their neighbours.
  const auto stays = [&](int64_t at) {
    const char32_t c = decode_utf8(text, at).code_point;
    return v.map[c].value < 0 && !extends_cluster(c);
  };
  return stays(character_before(text, begin)) && stays(end);
}

void SentencePiece::encode(std::string_view text, const int64_t* bounds, size_t n, SpanEnds ends, TokenFields fields,
                           Values<int32_t>& ids, Values<int64_t>& byte_spans, std::vector<int64_t>& counts) const {
  struct Borrowed {
    Impl& impl;
    std::unique_ptr<WordCache> cache;
    ~Borrowed() {
      if (cache) impl.put(std::move(cache));
    }
  };
  Borrowed borrowed{*impl_, impl_->vocabulary.options.cache ? impl_->take() : nullptr};
  PieceEncoder encoder(impl_->vocabulary, borrowed.cache.get(), fields, ids, byte_spans);
  for (size_t i = 0; i < n; ++i) {
    Trimmed span{bounds[i], bounds[i + 1]};
    if (ends == SpanEnds::kTrimmed) span = trim(text, span.begin, span.end);
    counts.push_back(encoder.encode(text, static_cast<size_t>(span.begin), static_cast<size_t>(span.end)));
  }
  encoder.finish();
}

Tokens tokenize(const SentencePiece& tokenizer, std::string_view text, std::span<const int64_t> bounds, SpanEnds ends,
                TokenFields fields, int threads) {
  struct Part {
    Values<int32_t> ids;
    Values<int64_t> spans;
    std::vector<int64_t> counts;
  };
  const int64_t n = static_cast<int64_t>(bounds.size()) - 1;
  std::vector<int64_t> borders{0};
  for (int64_t i = 0; i < n; ++i)
    if (bounds[static_cast<size_t>(i) + 1] - bounds[static_cast<size_t>(borders.back())] >= kBytesOfTurn || i + 1 == n)
      borders.push_back(i + 1);
  std::vector<Part> parts(borders.size() - 1);
  const auto items = static_cast<int64_t>(parts.size());
  parallel_for(items, threads, [&](int64_t p) {
    Part& part = parts[static_cast<size_t>(p)];
    const int64_t begin = borders[static_cast<size_t>(p)], end = borders[static_cast<size_t>(p) + 1];
    tokenizer.encode(text, &bounds[static_cast<size_t>(begin)], static_cast<size_t>(end - begin), ends, fields,
                     part.ids, part.spans, part.counts);
  });
  std::vector<int64_t> first{0};
  for (const Part& part : parts) first.push_back(first.back() + static_cast<int64_t>(part.ids.size()));
  const bool has_spans = fields == TokenFields::kByteSpans;
  Tokens out{Buffer<int32_t>(first.back()), Buffer<int64_t>(n + 1), Buffer<int64_t>(n),
             Buffer<int64_t>(has_spans ? 2 * first.back() : 0)};
  parallel_for(items, threads, [&](int64_t p) {
    const Part& part = parts[static_cast<size_t>(p)];
    const int64_t before = first[static_cast<size_t>(p)], begin = borders[static_cast<size_t>(p)];
    std::copy(part.ids.begin(), part.ids.end(), out.ids.data + before);
    if (has_spans) std::copy(part.spans.begin(), part.spans.end(), out.byte_spans.data + 2 * before);
    std::copy(part.counts.begin(), part.counts.end(), out.counts.data + begin);
  });
  out.offsets[0] = 0;
  for (int64_t i = 0; i < n; ++i) out.offsets[i + 1] = out.offsets[i] + out.counts[i];
  if (n > 0) work().tokenized += static_cast<uint64_t>(bounds.back() - bounds.front());
  return out;
}

}  // namespace pychunk
