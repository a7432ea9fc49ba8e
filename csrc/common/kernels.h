// The hot loops that are built once per instruction set, as a table of function pointers. Every build of a loop returns
// the same bits. Three tests compare the builds: tests/segment/test_segment.py, tests/csrc/test_recursive.py and
// tests/fuzz/native/splitting.cc.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pychunk {

// tokens/byte_pair/pretoken_rules.h defines these.
struct PretokenRules;
struct PretokenMasks;
struct PretokenScan;
// tokens/byte_pair/merge_words.h defines these.
struct MergeTables;
struct MergeWord;
// bert/int8_matrix.h defines this.
struct Int8Rows;
struct Int8Columns;

// A query in the form that heads_above takes (prefilter_simd.h), with the values that its bounds are computed from.
struct HeadQuery {
  const int8_t* numbers;
  int32_t weights[2];  // of the first run of numbers, and of the other runs
  int32_t start;
  int32_t by_lengths;  // the factors of a row's two lengths, 16 bits each
  float unit, margin;
  double per_unit;  // 1 / unit
};
// The lengths of the runs in which numbers are summed. The numbers of the first run are larger than the later ones and
// have their own weight. This way 8 bits per number suffice.
constexpr size_t kFirstHeadRun = 32, kHeadRun = 192;
// The most that the absolute values of a run's positive numbers may add up to, and those of its negative numbers. Each
// number is multiplied by a code below 16, so the sum of the products then fits in 16 bits.
constexpr int32_t kMostOfRun = 32767 / 15;

// convolve() computes so many rows at a time at most.
constexpr size_t kConvolvedRows = 8;

struct Kernels {
  const char* name;  // "baseline", "avx2", "avx512" or "avx512vnni"

  // ---- text (utf8_simd.h) ----
  // Returns the byte offset of the first byte that is not part of valid UTF-8, or -1.
  int64_t (*find_invalid_utf8)(const uint8_t* text, size_t size);
  // Returns the number of characters, which is the number of bytes that are not continuation bytes.
  int64_t (*count_characters)(const uint8_t* text, size_t size);
  int64_t (*count_line_feeds)(const uint8_t* text, size_t size);
  // Marks the bytes at which a sentence may end, one bit per byte. `bits` has room for (size + 63) / 64 words.
  void (*mark_stops)(const uint8_t* text, size_t size, uint64_t* bits);

  // Marks the bytes of words, one bit per byte: ASCII letters and digits, and all bytes of other characters. `bits`
  // needs the same room as for mark_stops.
  void (*mark_words)(const uint8_t* text, size_t size, uint64_t* bits);

  // Marks each byte `first` before a byte that is one of `next`, of which there are `count`, one bit per byte. `bits`
  // needs the same room as for mark_stops.
  void (*mark_pairs)(const uint8_t* text, size_t size, uint8_t first, const uint8_t* next, size_t count,
                     uint64_t* bits);

  // ---- WordPiece (wordpiece_simd.h) ----
  // Finds the words of a text and returns their number. The text is split at ASCII white space, around ASCII
  // punctuation, and at bytes marked in `breaks` (bit i % 64 of breaks[i / 64]). Word k is [starts[k], ends[k]).
  //
  // copy[i] is text[i], with A-Z as a-z if `lowercase`. Its top bit is set for bytes that BERT drops: NUL and, if
  // `clean`, other ASCII control characters. A word whose bytes are all below 0x80 is therefore already normalised.
  // `copy` has room for size + 64 bytes, `starts` and `ends` for size + 64 entries.
  size_t (*scan_words)(const uint8_t* text, size_t size, const uint64_t* breaks, bool lowercase, bool clean,
                       uint8_t* copy, uint32_t* starts, uint32_t* ends);

