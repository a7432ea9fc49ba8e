#include "bert/bert.h"

#include <algorithm>
#include <cmath>

#include "common/dispatch.h"

namespace pychunk {
namespace {

// The tokens that go through a layer together: enough that its weights are read from memory once for many products, and
// few enough that what a layer computes, 1 MB at 384 dimensions, stays in a core's cache.
constexpr size_t kTokens = 128;

constexpr size_t groups_of(size_t in) { return (in + kGroupBytes - 1) / kGroupBytes; }
constexpr size_t padded(size_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns; }

}  // namespace

// Rows as bytes, with the memory that they need.
struct Bert::RowBytes {
  std::vector<int8_t> bytes;
  std::vector<float> scales;
  std::vector<int32_t> sums;

  Int8Rows room(size_t rows, size_t in) {
    const size_t groups = groups_of(in);
    bytes.resize(std::max(bytes.size(), rows * in));
    scales.resize(std::max(scales.size(), rows * groups));
    sums.resize(std::max(sums.size(), rows * groups));
    return {bytes.data(), scales.data(), sums.data(), rows, in, groups};
  }
  void quantize(size_t row, const float* x, size_t in, const float* factors) {
    const size_t groups = groups_of(in);
    kernels().quantize_row(x, factors, in, bytes.data() + row * in, scales.data() + row * groups,
                           sums.data() + row * groups);
  }
  Int8Rows quantized(const float* x, size_t rows, size_t in, const float* factors) {
    const Int8Rows made = room(rows, in);
    for (size_t r = 0; r < rows; ++r) quantize(r, x + r * in, in, factors);
    return made;
  }
};

// What the tokens of some rows need on their way through the layers.
struct Bert::Room {
  std::vector<float> states, qkv, mixed, wide, added;
  std::vector<size_t> begins;  // of the rows in `states`, and the end of the last one
  RowBytes bytes;
  // of one head of one row
  RowBytes queries, keys, shares;
  std::vector<float> scores, columns;
  std::vector<uint8_t> packed;
  std::vector<Highest>* highest = nullptr;  // of each layer, raised by its inputs, if set
};

Bert::Bert(const BertWeights& weights) : weights_(weights) {
  const size_t dim = weights_.dim, classes = weights_.classes;
  if (classes > 0) {
    const size_t outs = padded(classes);
    classifier_.assign(dim * outs, 0.0f);
    classifier_bias_.assign(outs, 0.0f);
    for (size_t c = 0; c < dim; ++c)
      std::copy_n(weights_.classifier.weight + c * classes, classes, classifier_.data() + c * outs);
    std::copy_n(weights_.classifier.bias, classes, classifier_bias_.data());
  }
  std::vector<Highest> highest(weights_.layers.size());
  layers_ = pack(highest);
  const size_t length = std::min<size_t>(32, weights_.positions);
  Room room;
  room.highest = &highest;
  uint64_t state = 1;
  for (int row = 0; row < 16; ++row) {
    std::vector<int32_t> ids(length);
    for (int32_t& id : ids) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      id = static_cast<int32_t>((state >> 33) % weights_.vocabulary);
    }
    room.begins = {0, length};
    room.states.resize(length * dim);
    embed(ids.data(), nullptr, length, room.states.data());
    for (size_t i = 0; i < layers_.size(); ++i) run_layer(i, room);
  }
  layers_ = pack(highest);
}

std::vector<Bert::Layer> Bert::pack(const std::vector<Highest>& highest) const {
  const size_t dim = weights_.dim;
  std::vector<Layer> layers;
  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    const BertLayerWeights& own = weights_.layers[i];
    Layer& layer = layers.emplace_back();
    const auto add = [&](Product product, const FloatLayer& from, size_t in, size_t outs) {
      // The square root of the highest input over the highest weight, for each number of the input.
      std::vector<float> factors, inverse;
      for (size_t c = 0; c < highest[i][product].size(); ++c) {
        float most = 0.0f;
        for (size_t o = 0; o < outs; ++o) most = std::max(most, std::fabs(from.weight[c * outs + o]));
        factors.push_back(std::sqrt(std::max(highest[i][product][c], 1e-5f) / std::max(most, 1e-5f)));
        inverse.push_back(1.0f / factors.back());
      }
      layer.push_back({Int8Matrix(from.weight, from.bias, in, outs, factors.empty() ? nullptr : factors.data()),
                       std::move(inverse)});
    };
    add(kQkv, own.qkv, dim, 3 * dim);
    add(kMixed, own.mixed, dim, dim);
    add(kWide, own.wide, dim, weights_.wide);
    add(kNarrow, own.narrow, weights_.wide, dim);
  }
  return layers;
}

