#include "tokens/wordpiece.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <stdexcept>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/view.h"
#include "text/utf8_text.h"
#include "tokens/vocabulary.h"

namespace pychunk {
namespace {

// The size of the tiles in which text is processed. A tile ends between two words. What the scan writes about one tile
// stays in the first-level cache.
constexpr size_t kTileBytes = 4096;
// The number of words whose slots are prefetched before their look-up.
constexpr size_t kAhead = 32;
// For a larger text, room for its tokens is reserved at once. Growth by copying took seconds, which nothing can
// interrupt.
constexpr size_t kHugeText = size_t{16} << 20;
constexpr uint64_t kTopBits = 0x8080808080808080u;

int32_t find_unknown(const std::vector<std::string>& vocabulary, const std::string& unknown) {
  const auto found = std::find(vocabulary.begin(), vocabulary.end(), unknown);
  if (found == vocabulary.end())
    throw std::invalid_argument("vocabulary: the unknown token '" + unknown + "' is not among the " +
                                std::to_string(vocabulary.size()) + " tokens");
  return static_cast<int32_t>(found - vocabulary.begin());
}

struct Rules {
  CharacterTable characters;
  Vocabulary words;
  int32_t size, unknown;
  size_t max_characters;
  bool lowercase, clean;
};

// Returns whether a word begins at text[at] whatever precedes it, and whether the normalised form of what follows
// depends on nothing before it.
bool begins_word(const Rules& rules, const uint8_t* text, size_t at) {
  if (text[at - 1] == ' ' || text[at - 1] == '\n') return true;
  if (continues_character(text[at])) return false;
  return rules.characters[decode_utf8(text + at).code_point].kind() == CharacterKind::kIsolated;
}

// Returns the end of the tile that begins at `begin`. It may end elsewhere than at white space. Otherwise 180 MB of
// Chinese without white space were one tile, whose buffers took 5 GB and whose scan nothing could interrupt.
size_t tile_end(const Rules& rules, const uint8_t* text, size_t begin, size_t end) {
  if (end - begin <= kTileBytes) return end;
  size_t at = begin + kTileBytes;
  while (at > begin && !begins_word(rules, text, at)) --at;
  if (at > begin) return at;
  for (at = begin + kTileBytes; at < end && !begins_word(rules, text, at); ++at)
    checkpoint_each(static_cast<int64_t>(at), 1 << 20);
  return at;
}

// The tokens of one tile. There is never more than one per byte.
struct Output {
  int32_t* ids;
  int64_t* spans;  // null if not requested
  size_t count;
  std::vector<LongWord>* long_words;  // null if not requested
  size_t before;                      // tokens of the tiles before

  void add(int32_t id, size_t begin, size_t end) {
    ids[count] = id;
    if (spans != nullptr) {
      spans[2 * count] = static_cast<int64_t>(begin);
      spans[2 * count + 1] = static_cast<int64_t>(end);
    }
    ++count;
  }
  void add_unknown(int32_t id, size_t begin, size_t end, size_t characters) {
    if (long_words != nullptr && characters > static_cast<size_t>(kCharactersPerToken))
      long_words->push_back({before + count, static_cast<int64_t>(characters)});
    add(id, begin, end);
  }
  void forget_from(size_t token) {
    count = token;
    while (long_words != nullptr && !long_words->empty() && long_words->back().token >= before + token)
      long_words->pop_back();
  }
};

// Adds a word as the pieces of the vocabulary, longest first, or as one unknown token. `begin` and `end` map a byte of
// the word to the span that its character has in the text.
template <typename Begin, typename End>
void add_pieces(const Rules& rules, const uint8_t* word, size_t size, Begin begin, End end, Output& out) {
  const size_t before = out.count;
  for (size_t at = 0; at < size;) {
    const Vocabulary::Match match = rules.words.longest(word + at, size - at, at > 0);
    if (match.id < 0) {
      out.count = before;
      size_t characters = 0;
      for (size_t i = 0; i < size; ++i) characters += !continues_character(word[i]);
      out.add_unknown(rules.unknown, begin(0), end(size - 1), characters);
      return;
    }
    out.add(match.id, begin(at), end(at + match.length - 1));
    at += match.length;
  }
}

// A buffer that assembles words from normalised characters. Each character stands for bytes [begin, end) of the text.
class WordBuffer {
 public:
  struct Source {
    size_t begin, end;
  };
  // The memory of the buffer, which is reused.
  struct Memory {
    std::vector<uint8_t> bytes;
    std::vector<Source> sources;  // of each byte
  };

  WordBuffer(const Rules& rules, Output& out, Memory& memory)
      : rules_(rules), out_(out), bytes_(memory.bytes), sources_(memory.sources) {}

