// A BERT whose products are of bytes. A row's result depends on the row alone: not on the rows around it, on threads or
// on the instruction set.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bert/int8_matrix.h"

namespace pychunk {

// A matrix [in, outs] of float32 with its bias, or the weight and the bias of a norm.
struct FloatLayer {
  const float *weight, *bias;
};

// The weights of one layer, as pychunk/encoders/files/bert_weights.py reads them.
struct BertLayerWeights {
  FloatLayer qkv, mixed, mixed_norm, wide, narrow, norm;
};

// A whole model. The arrays must outlive what is made of it.
struct BertWeights {
  const float *words, *places;  // [vocabulary, dim]; [types, positions, dim]: the sums of position and type
  FloatLayer norm;
  std::vector<BertLayerWeights> layers;
  FloatLayer pooler{}, classifier{};  // [dim, dim], [dim, classes]; null without a head
  size_t vocabulary = 0, positions = 0, types = 0, dim = 0, wide = 0, heads = 0, classes = 0;
  float epsilon = 0.0f;
  bool tanh = false;        // of the activation
  bool first_only = false;  // the last layer computes only the first token of each row
};

class Bert {
 public:
  // Packs the weights. Numbers that multiply the products of a layer's input are divided by factors first, so that few
  // large ones leave the others enough of a byte. The factors come from 16 rows of 32 pseudo-random tokens.
  explicit Bert(const BertWeights& weights);

  // The number of numbers that forward() writes for rows of `width` tokens.
  size_t size_of_row(size_t width) const;

  // Computes rows [rows, width] of tokens, of which the first lengths[r] count. `types` may be null. Writes the states
  // [rows, width, dim], with zeros after each row's length; with `first_only` [rows, 1, dim]; with a head the logits
  // [rows, classes]. Ids must be below the vocabulary, types below `types`, and widths at most `positions`.
  void forward(const int32_t* ids, const int32_t* types, std::span<const int32_t> lengths, size_t width,
               float* out) const;

 private:
  // The products of a layer in the order in which they are computed, and the highest magnitudes of their inputs.
  enum Product { kQkv, kMixed, kWide, kNarrow, kProducts };
  using Highest = std::array<std::vector<float>, kProducts>;
  struct Factored {
    Int8Matrix matrix;
    std::vector<float> factors;  // of the input's numbers; empty: all 1
  };
  using Layer = std::vector<Factored>;  // of kProducts
  struct RowBytes;
  struct Room;

  std::vector<Layer> pack(const std::vector<Highest>& highest) const;
  void multiply(size_t layer, Product product, const std::vector<float>& from, size_t rows, Room& room,
                std::vector<float>& to) const;
  void embed(const int32_t* ids, const int32_t* types, size_t length, float* states) const;
  void attend(Room& room, size_t begin, size_t length, size_t queries) const;
  void run_layer(size_t number, Room& room) const;
  void finish(const Room& room, size_t rows, float* out) const;

  BertWeights weights_;
  std::vector<Layer> layers_;
  std::vector<float> classifier_, classifier_bias_;  // padded to a multiple of 16 columns
};

}  // namespace pychunk