  // ---- byte-level tokenizers (pretokens_simd.h) ----
  // Marks the classes of ASCII characters in up to PretokenMasks::kBytes bytes, and the bytes of other characters.
  void (*mark_pretoken_classes)(const uint8_t* text, size_t size, bool cased, PretokenMasks* masks);
  // Writes the ends of pre-tokens from `at` on, until `stop` is reached, `room` pre-tokens are written, or one is found
  // that only pretoken_end() can delimit. The text ends at `end`, and all positions count from `text`.
  PretokenScan (*scan_pretokens)(const PretokenRules& rules, const PretokenMasks& masks, const uint8_t* text, size_t at,
                                 size_t stop, size_t end, uint32_t* ends, size_t room);
  // Merges short pre-tokens, each by itself (merge_words_simd.h).
  void (*merge_words)(const MergeTables& tables, MergeWord* words, size_t count);

  // ---- recursive splitter (recursive_simd.h); offsets count from `text`, and at most `room` are written ----
  // Finds the matches of a separator (length >= 1) in [begin, end), from left to right, without overlaps.
  size_t (*find_separator)(const uint8_t* text, size_t begin, size_t end, const uint8_t* separator, size_t length,
                           int64_t* out, size_t room);
  // Sets out[k] = base + the number of characters in [begin, at[k]), for n >= 1 increasing offsets.
  void (*count_characters_at)(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base,
                              int64_t* out);
  // Does the same as count_characters_at for words. Each [at[k - 1], at[k]) is counted separately, so a word that an
  // offset cuts counts on both sides.
  void (*count_words_at)(const uint8_t* text, size_t begin, const int64_t* at, size_t n, int64_t base, int64_t* out);

  // ---- vectors (embedding_bag_simd.h, int8_rows_simd.h, similarity_simd.h, products_simd.h) ----
  // Sets out = sums / |sums| for the exact sums of table[ids[t], j] over t < n. A zero vector stays zero. `ids` has
  // `known` >= n readable entries. The rows of the entries after the first n are prefetched. `sums` has room for `dim`
  // numbers.
  void (*unit_bag)(const int8_t* table, size_t dim, const int32_t* ids, size_t n, size_t known, int32_t* sums,
                   float* out);
  // Sets out[t] = in[t] + max(0, bias + sum of in[t + (tap - taps / 2) * dilation, c] * w[tap * width + c]) for t < n,
  // in the order of the taps and then of c. Rows have `width` numbers, a multiple of 16. Rows that taps read before row
  // 0 and after row n must be there, as must the rows of `out` up to the next multiple of kConvolvedRows, which it
  // overwrites.
  void (*convolve)(const float* in, size_t n, size_t width, const float* w, size_t taps, size_t dilation,
                   const float* bias, float* out);
  // Writes `size` numbers of a row, each times `factor`, as bytes, followed by their scale.
  void (*pack_row)(const float* row, size_t size, float factor, int8_t* out);
  // Returns a . b, computed as a fixed tree of partial sums.
  float (*dot)(const float* a, const float* b, size_t dim);
  // Sets out[i] = rows[i] . rows[i], by the same tree. Rows are `stride` numbers apart. The second function does so for
  // float16, and writes the rows to `wide` as float32, without gaps.
  void (*squares_of_rows)(const float* rows, size_t stride, size_t n, size_t dim, float* out);
  void (*squares_of_halves)(const uint16_t* rows, size_t stride, size_t n, size_t dim, float* wide, float* out);
  // Sets out[i] = (scales[i] * rows[i]) . v, by the same tree. Meanwhile it prefetches what lies `ahead` bytes from
  // each row, which need not be in an array.
  void (*dot_scaled_rows)(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, const float* v,
                          ptrdiff_t ahead, float* out);
  void (*dot_scaled_halves)(const uint16_t* rows, size_t stride, size_t n, size_t dim, const float* scales,
                            const float* v, ptrdiff_t ahead, float* out);
  // Sets out[i] = (scales[i] * rows[i]) . (scales[i + 1] * rows[i + 1]), by the same tree, for n + 1 rows.
  void (*dot_scaled_pairs)(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, float* out);
  void (*dot_half_pairs)(const uint16_t* rows, size_t stride, size_t n, size_t dim, const float* scales, float* out);
  // Adds scales[i] * rows[i] to sum, in the order of i.
  void (*add_scaled_rows)(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, float* sum);
  // Sets sum = a + b, products[0] = sum . sum and products[1] = sum . other, by the same tree.
  void (*sum_and_products)(const float* a, const float* b, const float* other, size_t dim, float* sum, float* products);
  // Sets out[i] = rows[i] . v.
  void (*dot_rows)(const float* rows, size_t n, size_t dim, const float* v, float* out);
  // Adds weight * x to sum.
  void (*add_scaled)(const float* x, size_t dim, float weight, float* sum);
  void (*add_scaled_shorts)(const int16_t* x, size_t dim, float weight, float* sum);
  // Adds the sum over c of x[t, c] * w[c, o] to y[t, o], in the order of c. Rows of x are `stride` numbers apart, and
  // `outs` is a multiple of 16.
  void (*add_products)(const float* x, size_t n, size_t stride, size_t in, const float* w, size_t outs, float* y);
  // Sets out[o] = x . w[o] for `outs` rows of `size` numbers, a multiple of 32. The sums must fit in 32 bits.
  void (*dot_shorts)(const int16_t* x, const int16_t* w, size_t size, size_t outs, int32_t* out);
  // Sets x[i] = exp(x[i]), with x clipped to [-60, 60] (exp_simd.h).
  void (*exponentials)(float* x, size_t n);

