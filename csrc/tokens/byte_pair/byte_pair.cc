#include "tokens/byte_pair/byte_pair.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/check.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "common/work_counters.h"
#include "text/utf8.h"
#include "tokens/byte_merges.h"

namespace pychunk {
namespace {

// The pre-tokens of a batch. Those that are no single token are merged together, and there must be enough of them to
// hide the time of memory accesses.
constexpr size_t kBatchWords = 512;
// The pre-tokens whose slots in the vocabulary are prefetched before those of the same number are looked up. The slots
// must stay in the first-level cache until then.
constexpr size_t kFetchedWords = 32;
// The bytes of text that one turn of a thread takes, enough to hide the cost of the turn.
constexpr int64_t kPartBytes = 128 << 10;

// An array that grows by copying, whose new memory is not cleared.
template <typename T>
class Growing {
 public:
  void reserve(size_t more) {
    if (static_cast<size_t>(buffer_.size) - size_ >= more) return;
    Buffer<T> larger(static_cast<int64_t>(size_ + std::max(more, size_ / 2)));
    if (size_ > 0) std::memcpy(larger.data, buffer_.data, size_ * sizeof(T));
    buffer_ = std::move(larger);
  }
  // Returns the place of the next value. The caller has reserved room for what it writes there.
  T* end() { return buffer_.data + size_; }
  void advance(size_t n) { size_ += n; }
  size_t size() const { return size_; }
  const T* data() const { return buffer_.data; }
  Buffer<T> take() {
    buffer_.size = static_cast<int64_t>(size_);
    size_ = 0;
    return std::move(buffer_);
  }

 private:
  Buffer<T> buffer_;
  size_t size_ = 0;
};

// The tokens of one part of a text. Token i of span s is at offsets[s] + i.
struct PartTokens {
  Growing<int32_t> ids;
  Growing<int64_t> byte_spans;
  std::vector<int64_t> offsets;
};

// Merges one pre-token, and calls put(begin, end, number) for each token.
template <typename Put>
void merge(const BytePairVocabulary& vocabulary, const uint8_t* word, size_t size, MergeMemory& memory, Put put) {
  PYCHUNK_CHECK(size < BytePairVocabulary::kNone, "a word must be shorter than 4 GiB, got ", size, " bytes");
  const MergeTables& merges = vocabulary.merges();
  merge_long(
      word, size, memory, [&](uint8_t a, uint8_t b) { return merges.byte_pairs[size_t{a} << 8 | b]; },
      [&](uint32_t a, uint32_t b) { return merges.merged(a, b); }, [](uint32_t number) { return number; }, put);
  if (size > (1 << 16)) memory = {};
}

WordKey padded_key(const uint8_t* word, size_t length, const uint8_t* text_end) {
  if (word + kKeyBytes <= text_end) return load_key(word, length);
  uint8_t bytes[kKeyBytes] = {};
  std::memcpy(bytes, word, length);
  return load_key(bytes, length);
}

}  // namespace

// The tokens of pre-tokens that are two to four tokens. Its size is fixed, and new entries replace old ones. A line of
// the processor's cache holds two entries, of which the second is the older one. All 262,144 entries take 8 MB. A cache
// of 2 MB lost a quarter of the 31,000 such pre-tokens of 4 MB of Wikipedia to others of the same line.
class BytePair::Cache {
 public:
  static constexpr size_t kMostTokens = 4;
  // The ids in 21 bits each, then the ends of all tokens but the last in 4 bits each, the length of the pre-token in 5
  // bits and the number of tokens in 3. Length 0 marks a free entry.
  struct Entry {
    WordKey key;
    uint64_t low, high;

    size_t length() const { return high >> 40 & 31; }
    size_t count() const { return high >> 45; }
    int32_t id(size_t i) const { return static_cast<int32_t>((i < 3 ? low >> 21 * i : high) & ((1u << 21) - 1)); }
    size_t end(size_t i) const { return i + 1 == count() ? length() : high >> (24 + 4 * i) & 15; }
  };
  static constexpr int32_t kMostId = (1 << 21) - 1;

