// The hot loops that are built once per instruction set, as a table of function pointers.
// Every build of a loop returns the same bits; tests/segment/test_segment.py and tests/csrc/test_recursive.py run them
// against each other, and so does tests/fuzz/native/splitting.cc.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pychunk {

// A query as heads_above takes it (prefilter_simd.h), and what bounds are made of besides.
struct HeadQuery {
  const int8_t* numbers;
  int32_t weights[2];  // of the first run of numbers, and of the others
  int32_t start;
  int32_t by_lengths;  // two of 16 bits
  float unit, margin;
  double per_unit;  // 1 / unit
};
// Numbers are added up in runs. The first one's are larger than those after it, and have a weight of their own: numbers
// of eight bits say them all as well.
constexpr size_t kFirstHeadRun = 32, kHeadRun = 192;
// What the positive numbers of a run and the negative ones are at most, for sums of 16 bits: of a code below 16 and a
// number of eight bits each.
constexpr int32_t kMostOfRun = 32767 / 15;

struct Kernels {
  const char* name;  // "baseline", "avx2", "avx512" or "avx512vnni"

  // ---- text (utf8_simd.h) ----
  // Byte offset of the first byte that is not part of valid UTF-8, or -1.
  int64_t (*find_invalid_utf8)(const uint8_t* text, size_t size);
  // Number of characters: bytes that do not continue one.
  int64_t (*count_characters)(const uint8_t* text, size_t size);
  int64_t (*count_line_feeds)(const uint8_t* text, size_t size);
  // Bytes at which a sentence may end, one bit a byte; bits has room for (size + 63) / 64 words.
  void (*mark_stops)(const uint8_t* text, size_t size, uint64_t* bits);

  // Bytes of words, ASCII letters and digits and all of other characters, one bit a byte; room as for mark_stops.
  void (*mark_words)(const uint8_t* text, size_t size, uint64_t* bits);

  // ---- WordPiece (wordpiece_simd.h) ----
  // Where the words of a text lie that is split at ASCII white space, at bytes marked in `breaks` (bit i % 64
  // of breaks[i / 64]) and around ASCII punctuation; returns how many. Word k is [starts[k], ends[k]).
  // copy[i] is text[i], A-Z as a-z where `lowercase`, and with its top bit set where BERT drops it: NUL, and
  // other ASCII control characters where `clean`. So a word whose bytes are all below 0x80 is normalised
  // already. copy has room for size + 64 bytes, starts and ends for size + 64 entries.
  size_t (*scan_words)(const uint8_t* text, size_t size, const uint64_t* breaks, bool lowercase, bool clean,
                       uint8_t* copy, uint32_t* starts, uint32_t* ends);

  // ---- recursive splitter (recursive_simd.h); offsets count from `text`, at most `room` are written ----
  // Matches of a separator (length >= 1) inside [begin, end), from the left, none overlapping the one before.
  size_t (*find_separator)(const uint8_t* text, size_t begin, size_t end, const uint8_t* separator, size_t length,
                           int64_t* out, size_t room);
  // out[k] = base + characters in [begin, at[k]) for n >= 1 rising offsets.
  void (*count_characters_at)(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base,
                              int64_t* out);
  // The same of words, where each [at[k - 1], at[k]) is counted on its own: a cut word counts on both sides.
  void (*count_words_at)(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base, int64_t* out);

  // ---- vectors (embedding_bag_simd.h, similarity_simd.h, products_simd.h) ----
  // sums[j] = sum over t < n of table[ids[t], j], exactly; `known` >= n ids are readable, the later ones prefetched.
  void (*embedding_bag)(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums);
  // out = sums / |sums|; zero stays zero.
  void (*unit_from_sums)(const int32_t* sums, size_t dim, float* out);
  // a . b as a fixed tree of partial sums.
  float (*dot)(const float* a, const float* b, size_t dim);
  // sum = a + b; products[0] = sum . sum, products[1] = sum . other, by the same tree.
  void (*sum_and_products)(const float* a, const float* b, const float* other, size_t dim, float* sum, float* products);
  // out[i] = rows[i] . v
  void (*dot_rows)(const float* rows, size_t n, size_t dim, const float* v, float* out);
  // sum += weight * x
  void (*add_scaled)(const float* x, size_t dim, float weight, float* sum);
  // y[t, o] += sum over c of x[t, c] * w[c, o], in the order of c; x has rows `stride` apart, outs is a multiple of 16.
  void (*add_products)(const float* x, size_t n, size_t stride, size_t in, const float* w, size_t outs, float* y);
  // x[i] = exp(x[i]), x brought to [-60, 60] (exp_simd.h)
  void (*exponentials)(float* x, size_t n);