  // ---- scan of stored vectors (scan_simd.h) ----
  // Sets out[i] to the float16 whose bits are halves[i], exactly.
  void (*widen_halves)(const uint16_t* halves, size_t n, float* out);
  void (*widen_bytes)(const int8_t* bytes, size_t n, float* out);
  // Sets out[i] = dot(rows[i], query) for rows in their stored form, as the bits of float16 or as float32. `dim` is a
  // multiple of 32.
  void (*dot_halves)(const uint16_t* rows, size_t n, size_t dim, const float* query, float* out);
  void (*dot_floats)(const float* rows, size_t n, size_t dim, const float* query, float* out);
  // Does the same as dot_halves for rows of bytes. Each row is followed by its scale, a float32 that multiplies the
  // product.
  void (*dot_bytes)(const int8_t* rows, size_t n, size_t dim, const float* query, float* out);
  // Sets out[i] = bytes[i]. `n` is a multiple of 32.
  void (*widen_to_shorts)(const int8_t* bytes, size_t n, int16_t* out);
  // Finds the rows of bytes whose bound, scale * unit * (row . query) + |scale| * margin, is above a limit. Sets
  // found[k] = i and returns the number of rows found. The integer product must fit in 31 bits.
  //
  // shorts_above does the same for four queries and rows that were widened to shorts. There found[k] = i * 16 + one bit
  // per query.
  size_t (*bytes_above)(const int8_t* rows, size_t n, size_t dim, const int16_t* query, float unit, float margin,
                        float limit, uint32_t* found);
  size_t (*shorts_above)(const int16_t* rows, const float* scales, size_t n, size_t dim, const int16_t* queries,
                         const float* units, const float* margins, const float* limits, uint32_t* found);
  // Finds rows as bytes_above does, but for sixteen queries, in two steps (scan_simd.h). panel_above uses the first
  // `head` numbers of each row and a bound for the rest. That bound is the length of the row's rest (`rests`, from
  // norms_of_shorts) times the length of the query's (`tails`). still_above then checks the remaining rows with all
  // their numbers.
  void (*norms_of_shorts)(const int16_t* rows, size_t n, size_t begin, size_t dim, float* out);
  size_t (*panel_above)(const int16_t* rows, const float* scales, const float* rests, size_t n, size_t dim, size_t head,
                        const int16_t* panel, const float* units, const float* margins, const float* tails,
                        const float* limits, uint32_t* found);
  size_t (*still_above)(const int16_t* rows, const float* scales, size_t dim, const int16_t* queries,
                        const float* units, const float* margins, const float* limits, const uint32_t* found,
                        size_t count, uint32_t* left);
  // Finds rows as bytes_above does, but by the heads of rows, for one query or a multiple of four. A head holds the
  // first numbers of a row as codes, and is stored in a group of 64 (prefilter.h). `n` is a multiple of 64, and `head`
  // of 32. The limits apply to integer scores (prefilter.h). `found` and `could`, the upper bounds of the scores, have
  // room for n entries per query. `room` has 64 * head bytes.
  void (*heads_above)(const uint8_t* heads, const uint32_t* lengths, size_t n, size_t head, const HeadQuery* queries,
                      size_t asked, const int32_t* limits, uint8_t* room, uint32_t* found, float* could,
                      size_t* counts);
  // Writes the head of a row of `dim` bytes and their scale: the codes of its first `head` numbers, into its group of
  // 64 rows. Sets squares to the sums of the squares of what the codes lose, of the values that they stand for, and of
  // the bytes after the first `head`. `dim` and `head` are multiples of 32.
  void (*code_row)(const int8_t* row, size_t dim, size_t head, const float* steps, const float* inverses, uint8_t* out,
                   float* squares);
  // Returns the highest of n >= 1 numbers, none of which is NaN.
  float (*highest_of)(const float* numbers, size_t n);
  // Sets out[i * 16 + q] = dot(rows[i], query q) for 16 queries, stored as panel[c * 16 + q]. `n` is a multiple of 8,
  // and `dim` of 32.
  void (*dot_panel)(const float* rows, size_t n, size_t dim, const float* panel, float* out);
  // Raises best[q] to the highest of scores[i * 16 + q], i < n, if that is higher. where[q] = first + i is then the row
  // of this score, the first one of equal scores.
  void (*keep_best)(const float* scores, size_t n, int32_t first, float* best, int32_t* where);