  // Returns the entry of a pre-token, or null.
  const Entry* find(WordKey key, size_t length) const {
    const Line& line = lines_[place(key)];
    for (const Entry& entry : line.entries)
      if (entry.key.low == key.low && entry.key.high == key.high && entry.length() == length) return &entry;
    return nullptr;
  }
  void prefetch(WordKey key) const { __builtin_prefetch(&lines_[place(key)]); }
  // Adds a merged pre-token of up to kKeyBytes bytes.
  void add(WordKey key, const MergeWord& word, const BytePairVocabulary& vocabulary) {
    const auto count = static_cast<size_t>(__builtin_popcountll(word.starts));
    if (count > kMostTokens) return;
    Entry entry{key, 0, uint64_t{word.size} << 40 | uint64_t{count} << 45};
    uint64_t starts = word.starts;
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(__builtin_ctzll(starts));
      const auto id = static_cast<uint64_t>(vocabulary.id_of(word.numbers[at]));
      if (i < 3)
        entry.low |= id << 21 * i;
      else
        entry.high |= id;
      if (i > 0) entry.high |= uint64_t{at} << (24 + 4 * (i - 1));
      starts &= starts - 1;
    }
    Line& line = lines_[place(key)];
    line.entries[1] = line.entries[0];
    line.entries[0] = entry;
  }

 private:
  static constexpr int kBits = 17;
  struct alignas(64) Line {
    Entry entries[2];
  };
  static size_t place(WordKey key) { return hash_key(key) >> (64 - kBits); }
  Values<Line> lines_ = Values<Line>(size_t{1} << kBits);
};

enum class BytePair::Kind : uint8_t { kCached, kMerged, kLong };

// A pre-token that is no single token.
struct BytePair::Missing {
  uint32_t pretoken;  // its place in the batch
  size_t begin, length;
  Kind kind;
  uint32_t index;  // in `cached` or `merged`
};

// The work memory of a batch of pre-tokens.
struct BytePair::Batch {
  WordKey keys[kBatchWords];
  const BytePairVocabulary::Slot* slots[kBatchWords];
  int32_t whole[kBatchWords];    // the id of each pre-token that is one token, or -1
  Missing missing[kBatchWords];  // the others, in their order
  Cache::Entry cached[kBatchWords];
  MergeWord merged[kBatchWords];
  uint32_t ends[kBatchWords];
};

// The memory of one thread, which calls keep for the next ones.
struct BytePair::Memory {
  Cache cache;
  std::unique_ptr<Batch> batch = std::make_unique_for_overwrite<Batch>();
  MergeMemory merges;
};

// A thread's memory until the end of a scope. Nothing here waits for the lock: a process that was forked while another
// thread held it would wait for ever.
class BytePair::Lent {
 public:
  explicit Lent(const BytePair& owner) : owner_(owner) {
    const std::unique_lock lock(owner_.mutex_, std::try_to_lock);
    if (lock.owns_lock() && !owner_.memories_.empty()) {
      memory_ = std::move(owner_.memories_.back());
      owner_.memories_.pop_back();
    } else {
      memory_ = std::make_unique<Memory>();
    }
  }
  ~Lent() {
    const std::unique_lock lock(owner_.mutex_, std::try_to_lock);
    if (lock.owns_lock()) owner_.memories_.push_back(std::move(memory_));
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  Memory& get() const { return *memory_; }

 private:
  const BytePair& owner_;
  std::unique_ptr<Memory> memory_;
};

// One run over consecutive spans.
class BytePair::Encoder {
 public:
  Encoder(const BytePair& owner, Memory& memory, std::string_view text, PartTokens& part)
      : vocabulary_(owner.vocabulary_),
        cache_(memory.cache),
        batch_(*memory.batch),
        memory_(memory.merges),
        text_(reinterpret_cast<const uint8_t*>(text.data())),
        text_end_(text_ + text.size()),
        scanner_(owner.rules_, text_, text.size()),
        part_(part),
        caches_(owner.vocabulary_.highest_id() <= Cache::kMostId) {}

  template <bool kIds, bool kSpans>
  void run(std::span<const int64_t> bounds) {
    uint32_t* const ends = batch_.ends;
    size_t since = 0;
    for (size_t s = 0; s + 1 < bounds.size(); ++s) {
      part_.offsets.push_back(static_cast<int64_t>(count_));
      auto at = static_cast<size_t>(bounds[s]);
      const auto end = static_cast<size_t>(bounds[s + 1]);
      while (at < end) {
        const size_t found = scanner_.scan(at, end, ends, kBatchWords);
        const size_t base = scanner_.base(), next = base + ends[found - 1];
        add<kIds, kSpans>(at, base, ends, found);
        since += next - at;
        if (since > (64 << 10)) {
          since = 0;
          checkpoint();
        }
        at = next;
      }
    }
    part_.offsets.push_back(static_cast<int64_t>(count_));
  }