  void add(Character kind, uint32_t code_point, size_t begin, size_t end) {
    switch (kind.kind()) {
      case CharacterKind::kLetter:
        return add_letter(code_point, begin, end);
      case CharacterKind::kIsolated:
        finish();
        add_letter(code_point, begin, end);
        return finish();
      case CharacterKind::kSpace:
        return finish();
      default:
        return;
    }
  }

  void add_letter(uint32_t code_point, size_t begin, size_t end) {
    if (characters_ == 0) begin_ = begin;
    end_ = end;
    if (++characters_ > rules_.max_characters) return;
    if (size_ + kKeyBytes > bytes_.size()) {
      sources_.resize(std::max<size_t>(64, 2 * bytes_.size()));
      bytes_.resize(sources_.size());
    }
    const auto length = static_cast<size_t>(encode_utf8(code_point, bytes_.data() + size_));
    for (size_t i = 0; i < length; ++i) sources_[size_ + i] = {begin, end};
    size_ += length;
    has_nul_ |= code_point == 0;
  }

  void finish() {
    if (characters_ == 0) return;
    if (characters_ > rules_.max_characters) {
      out_.add_unknown(rules_.unknown, begin_, end_, characters_);
    } else if (const int32_t id = whole_word(); id >= 0) {
      out_.add(id, begin_, end_);
    } else {
      add_pieces(
          rules_, bytes_.data(), size_, [&](size_t i) { return sources_[i].begin; },
          [&](size_t i) { return sources_[i].end; }, out_);
    }
    discard();
  }

  void discard() {
    characters_ = size_ = 0;
    has_nul_ = false;
  }

 private:
  int32_t whole_word() const {
    if (size_ > kKeyBytes || has_nul_) return -1;
    const WordKey key = load_key(bytes_.data(), size_);
    return rules_.words.find(rules_.words.home(key), key);
  }

  const Rules& rules_;
  Output& out_;
  std::vector<uint8_t>& bytes_;
  std::vector<Source>& sources_;
  size_t characters_ = 0, size_ = 0, begin_ = 0, end_ = 0;
  bool has_nul_ = false;
};

// Adds the tokens of text [begin, end), which is between ASCII white space and punctuation and needs normalising.
void add_normalised(const Rules& rules, const uint8_t* text, size_t begin, size_t end, WordBuffer& word, Output& out) {
  const size_t before = out.count;
  for (size_t at = begin; at < end;) {
    const auto [code_point, length] = decode_utf8(text + at);
    const size_t next = at + length;
    const Character c = rules.characters[code_point];
    switch (c.kind()) {
      // This is rare. The character may change places with marks before it, so the run is normalised again from its
      // start.
      case CharacterKind::kReorders: {
        out.forget_from(before);
        word.discard();
        std::vector<Normalised> normalised;
        rules.characters.normalise_slowly(text, begin, end, normalised);
        for (const Normalised& n : normalised) word.add(n.character, n.character.value(), n.begin, n.end);
        return word.finish();
      }
      case CharacterKind::kSequence: {
        const uint32_t* sequence = rules.characters.sequence(c.value());
        for (uint32_t i = 1; i <= sequence[0]; ++i) {
          const Character part{sequence[i]};
          word.add(part, part.value(), at, next);
        }
        break;
      }
      case CharacterKind::kHangul: {
        uint32_t jamo[3];
        const int count = decompose_hangul(code_point, jamo);
        for (int i = 0; i < count; ++i) word.add_letter(jamo[i], at, next);
        break;
      }
      default:
        word.add(c, c.value() != 0 ? c.value() : code_point, at, next);
    }
    at = next;
  }
  word.finish();
}

bool needs_normalising(const uint8_t* word, size_t size) {
  return std::any_of(word, word + size, [](uint8_t c) { return c >= 0x80; });
}

// Adds the tokens of the word [begin, end) of text that is no whole token of at most kKeyBytes bytes. `lower` is its
// copy in lower case. It is kept out of the loop over words, which then has registers for all that it needs.
[[gnu::noinline]] void add_rarer_word(const Rules& rules, const uint8_t* text, size_t begin, size_t end,
                                      const uint8_t* lower, WordBuffer& word, Output& out) {
  if (needs_normalising(lower, end - begin)) return add_normalised(rules, text, begin, end, word, out);
  if (end - begin > rules.max_characters) return out.add_unknown(rules.unknown, begin, end, end - begin);
  add_pieces(
      rules, lower, end - begin, [=](size_t at) { return begin + at; }, [=](size_t at) { return begin + at + 1; }, out);
}

// Words [at, count) of a tile. Word i is [from[i], to[i]) of the tile, which begins at byte `tile` of the text.
struct TileWords {
  const uint32_t *from, *to;
  const WordKey* keys;
  const Vocabulary::Slot* const* slots;
  size_t count, tile, longest_key;
};

// Adds words from `at` on that are whole tokens and begin before byte `stop` of the tile. Returns the first other one.
// It is a function of its own so that all its variables fit in registers.
template <bool kSpans>
[[gnu::noinline]] size_t add_whole_words(const Vocabulary& vocabulary, const TileWords& words, size_t at, size_t stop,
                                         Output& out) {
  const auto [from, to, keys, slots, count, tile, longest_key] = words;
  int32_t* id_of = out.ids + out.count;
  int64_t* span_of = kSpans ? out.spans + 2 * out.count : nullptr;
  for (; at < count; ++at) {
    const uint32_t start = from[at], end = to[at];
    const WordKey key = keys[at];
    if (start >= stop || end - start > longest_key || ((key.low | key.high) & kTopBits) != 0) break;
    const int32_t id = vocabulary.find(slots[at], key);
    if (id < 0) break;
    *id_of++ = id;
    if constexpr (kSpans) {
      *span_of++ = static_cast<int64_t>(tile + start);
      *span_of++ = static_cast<int64_t>(tile + end);
    }
  }
  out.count = static_cast<size_t>(id_of - out.ids);
  return at;
}

// An array whose memory is not cleared. A tile needs room for as many words as it has bytes, but may use little of it:
// a tile that is one long word uses one entry.
template <typename T>
class Room {
 public:
  void fit(size_t size) {
    if (size <= size_) return;
    size_ = 0;  // in case the allocation fails
    values_ = std::make_unique_for_overwrite<T[]>(size);
    size_ = size;
  }
  size_t size() const { return size_; }
  T* data() const { return values_.get(); }
  T& operator[](size_t i) const { return values_[i]; }