  // ---- codes of vectors (codes_simd.h), of 32 rows at a time ----
  // Sets out[r] to the number k, below 16, of the centroid with the highest score. The score is bias[k] + the sum over
  // c of x[c * 32 + r] * book[k * width + c].
  void (*best_centroids)(const float* x, size_t width, const float* book, const float* bias, uint8_t* out);
  // Finds the rows that score at least `least`, in n groups of 32 rows, and returns their number. The score of a row is
  // the sum of tables[piece * 16 + code] over its pieces.
  size_t (*codes_above)(const uint8_t* codes, size_t n, size_t pieces, const uint8_t* tables, uint16_t least,
                        uint32_t* found, uint16_t* scores);

  // ---- transformers in bytes (int8_products_simd.h, bert_layer_simd.h) ----
  // Sets out[t * stride + o] to the product of row t and column o of a packed matrix, times the scales of both, plus
  // the column's bias. `outs` is a multiple of 16.
  void (*multiply_int8)(const Int8Rows& x, const uint8_t* w, size_t outs, const Int8Columns& columns, float* out,
                        size_t stride);
  // Writes x[c] * factors[c], or x[c] without factors, as bytes, with a scale and a sum for each group of them. `size`
  // is a multiple of 16.
  void (*quantize_row)(const float* x, const float* factors, size_t size, int8_t* bytes, float* scales, int32_t* sums);
  // Sets row = (row + added - mean) / sqrt(variance + epsilon) * weight + bias. `dim` is a multiple of 16.
  void (*add_and_norm)(const float* added, const float* weight, const float* bias, float epsilon, size_t dim,
                       float* row);
  // Sets x to the Gaussian error linear unit of x, or its approximation by tanh. `size` is a multiple of 16.
  void (*gelu)(float* x, size_t size, bool tanh);
  // Writes the softmax of a row of scores as bytes, zeros up to the next multiple of 16, with a scale and a sum for
  // each group. Overwrites the scores after `size`, up to that multiple.
  void (*softmax_row)(float* x, size_t size, int8_t* bytes, float* scales, int32_t* sums);
  // Packs rows of bytes as the columns of a matrix: row t becomes column t. `size` is a multiple of 4, and columns
  // after the last row, up to a multiple of 16, become zeros.
  void (*pack_columns)(const int8_t* rows, size_t count, size_t size, uint8_t* out);
  // Packs rows of float32, `stride` numbers apart, as the rows of a matrix of bytes, with a scale for each of its
  // `size` columns, a multiple of 16. Rows after the last one, up to a multiple of 16, become zeros.
  void (*pack_rows)(const float* rows, size_t stride, size_t count, size_t size, float* scales, uint8_t* out);
};

}  // namespace pychunk