  // Finds the pre-tokens of the whole text, and the number of tokens up to the end of each.
  void count_pretokens(PretokenCounts& out) {
    const auto size = static_cast<size_t>(text_end_ - text_);
    for (size_t at = 0; at < size;) {
      const size_t found = scanner_.scan(at, size, batch_.ends, kBatchWords), base = scanner_.base();
      look_up(at, base, batch_.ends, found);
      const Missing* word = batch_.missing;
      for (size_t i = 0; i < found; ++i) {
        count_ += batch_.whole[i] >= 0 ? 1 : count_missing(*word++);
        out.ends.push_back(static_cast<int64_t>(base + batch_.ends[i]));
        out.tokens.push_back(static_cast<int64_t>(count_));
      }
      checkpoint();
      at = static_cast<size_t>(out.ends.back());
    }
  }

 private:
  // Where the next token is written.
  template <bool kIds, bool kSpans>
  struct Output {
    int32_t* ids;
    int64_t* spans;
    void put(size_t begin, size_t end, int32_t id) {
      if (kIds) *ids++ = id;
      if (kSpans) {
        spans[0] = static_cast<int64_t>(begin);
        spans[1] = static_cast<int64_t>(end);
        spans += 2;
      }
    }
  };

  // Looks pre-tokens up, of which the first begins at `begin`. Returns the number of those that are no single token.
  size_t look_up(size_t begin, size_t base, const uint32_t* ends, size_t found) {
    size_t missing = 0, at = begin, next = begin;
    for (size_t first = 0, known = 0; first < found; first += kFetchedWords) {
      for (const size_t last = std::min(found, first + 2 * kFetchedWords); known < last; ++known) {
        const size_t end = base + ends[known];
        const WordKey key = padded_key(text_ + next, std::min(end - next, kKeyBytes), text_end_);
        const BytePairVocabulary::Slot* const slot = vocabulary_.home(key);
        __builtin_prefetch(slot);
        batch_.keys[known] = key;
        batch_.slots[known] = slot;
        next = end;
      }
      for (size_t i = first, last = std::min(found, first + kFetchedWords); i < last; ++i) {
        const size_t end = base + ends[i], length = end - at;
        const int32_t id = length <= kKeyBytes
                               ? vocabulary_.find(batch_.slots[i], batch_.keys[i], static_cast<uint32_t>(length))
                               : vocabulary_.find_long({reinterpret_cast<const char*>(text_) + at, length});
        batch_.whole[i] = id;
        if (id < 0) batch_.missing[missing++] = {static_cast<uint32_t>(i), at, length, Kind::kLong, 0};
        at = end;
      }
    }
    if (missing > 0) merge_missing(missing);
    return missing;
  }

  size_t count_missing(const Missing& word) {
    if (word.kind == Kind::kCached) return batch_.cached[word.index].count();
    if (word.kind == Kind::kMerged) return static_cast<size_t>(__builtin_popcountll(batch_.merged[word.index].starts));
    size_t count = 0;
    add_long(word.begin, word.length, [&](size_t, size_t, int32_t) { ++count; });
    return count;
  }

  // Adds the tokens of pre-tokens, of which the first begins at `begin`.
  template <bool kIds, bool kSpans>
  void add(size_t begin, size_t base, const uint32_t* ends, size_t found) {
    const size_t missing = look_up(begin, base, ends, found);
    if (!kIds) {
      count_ += found - missing;
      for (size_t m = 0; m < missing; ++m) count_ += count_missing(batch_.missing[m]);
      return;
    }
    const size_t bytes = base + ends[found - 1] - begin;
    part_.ids.reserve(bytes);
    if (kSpans) part_.byte_spans.reserve(2 * bytes);
    Output<kIds, kSpans> out{part_.ids.end(), part_.byte_spans.end()};
    size_t at = begin;
    const Missing* word = batch_.missing;
    for (size_t i = 0; i < found; ++i) {
      const size_t end = base + ends[i];
      const int32_t id = batch_.whole[i];
      if (id >= 0)
        out.put(at, end, id);
      else
        out = put_missing(*word++, out);
      at = end;
    }
    const auto count = static_cast<size_t>(out.ids - part_.ids.end());
    part_.ids.advance(count);
    if (kSpans) part_.byte_spans.advance(2 * count);
    count_ += count;
  }