void Bert::multiply(size_t layer, Product product, const std::vector<float>& from, size_t rows, Room& room,
                    std::vector<float>& to) const {
  const auto& [matrix, factors] = layers_[layer][product];
  if (room.highest != nullptr && (product == kQkv || product == kWide)) {
    std::vector<float>& most = (*room.highest)[layer][product];
    most.resize(matrix.in, 0.0f);
    for (size_t i = 0; i < rows * matrix.in; ++i) {
      most[i % matrix.in] = std::max(most[i % matrix.in], std::fabs(from[i]));
    }
  }
  const Int8Rows bytes = room.bytes.quantized(from.data(), rows, matrix.in, factors.empty() ? nullptr : factors.data());
  kernels().multiply_int8(bytes, matrix.packed.data(), matrix.outs,
                          {matrix.scales.data(), matrix.outs, matrix.bias.data()}, to.data(), matrix.outs);
}

size_t Bert::size_of_row(size_t width) const {
  if (weights_.classes > 0) return weights_.classes;
  return weights_.first_only ? weights_.dim : width * weights_.dim;
}

void Bert::embed(const int32_t* ids, const int32_t* types, size_t length, float* states) const {
  const size_t dim = weights_.dim;
  for (size_t t = 0; t < length; ++t) {
    const size_t type = types == nullptr ? 0 : static_cast<size_t>(types[t]);
    std::copy_n(weights_.words + static_cast<size_t>(ids[t]) * dim, dim, states + t * dim);
    kernels().add_and_norm(weights_.places + (type * weights_.positions + t) * dim, weights_.norm.weight,
                           weights_.norm.bias, weights_.epsilon, dim, states + t * dim);
  }
}

// Computes what the first `queries` tokens of the row of `length` tokens at `begin` take from all of its tokens.
void Bert::attend(Room& room, size_t begin, size_t length, size_t queries) const {
  const size_t dim = weights_.dim, size = dim / weights_.heads, keys = padded(length);
  const Kernels& run = kernels();
  const float root = 1.0f / std::sqrt(static_cast<float>(size));
  const Int8Rows asked = room.queries.room(queries, size), known = room.keys.room(length, size);
  const Int8Rows shares = room.shares.room(queries, keys);
  room.scores.resize(queries * keys);
  room.columns.assign(std::max(keys, size), 1.0f);
  room.packed.resize(keys * size);
  for (size_t head = 0; head < weights_.heads; ++head) {
    // The queries, keys and values of this head lie `dim` numbers apart.
    const float* own = room.qkv.data() + begin * 3 * dim + head * size;
    for (size_t q = 0; q < queries; ++q) room.queries.quantize(q, own + q * 3 * dim, size, nullptr);
    for (size_t t = 0; t < length; ++t) {
      room.keys.quantize(t, own + t * 3 * dim + dim, size, nullptr);
      room.columns[t] = known.scales[t] * root;
    }
    run.pack_columns(known.bytes, length, size, room.packed.data());
    run.multiply_int8(asked, room.packed.data(), keys, {room.columns.data(), 0, nullptr}, room.scores.data(), keys);
    for (size_t q = 0; q < queries; ++q)
      run.softmax_row(room.scores.data() + q * keys, length, room.shares.bytes.data() + q * keys,
                      room.shares.scales.data() + q * shares.groups, room.shares.sums.data() + q * shares.groups);
    run.pack_rows(own + 2 * dim, 3 * dim, length, size, room.columns.data(), room.packed.data());
    run.multiply_int8(shares, room.packed.data(), size, {room.columns.data(), 0, nullptr},
                      room.mixed.data() + begin * dim + head * size, dim);
  }
}