  // ---- scan of stored vectors (scan_simd.h) ----
  // out[i] = the float16 whose bits are halves[i], exactly.
  void (*widen_halves)(const uint16_t* halves, size_t n, float* out);
  void (*widen_bytes)(const int8_t* bytes, size_t n, float* out);
  // out[i] = dot(rows[i], query) of rows as they are stored, float16 by its bits or float32; dim is a multiple of 32.
  void (*dot_halves)(const uint16_t* rows, size_t n, size_t dim, const float* query, float* out);
  void (*dot_floats)(const float* rows, size_t n, size_t dim, const float* query, float* out);
  // The same of rows of bytes, each followed by its scale, a float32 that the product is multiplied by.
  void (*dot_bytes)(const int8_t* rows, size_t n, size_t dim, const float* query, float* out);
  // out[i] = bytes[i]; n is a multiple of 32.
  void (*widen_to_shorts)(const int8_t* bytes, size_t n, int16_t* out);
  // Rows of such bytes whose bound, scale * unit * (row . query) + |scale| * margin, is above a limit: found[k] = i,
  // returns how many; the product of whole numbers must fit 31 bits. Of four queries and rows that were widened:
  // found[k] = i * 16 + a bit for each query.
  size_t (*bytes_above)(const int8_t* rows, size_t n, size_t dim, const int16_t* query, float unit, float margin,
                        float limit, uint32_t* found);
  size_t (*shorts_above)(const int16_t* rows, const float* scales, size_t n, size_t dim, const int16_t* queries,
                         const float* units, const float* margins, const float* limits, uint32_t* found);
  // The same of sixteen queries, by the first `head` numbers of each row, what the others could add at most (rests of
  // rows, by norms_of_shorts, times tails of queries), then of what is left by all of them; see scan_simd.h.
  void (*norms_of_shorts)(const int16_t* rows, size_t n, size_t begin, size_t dim, float* out);
  size_t (*panel_above)(const int16_t* rows, const float* scales, const float* rests, size_t n, size_t dim, size_t head,
                        const int16_t* panel, const float* units, const float* margins, const float* tails,
                        const float* limits, uint32_t* found);
  size_t (*still_above)(const int16_t* rows, const float* scales, size_t dim, const int16_t* queries,
                        const float* units, const float* margins, const float* limits, const uint32_t* found,
                        size_t count, uint32_t* left);
  // The same of one query or a multiple of four and heads of rows in groups of 64 (prefilter.h); n is a multiple of
  // 64, `head` of 32; limits are of whole numbers (prefilter.h). Found of each query have room for n, and so has what
  // they could score; room: 64 * head bytes.
  void (*heads_above)(const uint8_t* heads, const uint32_t* lengths, size_t n, size_t head, const HeadQuery* queries,
                      size_t asked, const int32_t* limits, uint8_t* room, uint32_t* found, float* could,
                      size_t* counts);
  // The highest of n >= 1 numbers, none of which is NaN.
  float (*highest_of)(const float* numbers, size_t n);
  // out[i * 16 + q] = dot(rows[i], query q) of 16 queries, panel[c * 16 + q]; n is a multiple of 8, dim of 32.
  void (*dot_panel)(const float* rows, size_t n, size_t dim, const float* panel, float* out);
  // best[q] = the highest of itself and of scores[i * 16 + q], i < n; where[q] = first + i of the one it came from, the
  // first of equals.
  void (*keep_best)(const float* scores, size_t n, int32_t first, float* best, int32_t* where);

  // ---- codes of vectors (codes_simd.h), of 32 rows at a time ----
  // out[r] = the k of 16 for which bias[k] + sum over c of x[c * 32 + r] * book[k * width + c] is highest.
  void (*best_centroids)(const float* x, size_t width, const float* book, const float* bias, uint8_t* out);
  // Of n groups of 32 rows those whose sum of tables[piece * 16 + code] is at least `least`; returns how many.
  size_t (*codes_above)(const uint8_t* codes, size_t n, size_t pieces, const uint8_t* tables, uint16_t least,
                        uint32_t* found, uint16_t* scores);
};

}  // namespace pychunk