  // Finds the tokens of pre-tokens that are no single token: in the cache, or by merging several at once.
  void merge_missing(size_t missing) {
    for (size_t m = 0; m < missing; ++m)
      if (batch_.missing[m].length <= kKeyBytes) cache_.prefetch(batch_.keys[batch_.missing[m].pretoken]);
    size_t cached = 0, merging = 0;
    for (size_t m = 0; m < missing; ++m) {
      Missing& word = batch_.missing[m];
      if (word.length > MergeWord::kMost) {
        word.kind = Kind::kLong;
        continue;
      }
      if (word.length <= kKeyBytes) {
        if (const Cache::Entry* entry = cache_.find(batch_.keys[word.pretoken], word.length)) {
          word.kind = Kind::kCached;
          word.index = static_cast<uint32_t>(cached);
          batch_.cached[cached++] = *entry;
          continue;
        }
      }
      word.kind = Kind::kMerged;
      word.index = static_cast<uint32_t>(merging);
      batch_.merged[merging].bytes = text_ + word.begin;
      batch_.merged[merging++].size = word.length;
    }
    if (merging == 0) return;
    kernels().merge_words(vocabulary_.merges(), batch_.merged, merging);
    if (!caches_) return;
    for (size_t m = 0; m < missing; ++m) {
      const Missing& word = batch_.missing[m];
      if (word.kind == Kind::kMerged && word.length <= kKeyBytes)
        cache_.add(batch_.keys[word.pretoken], batch_.merged[word.index], vocabulary_);
    }
  }

  template <bool kIds, bool kSpans>
  Output<kIds, kSpans> put_missing(const Missing& word, Output<kIds, kSpans> out) {
    size_t at = word.begin;
    if (word.kind == Kind::kCached) {
      const Cache::Entry& entry = batch_.cached[word.index];
      for (size_t i = 0, count = entry.count(); i < count; ++i) {
        const size_t end = word.begin + entry.end(i);
        out.put(at, end, entry.id(i));
        at = end;
      }
    } else if (word.kind == Kind::kMerged) {
      const MergeWord& merged = batch_.merged[word.index];
      for (uint64_t starts = merged.starts; starts != 0;) {
        const int first = __builtin_ctzll(starts);
        starts &= starts - 1;
        const size_t end = word.begin + (starts != 0 ? static_cast<size_t>(__builtin_ctzll(starts)) : word.length);
        out.put(at, end, vocabulary_.id_of(merged.numbers[first]));
        at = end;
      }
    } else {
      add_long(word.begin, word.length, [&](size_t begin, size_t end, int32_t id) { out.put(begin, end, id); });
    }
    return out;
  }

  template <typename Put>
  [[gnu::noinline]] void add_long(size_t begin, size_t length, Put put) {
    merge(vocabulary_, text_ + begin, length, memory_,
          [&](size_t from, size_t to, uint32_t number) { put(begin + from, begin + to, vocabulary_.id_of(number)); });
  }