void Bert::run_layer(size_t number, Room& room) const {
  const BertLayerWeights& own = weights_.layers[number];
  const size_t dim = weights_.dim, rows = room.begins.size() - 1;
  const bool first = number + 1 == layers_.size() && (weights_.first_only || weights_.classes > 0);
  size_t tokens = room.begins.back();
  const Kernels& run = kernels();
  const auto norm = [&](const FloatLayer& with) {
    for (size_t t = 0; t < tokens; ++t)
      run.add_and_norm(room.added.data() + t * dim, with.weight, with.bias, weights_.epsilon, dim,
                       room.states.data() + t * dim);
  };

  room.qkv.resize(tokens * 3 * dim);
  room.mixed.resize(tokens * dim);
  room.added.resize(tokens * dim);
  multiply(number, kQkv, room.states, tokens, room, room.qkv);
  for (size_t r = 0; r < rows; ++r) {
    const size_t length = room.begins[r + 1] - room.begins[r];
    attend(room, room.begins[r], length, first ? 1 : length);
  }
  if (first) {  // From here on, only the first token of each row counts.
    for (size_t r = 0; r < rows; ++r) {
      std::copy_n(room.mixed.data() + room.begins[r] * dim, dim, room.mixed.data() + r * dim);
      std::copy_n(room.states.data() + room.begins[r] * dim, dim, room.states.data() + r * dim);
    }
    tokens = rows;
  }
  multiply(number, kMixed, room.mixed, tokens, room, room.added);
  norm(own.mixed_norm);
  room.wide.resize(tokens * weights_.wide);
  multiply(number, kWide, room.states, tokens, room, room.wide);
  run.gelu(room.wide.data(), tokens * weights_.wide, weights_.tanh);
  multiply(number, kNarrow, room.wide, tokens, room, room.added);
  norm(own.norm);
}

// Computes logits from the states of first tokens, in float32.
void Bert::finish(const Room& room, size_t rows, float* out) const {
  const size_t dim = weights_.dim, classes = weights_.classes, outs = padded(classes);
  const Kernels& run = kernels();
  std::vector<float> pooled(rows * dim), logits(rows * outs);
  for (size_t r = 0; r < rows; ++r) {
    std::copy_n(weights_.pooler.bias, dim, pooled.data() + r * dim);
    std::copy_n(classifier_bias_.data(), outs, logits.data() + r * outs);
  }
  run.add_products(room.states.data(), rows, dim, dim, weights_.pooler.weight, dim, pooled.data());
  // tanh(x) = 1 - 2 / (exp(2 x) + 1)
  for (float& each : pooled) each *= 2.0f;
  run.exponentials(pooled.data(), pooled.size());
  for (float& each : pooled) each = 1.0f - 2.0f / (each + 1.0f);
  run.add_products(pooled.data(), rows, dim, dim, classifier_.data(), outs, logits.data());
  for (size_t r = 0; r < rows; ++r) std::copy_n(logits.data() + r * outs, classes, out + r * classes);
}

void Bert::forward(const int32_t* ids, const int32_t* types, std::span<const int32_t> lengths, size_t width,
                   float* out) const {
  const size_t dim = weights_.dim, size = size_of_row(width);
  Room room;
  for (size_t row = 0; row < lengths.size();) {
    room.begins = {0};
    size_t end = row;
    while (end < lengths.size() && (end == row || room.begins.back() + static_cast<size_t>(lengths[end]) <= kTokens))
      room.begins.push_back(room.begins.back() + static_cast<size_t>(lengths[end++]));
    const size_t rows = end - row;
    room.states.resize(room.begins.back() * dim);
    for (size_t r = 0; r < rows; ++r)
      embed(ids + (row + r) * width, types == nullptr ? nullptr : types + (row + r) * width,
            static_cast<size_t>(lengths[row + r]), room.states.data() + room.begins[r] * dim);
    for (size_t i = 0; i < layers_.size(); ++i) run_layer(i, room);
    float* to = out + row * size;
    if (weights_.classes > 0) {
      finish(room, rows, to);
    } else if (weights_.first_only) {
      std::copy_n(room.states.data(), rows * dim, to);
    } else {
      for (size_t r = 0; r < rows; ++r) {
        const size_t used = (room.begins[r + 1] - room.begins[r]) * dim;
        std::copy_n(room.states.data() + room.begins[r] * dim, used, to + r * size);
        std::fill(to + r * size + used, to + (r + 1) * size, 0.0f);
      }
    }
    row = end;
  }
}

}  // namespace pychunk
