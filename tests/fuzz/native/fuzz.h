// The common parts of the fuzz targets: options read from the head of an input, a small encoder, and checks that end
// the process with a message about what was expected.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/dispatch.h"
#include "common/hash.h"
#include "document/sentence_table.h"
#include "methods/methods.h"
#include "segment/pipeline.h"
#include "text/sentence_splitter.h"
#include "text/unicode.h"
#include "tokens/length.h"
#include "tokens/wordpiece.h"

namespace fuzz {

template <typename... Parts>
[[noreturn]] void fail(const char* file, int line, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  std::fprintf(stderr, "%s:%d: %s\n", file, line, message.str().c_str());
  std::abort();
}

#define REQUIRE(condition, ...)                                                        \
  do {                                                                                 \
    if (!(condition)) ::fuzz::fail(__FILE__, __LINE__, #condition, ": ", __VA_ARGS__); \
  } while (false)

// The length in characters, or in words as in LangChain's length function, which are runs without white space.
inline int64_t length_for_langchain(std::string_view text, pychunk::Unit unit) {
  if (unit == pychunk::Unit::kCharacters) return pychunk::count_characters(text);
  int64_t words = 0;
  pychunk::kernels().count_words_at(pychunk::as_bytes(text), 0, std::array{static_cast<int64_t>(text.size())}.data(), 1,
                                    0, &words);
  return words;
}

// The first kHead bytes of an input choose options; the rest is text.
constexpr size_t kHead = 16;

class Input {
 public:
  Input(const uint8_t* data, size_t size) {
    for (size_t i = 0; i < kHead && i < size; ++i) head_[i] = data[i];
    if (size > kHead) bytes_.assign(reinterpret_cast<const char*>(data) + kHead, size - kHead);
    hash_ = pychunk::hash128({reinterpret_cast<const char*>(data), size}, 0).low;
  }
  // A number from 0 to below.
  int64_t option(int64_t below) { return next_ < kHead ? head_[next_++] % below : 0; }
  bool flag() { return option(2) != 0; }
  // True for one input in `n`, by a hash of it that changes with each call. It chooses inputs for checks that would
  // take too long for all of them. With FUZZ_ALL in the environment it is true for all, so that an input that is being
  // shrunk is still checked.
  bool one_in(uint64_t n) {
    static const bool all = std::getenv("FUZZ_ALL") != nullptr;
    hash_ = hash_ * 6364136223846793005u + 1442695040888963407u;
    return all || (hash_ >> 33) % n == 0;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::array<uint8_t, kHead> head_{};
  size_t next_ = 0;
  uint64_t hash_ = 0;
  std::string bytes_;
};

// The options that keep sentences together, and for recursive sometimes separators, which ignore sentences.
inline void draw_atoms(Input& input, pychunk::Plan& plan) {
  const int64_t drawn = input.option(16);
  plan.keep_together = drawn % 2 != 0;
  plan.balance = drawn / 2 % 2 != 0;
  if (drawn / 4 % 2 != 0) plan.min_characters = pychunk::kShortCharacters;
  if (plan.method->name != "recursive" || drawn / 8 == 0) return;
  plan.separators = {"\n\n", "\n", ". ", " ", ""};
  plan.keep_together = plan.balance = false, plan.min_characters = plan.min_tokens = 0;
}

// The length of the valid UTF-8 character at text[i], or 0 if there is none, by the standard's table 3-7, byte by byte.
inline size_t character_at(std::string_view text, size_t i) {
  const auto at = [&](size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
  const auto follows = [&](size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
    return at(k) >= low && at(k) <= high;
  };
  const unsigned a = at(0);
  if (a < 0x80) return 1;
  if (a < 0xC2 || a > 0xF4) return 0;
  if (a < 0xE0) return follows(1) ? 2 : 0;
  if (a < 0xF0) return follows(1, a == 0xE0 ? 0xA0 : 0x80, a == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  return follows(1, a == 0xF0 ? 0x90 : 0x80, a == 0xF4 ? 0x8F : 0xBF) && follows(2) && follows(3) ? 4 : 0;
}

// Any bytes as valid UTF-8, with a question mark for each byte that is not part of a character.
inline std::string valid(const std::string& bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = character_at(bytes, i);
    if (length == 0) {
      out += '?', ++i;
    } else {
      out.append(bytes, i, length), i += length;
    }
  }
  return out;
}

inline bool border(std::string_view text, int64_t at) {
  return at >= 0 && at <= static_cast<int64_t>(text.size()) &&
         (at == static_cast<int64_t>(text.size()) ||
          (static_cast<unsigned char>(text[static_cast<size_t>(at)]) & 0xC0) != 0x80);
}

inline int64_t characters(std::string_view text) {
  int64_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

// Letters, pieces and a few words, which are enough for whole words, pieces and [UNK], and are made quickly.
inline const std::vector<std::string>& vocabulary() {
  static const std::vector<std::string>& words = *new std::vector<std::string>([] {
    std::vector<std::string> all{"[PAD]", "[UNK]"};
    for (char c = '!'; c <= '~'; ++c)
      if (c < 'A' || c > 'Z') all.emplace_back(1, c), all.push_back(std::string("##") + c);
    for (const char* word :
         {"the",        "cat",           "cats",  "dog",    "sun",    "is",       "star",         "near",
          "one",        "two",           "##ing", "##ed",   "##er",   "un",       "##known",      "inter",
          "##national", "\u00e9t\u00e9", "chaud", "\u4e2d", "\u6587", "##\u6587", "\u0434\u0430", "strasse"})
      all.emplace_back(word);
    return all;
  }());
  return words;
}

inline const pychunk::WordPiece& tokenizer() {
  static const pychunk::WordPiece& made = *new pychunk::WordPiece(vocabulary(), {});
  return made;
}

constexpr int64_t kDim = 32;

inline pychunk::Matrix<const int8_t> table() {
  static const std::vector<int8_t>& values = *new std::vector<int8_t>([] {
    std::vector<int8_t> all(vocabulary().size() * kDim);
    uint32_t state = 1;
    for (int8_t& v : all) state = state * 1664525 + 1013904223, v = static_cast<int8_t>(state >> 24);
    return all;
  }());
  return {values.data(), static_cast<int64_t>(vocabulary().size()), kDim};
}

// Documents in one buffer that ends with the last one, so that a read beyond it is detected.
struct Documents {
  std::vector<char> text;
  std::vector<int64_t> offsets{0};
  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
  pychunk::Texts texts() const { return {text.data(), offsets}; }
};

// The text as documents: cut at bytes 0x1D, at most four.
inline Documents documents(const std::string& text) {
  Documents out;
  out.text.reserve(text.size());
  size_t begin = 0;
  for (int n = 0; begin <= text.size(); ++n) {
    const size_t end = n < 3 ? std::min(text.find('\x1d', begin), text.size()) : text.size();
    out.text.insert(out.text.end(), text.data() + begin, text.data() + end);
    out.offsets.push_back(static_cast<int64_t>(out.text.size()));
    begin = end + 1;
  }
  out.text.shrink_to_fit();
  return out;
}

inline pychunk::Inputs inputs(const Documents& documents, const pychunk::Plan& plan) {
  pychunk::Inputs in;
  in.texts = documents.texts();
  in.plan = &plan;
  in.tokenizer = &tokenizer();
  in.table = table();
  return in;
}

// Document d of the inputs alone, with its text in `text`.
inline pychunk::Inputs alone(const pychunk::Inputs& in, int64_t d, Documents& text) {
  const std::string_view own = in.texts[d];
  text.text.assign(own.begin(), own.end());
  text.offsets = {0, static_cast<int64_t>(own.size())};
  pychunk::Inputs out = in;
  out.texts = text.texts();
  const auto part = [&](std::span<const int64_t>& offsets) {
    if (!offsets.empty()) offsets = offsets.subspan(static_cast<size_t>(d), 2);
  };
  part(out.vectors.offsets), part(out.pair_scores.offsets);
  return out;
}

// Checks that rows [from, from + n) of a table equal those of another from `other_from` on, except for the document's
// number.
inline bool same_rows(const pychunk::Table& a, int64_t from, const pychunk::Table& b, int64_t other_from, int64_t n) {
  const auto same = [&](const auto& x, const auto& y, int64_t width = 1) {
    return n == 0 || std::memcmp(x.data + from * width, y.data + other_from * width,
                                 static_cast<size_t>(n * width) * sizeof(*x.data)) == 0;
  };
#define SAME_COLUMN(name, there, value) same(a.name, b.name) &&
  return PYCHUNK_WHOLE_COLUMNS(SAME_COLUMN) same(a.chunk, b.chunk) && same(a.chunk_id, b.chunk_id, 32) &&
         same(a.text_id, b.text_id, 32) && same(a.relevance, b.relevance) && same(a.score, b.score) &&
         same(a.end_reason, b.end_reason);
#undef SAME_COLUMN
}

// Checks that chunks [from, to) of a table are in order, begin and end at characters of `text`, have the right text,
// and cover all but white space.
inline void check_chunks(const pychunk::Table& t, int64_t from, int64_t to, std::string_view text, bool overlapping) {
  const auto white = [&](int64_t begin, int64_t end) { return pychunk::trim(text, begin, end).empty(); };
  const auto between = [&](int64_t begin, int64_t end) {
    return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  int64_t covered = 0, last_begin = 0, last_end = 0, last_start = 0;
  for (int64_t i = from; i < to; ++i) {
    const int64_t begin = t.start_byte.data[i], end = t.end_byte.data[i];
    REQUIRE(begin < end && border(text, begin) && border(text, end), i, " ", begin, " ", end);
    REQUIRE(begin >= last_begin && end >= last_end && (overlapping || begin >= covered), i, " ", begin, " ", end);
    REQUIRE(begin <= covered || white(covered, begin), i, " ", covered, " ", begin);
    const std::string_view piece = between(begin, end);
    REQUIRE(piece == std::string_view(t.text.data + t.text_offsets.data[i],
                                      static_cast<size_t>(t.text_offsets.data[i + 1] - t.text_offsets.data[i])),
            i);
    REQUIRE(t.start.data[i] == last_start + characters(between(last_begin, begin)), i, " ", t.start.data[i]);
    REQUIRE(t.end.data[i] - t.start.data[i] == characters(piece), i, " ", t.end.data[i]);
    const pychunk::Trimmed inside = pychunk::trim(text, begin, end);
    REQUIRE(inside.begin == begin && inside.end == end, i, " has white space at its edges");
    const int64_t before = i > from ? std::max<int64_t>(0, t.end.data[i - 1] - t.start.data[i]) : 0;
    REQUIRE(t.overlap.data[i] == before, i, " ", t.overlap.data[i], " ", before);
    covered = std::max(covered, end), last_begin = begin, last_end = end, last_start = t.start.data[i];
  }
  REQUIRE(white(covered, static_cast<int64_t>(text.size())), "the end is left out from ", covered);
}

// Returns the table of all documents. It holds each document's chunks in turn, for some inputs the same as for the
// document alone, and the same on two threads.
inline pychunk::Table checked_table(Input& input, pychunk::Inputs in) {
  pychunk::Table t = pychunk::segment(in);
  const bool overlapping = in.plan->overlap > 0;
  int64_t next = 0;
  for (int64_t d = 0; d < in.texts.size(); ++d) {
    int64_t end = next;
    while (end < t.document.size && t.document.data[end] == d) ++end;
    check_chunks(t, next, end, in.texts[d], overlapping);
    if (in.texts.size() > 1 && input.one_in(8)) {
      Documents text;
      const pychunk::Table own = pychunk::segment(alone(in, d, text));
      REQUIRE(own.document.size == end - next && same_rows(own, 0, t, next, end - next), "document ", d,
              " alone differs: ", own.document.size, " chunks, ", end - next);
    }
    next = end;
  }
  REQUIRE(next == t.document.size, "chunks of no document");
  if (in.texts.size() > 1 && input.one_in(8)) {
    in.threads = 2;
    const pychunk::Table two = pychunk::segment(in);
    REQUIRE(two.document.size == next && same_rows(two, 0, t, 0, next), "on two threads: ", two.document.size,
            " chunks, on one ", next);
    REQUIRE(std::equal(t.chunk_vectors.data, t.chunk_vectors.data + t.chunk_vectors.size, two.chunk_vectors.data,
                       two.chunk_vectors.data + two.chunk_vectors.size),
            "vectors differ on two threads");
  }
  return t;
}

// Checks that given sentences, flags and cuts of the inputs make the same table.
inline void check_given(const pychunk::Table& made, pychunk::Inputs in) {
  const pychunk::SentenceTable sentences = pychunk::split(in);
  const std::span<const int64_t> offsets{sentences.doc_offsets.data, static_cast<size_t>(sentences.doc_offsets.size)};
  const auto n = static_cast<size_t>(sentences.flags.size);
  in.sentences = {{sentences.starts.data, n}, offsets};
  in.flags = {{sentences.flags.data, n}, offsets};
  const pychunk::CutTable cuts = pychunk::cuts(in);
  const bool pairs = in.plan->method->scores == pychunk::Scores::kPairs;
  in.cuts = {{cuts.first, cuts.offsets}, cuts.reason, cuts.relevance, {}, pairs};
  if (in.plan->method->scores != pychunk::Scores::kNone) in.cuts.score = {cuts.score, cuts.score_offsets};
  const pychunk::Table given = pychunk::segment(in);
  REQUIRE(given.document.size == made.document.size && same_rows(given, 0, made, 0, made.document.size),
          "given cuts make ", given.document.size, " chunks, their method ", made.document.size);
}

}  // namespace fuzz