 private:
  std::unique_ptr<T[]> values_;
  size_t size_ = 0;
};

// The work buffers of encode(). A thread keeps them, because allocating new ones took longer than counting the tokens
// of a chunk.
struct Scratch {
  std::vector<uint64_t> breaks;
  Room<uint8_t> copy;
  Room<uint32_t> starts, ends;
  Room<int32_t> tile_ids;
  Room<int64_t> tile_spans;
  WordBuffer::Memory word;

  void fit(size_t size, bool spans) {
    PYCHUNK_CHECK(size < std::numeric_limits<uint32_t>::max() - 64, "a word must be shorter than 4 GiB, got ", size,
                  " bytes without white space or punctuation");
    copy.fit(size + 64);
    starts.fit(size + 64);
    ends.fit(size + 64);
    tile_ids.fit(size + 64);
    if (spans) tile_spans.fit(2 * size);
  }
};

// This is a separate function because otherwise the compiler would look up the address of the thread's variable at each
// use.
[[gnu::noinline]] Scratch& thread_scratch() {
  thread_local Scratch scratch;
  return scratch;
}

// The thread's buffers for one scope. If a tile without white space made them huge, their memory is released at the end
// of the scope.
class Borrowed {
 public:
  ~Borrowed() {
    if (scratch_.starts.size() > kMost || scratch_.word.sources.size() > kMost) scratch_ = {};
  }
  Borrowed() = default;
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Scratch& get() const { return scratch_; }

