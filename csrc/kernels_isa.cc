// The kernels of one instruction set. csrc/CMakeLists.txt compiles this file once for each, defines PYCHUNK_ISA and
// passes the flags. Include no standard header with templates or inline functions of external linkage. The linker keeps
// one copy of each, and might keep one that was built for an instruction set that the machine lacks.
#include "bert/bert_layer_simd.h"
#include "bert/int8_products_simd.h"
#include "common/exp_simd.h"
#include "common/kernels.h"
#include "search/codes_simd.h"
#include "search/prefilter_simd.h"
#include "search/scan_simd.h"
#include "text/recursive_simd.h"
#include "text/utf8_simd.h"
#include "tokens/byte_pair/merge_words_simd.h"
#include "tokens/byte_pair/pretokens_simd.h"
#include "tokens/wordpiece_simd.h"
#include "vectors/embedding_bag_simd.h"
#include "vectors/int8_rows_simd.h"
#include "vectors/products_simd.h"
#include "vectors/scaled_rows_simd.h"
#include "vectors/similarity_simd.h"

#define PYCHUNK_STRING_(x) #x
#define PYCHUNK_STRING(x) PYCHUNK_STRING_(x)
#define PYCHUNK_CONCAT_(a, b) a##b
#define PYCHUNK_CONCAT(a, b) PYCHUNK_CONCAT_(a, b)

namespace pychunk {

const Kernels& PYCHUNK_CONCAT(kernels_, PYCHUNK_ISA)() {
  static constexpr Kernels table{
      .name = PYCHUNK_STRING(PYCHUNK_ISA),
      .find_invalid_utf8 = find_invalid_utf8,
      .count_characters = count_characters,
      .count_line_feeds = count_line_feeds,
      .mark_stops = mark_stops,
      .mark_words = mark_words,
      .mark_pairs = mark_pairs,
      .scan_words = scan_words,
      .mark_pretoken_classes = mark_pretoken_classes,
      .scan_pretokens = scan_pretokens,
      .merge_words = merge_words,
      .find_separator = find_separator,
      .count_characters_at = count_characters_at,
      .count_words_at = count_words_at,
      .unit_bag = unit_bag,
      .convolve = convolve,
      .pack_row = pack_row,
      .dot = dot,
      .squares_of_rows = squares_of_rows,
      .squares_of_halves = squares_of_halves,
      .dot_scaled_rows = dot_scaled_rows,
      .dot_scaled_halves = dot_scaled_halves,
      .dot_scaled_pairs = dot_scaled_pairs,
      .dot_half_pairs = dot_half_pairs,
      .add_scaled_rows = add_scaled_rows,
      .sum_and_products = sum_and_products,
      .dot_rows = dot_rows,
      .add_scaled = add_scaled,
      .add_scaled_shorts = add_scaled_shorts,
      .add_products = add_products,
      .dot_shorts = dot_shorts,
      .exponentials = exponentials,
      .widen_halves = widen_halves,
      .widen_bytes = widen_bytes,
      .dot_halves = dot_halves,
      .dot_floats = dot_floats,
      .dot_bytes = dot_bytes,
      .widen_to_shorts = widen_to_shorts,
      .bytes_above = bytes_above,
      .shorts_above = shorts_above,
      .norms_of_shorts = norms_of_shorts,
      .panel_above = panel_above,
      .still_above = still_above,
      .heads_above = heads_above,
      .code_row = code_row,
      .highest_of = highest_of,
      .dot_panel = dot_panel,
      .keep_best = keep_best,
      .best_centroids = best_centroids,
      .codes_above = codes_above,
      .multiply_int8 = multiply_int8,
      .quantize_row = quantize_row,
      .add_and_norm = add_and_norm,
      .gelu = gelu,
      .softmax_row = softmax_row,
      .pack_columns = pack_columns,
      .pack_rows = pack_rows,
  };
  return table;
}

}  // namespace pychunk