  const BytePairVocabulary& vocabulary_;
  Cache& cache_;
  Batch& batch_;
  MergeMemory& memory_;
  const uint8_t *const text_, *const text_end_;
  PretokenScanner scanner_;
  PartTokens& part_;
  const bool caches_;  // whether the cache can store all ids
  size_t count_ = 0;
};

BytePair::BytePair(const BytePairFile& file, std::string_view pattern)
    : rules_(pretoken_rules(pattern)), vocabulary_(file) {}

BytePair::~BytePair() = default;

Tokens BytePair::encode(std::string_view text, std::span<const int64_t> bounds, Wanted wanted, int threads) const {
  const auto n = static_cast<int64_t>(bounds.size()) - 1;
  for (const int64_t bound : bounds)
    PYCHUNK_CHECK(bound == static_cast<int64_t>(text.size()) ||
                      !continues_character(static_cast<uint8_t>(text[static_cast<size_t>(bound)])),
                  "bounds must be between characters, got ", bound);
  std::vector<int64_t> borders{0};  // of the parts, in spans
  for (int64_t i = 0; i < n; ++i)
    if (i + 1 == n ||
        (threads > 1 && bounds[static_cast<size_t>(i) + 1] - bounds[static_cast<size_t>(borders.back())] >= kPartBytes))
      borders.push_back(i + 1);
  const auto items = static_cast<int64_t>(borders.size()) - 1;
  std::vector<PartTokens> parts(static_cast<size_t>(items));
  parallel_for(items, threads, [&](int64_t p) {
    PartTokens& part = parts[static_cast<size_t>(p)];
    const auto begin = static_cast<size_t>(borders[static_cast<size_t>(p)]);
    const auto own = bounds.subspan(begin, static_cast<size_t>(borders[static_cast<size_t>(p) + 1]) - begin + 1);
    // English prose has 4.5 bytes per token.
    const auto guess = static_cast<size_t>(own.back() - own.front()) / 4 + 64;
    if (wanted.ids) part.ids.reserve(guess);
    if (wanted.byte_spans) part.byte_spans.reserve(2 * guess);
    const Lent memory(*this);
    Encoder encoder(*this, memory.get(), text, part);
    if (wanted.byte_spans)
      encoder.run<true, true>(own);
    else if (wanted.ids)
      encoder.run<true, false>(own);
    else
      encoder.run<false, false>(own);
  });
  std::vector<int64_t> first{0};
  for (const PartTokens& part : parts) first.push_back(first.back() + part.offsets.back());
  Tokens out;
  out.offsets = Buffer<int64_t>(n + 1);
  out.counts = Buffer<int64_t>(n);
  if (items == 1) {
    out.ids = parts[0].ids.take();
    out.byte_spans = parts[0].byte_spans.take();
  } else {
    out.ids = Buffer<int32_t>(wanted.ids ? first.back() : 0);
    out.byte_spans = Buffer<int64_t>(wanted.byte_spans ? 2 * first.back() : 0);
  }
  parallel_for(items, threads, [&](int64_t p) {
    const PartTokens& part = parts[static_cast<size_t>(p)];
    const int64_t before = first[static_cast<size_t>(p)], begin = borders[static_cast<size_t>(p)];
    if (items > 1) {
      std::copy_n(part.ids.data(), part.ids.size(), out.ids.data + before);
      std::copy_n(part.byte_spans.data(), part.byte_spans.size(), out.byte_spans.data + 2 * before);
    }
    for (size_t i = 0; i + 1 < part.offsets.size(); ++i) {
      out.offsets[begin + static_cast<int64_t>(i)] = before + part.offsets[i];
      out.counts[begin + static_cast<int64_t>(i)] = part.offsets[i + 1] - part.offsets[i];
    }
  });
  out.offsets[n] = first.back();
  if (n > 0) work().tokenized += static_cast<uint64_t>(bounds.back() - bounds.front());
  return out;
}

std::vector<int64_t> BytePair::pretokens(std::string_view text) const {
  PretokenScanner scanner(rules_, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  std::vector<int64_t> out;
  uint32_t ends[kBatchWords];
  for (size_t at = 0; at < text.size();) {
    const size_t found = scanner.scan(at, text.size(), ends, kBatchWords);
    for (size_t i = 0; i < found; ++i) out.push_back(static_cast<int64_t>(scanner.base() + ends[i]));
    at = static_cast<size_t>(out.back());
  }
  return out;
}

PretokenCounts BytePair::count_pretokens(std::string_view text) const {
  // English prose has 5.2 bytes per pre-token.
  PretokenCounts out;
  out.ends.reserve(text.size() / 5 + 64);
  out.tokens.reserve(text.size() / 5 + 64);
  const Lent memory(*this);
  PartTokens unused;
  Encoder(*this, memory.get(), text, unused).count_pretokens(out);
  work().tokenized += text.size();
  return out;
}

int64_t BytePair::count_pretoken(std::string_view word, MergeMemory& memory) const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(word.data());
  if (word.size() > kKeyBytes) {
    if (vocabulary_.find_long(word) >= 0) return 1;
  } else {
    const WordKey key = padded_key(bytes, word.size(), bytes + word.size());
    if (vocabulary_.find(vocabulary_.home(key), key, static_cast<uint32_t>(word.size())) >= 0) return 1;
  }
  int64_t count = 0;
  merge(vocabulary_, bytes, word.size(), memory, [&](size_t, size_t, uint32_t) { ++count; });
  return count;
}

}  // namespace pychunk