 private:
  static constexpr size_t kMost = size_t{1} << 20;
  Scratch& scratch_ = thread_scratch();
};

}  // namespace

struct WordPiece::Impl {
  Rules rules;
};

WordPiece::WordPiece(const std::vector<std::string>& vocabulary, const WordPieceOptions& o)
    : impl_(new Impl{Rules{
          CharacterTable(o.normaliser),
          Vocabulary(vocabulary, o.prefix),
          static_cast<int32_t>(vocabulary.size()),
          find_unknown(vocabulary, o.unknown),
          static_cast<size_t>(std::max(o.max_word_characters, 0)),
          o.normaliser.lowercase,
          o.normaliser.clean_text,
      }}) {}

WordPiece::~WordPiece() = default;
WordPiece::WordPiece(WordPiece&&) noexcept = default;

int32_t WordPiece::vocabulary_size() const { return impl_->rules.size; }
int32_t WordPiece::unknown_id() const { return impl_->rules.unknown; }

void WordPiece::encode(std::string_view text, const int64_t* bounds, size_t n, Values<int32_t>& ids,
                       std::vector<int64_t>& token_offsets, Values<int64_t>* byte_spans,
                       std::vector<LongWord>* long_words) const {
  const Rules& rules = impl_->rules;
  const Kernels& k = kernels();
  const uint8_t* const data = as_bytes(text);
  const size_t text_end = static_cast<size_t>(bounds[n]);
  const size_t longest_key = std::min(kKeyBytes, rules.max_characters);

  const Borrowed borrowed;
  auto& [breaks, copy, starts, ends, tile_ids, tile_spans, word_memory] = borrowed.get();
  if (const size_t size = text_end - static_cast<size_t>(bounds[0]); size > kHugeText) {
    ids.reserve(ids.size() + size / 3);
    if (byte_spans != nullptr) byte_spans->reserve(byte_spans->size() + 2 * (size / 3));
  }
  Output out{nullptr, nullptr, 0, long_words, 0};
  WordBuffer word(rules, out, word_memory);

  size_t next_break = 0, next_span = 0, next_begin = 0;  // next_begin: where span next_span begins, or less
  for (size_t tile = static_cast<size_t>(bounds[0]); tile < text_end;) {
    checkpoint();
    const size_t tile_stop = tile_end(rules, data, tile, text_end), size = tile_stop - tile;
    borrowed.get().fit(size, byte_spans != nullptr);
    out = {tile_ids.data(), byte_spans != nullptr ? tile_spans.data() : nullptr, 0, long_words, ids.size()};
    breaks.assign(size / 64 + 1, 0);
    for (; next_break <= n && static_cast<size_t>(bounds[next_break]) < tile_stop; ++next_break) {
      const size_t at = static_cast<size_t>(bounds[next_break]) - tile;
      breaks[at / 64] |= uint64_t{1} << at % 64;
    }
    const size_t words = k.scan_words(data + tile, size, breaks.data(), rules.lowercase, rules.clean, copy.data(),
                                      starts.data(), ends.data());

    const uint8_t* const lower = copy.data();
    const Vocabulary::Slot* slots[kAhead];
    WordKey keys[kAhead];
    for (size_t first = 0; first < words; first += kAhead) {
      const size_t count = std::min(kAhead, words - first);
      const uint32_t *const from = starts.data() + first, *const to = ends.data() + first;
      for (size_t i = 0; i < count; ++i) {
        keys[i] = load_key(lower + from[i], std::min<size_t>(to[i] - from[i], kKeyBytes));
        slots[i] = rules.words.home(keys[i]);
        __builtin_prefetch(slots[i]);
      }
      const TileWords part{from, to, keys, slots, count, tile, longest_key};
      for (size_t i = 0; i < count;) {
        const size_t stop = next_begin > tile ? next_begin - tile : 0;
        i = out.spans != nullptr ? add_whole_words<true>(rules.words, part, i, stop, out)
                                 : add_whole_words<false>(rules.words, part, i, stop, out);
        if (i == count) break;
        const size_t begin = tile + from[i];
        if (from[i] >= stop) {
          for (; next_span <= n && static_cast<size_t>(bounds[next_span]) <= begin; ++next_span)
            token_offsets.push_back(static_cast<int64_t>(ids.size() + out.count));
          next_begin = next_span <= n ? static_cast<size_t>(bounds[next_span]) : std::numeric_limits<size_t>::max();
          continue;
        }
        add_rarer_word(rules, data, begin, tile + to[i], lower + from[i], word, out);
        ++i;
      }
    }
    ids.insert(ids.end(), tile_ids.data(), tile_ids.data() + out.count);
    if (byte_spans != nullptr)
      byte_spans->insert(byte_spans->end(), tile_spans.data(), tile_spans.data() + 2 * out.count);
    tile = tile_stop;
  }
  for (; next_span <= n; ++next_span) token_offsets.push_back(static_cast<int64_t>(ids.size()));
}

InWord WordPiece::in_word(std::string_view text, size_t at) const {
  const auto code_point = decode_utf8(text, static_cast<int64_t>(at)).code_point;
  switch (impl_->rules.characters[code_point].kind()) {
    case CharacterKind::kSpace:
    case CharacterKind::kIsolated:
      return InWord::kEnds;
    case CharacterKind::kDropped:
      return InWord::kNothing;
    default:
      return InWord::kPart;
  }
}

int64_t WordPiece::letters(std::string_view text, bool& plain) const {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (std::all_of(text.begin(), text.end(), is_plain)) return static_cast<int64_t>(text.size());
  constexpr size_t kPart = 4096;  // marks that change places across its end do not change the count
  const auto* data = as_bytes(text);
  std::vector<Normalised> normalised;
  int64_t letters = 0;
  for (size_t begin = 0, end; begin < text.size(); begin = end) {
    end = std::min(begin + kPart, text.size());
    while (end < text.size() && continues_character(data[end])) ++end;
    impl_->rules.characters.normalise_slowly(data, begin, end, normalised);
    for (const Normalised& n : normalised) {
      const bool is_letter = n.character.kind() == CharacterKind::kLetter;
      letters += is_letter;
      plain &= is_letter;
    }
  }
  return letters;
}

int64_t WordPiece::long_word() const { return std::max(kLongWord, static_cast<int64_t>(impl_->rules.max_characters)); }

}  // namespace pychunk
