// Transformers, for Python: rows and batches in, a BERT whose products are of bytes, hidden states pooled. Other models
// run elsewhere.
#include <algorithm>
#include <cmath>
#include <memory>

#include "bert/bert.h"
#include "python/bindings.h"
#include "tokens/transformer_batch.h"
#include "vectors/pooling.h"

namespace pychunk {
namespace {

// The rows of a model's input with the arrays that they point to, which they keep alive.
struct KeptRows {
  Array<int32_t> ids;
  Array<int64_t> offsets, first;
  Optional<int64_t> second;
  Array<int32_t> prefix, middle, suffix;
  int32_t pad;
  int64_t max_length;

  ModelRows rows() const {
    return {{view(ids), view(offsets)}, view(first), second ? view(*second) : std::span<const int64_t>{}};
  }
  Template shape() const { return {view(prefix), view(middle), view(suffix), pad, max_length}; }

  void check() const {
    check_offsets(view(offsets), ids.size(), "offsets");
    const int64_t sentences = offsets.size() - 1;
    const auto inside = [&](const Array<int64_t>& numbers, const char* name) {
      for (const int64_t s : view(numbers))
        PYCHUNK_CHECK(s >= 0 && s < sentences, name, " must be from 0 to ", sentences - 1, ", got ", s);
    };
    inside(first, "first");
    PYCHUNK_CHECK(!second || second->size() == first.size(), "second must have the length ", first.size(),
                  ", as first has, got ", second ? second->size() : 0);
    if (second) inside(*second, "second");
    PYCHUNK_CHECK(max_length >= shape().special(second.has_value()), "max_length must be at least ",
                  shape().special(second.has_value()), ", the number of special tokens, got ", max_length);
  }
};

Array<int64_t> lengths_of(const KeptRows& kept) {
  Array<int64_t> out(kept.first.size());
  const Unlocked unlocked;
  row_lengths(kept.rows(), kept.shape(), out.mutable_data());
  return out;
}

template <typename Id>
Id* tensor(Optional<Id>& out, const Array<int64_t>& chosen, int64_t width, const char* name) {
  if (!out) return nullptr;
  PYCHUNK_CHECK(out->ndim() == 2 && out->shape(0) == chosen.size() && out->shape(1) == width, name, " must be [",
                chosen.size(), ", ", width, "], got ", shape_of(*out));
  return out->mutable_data();
}

template <typename Id>
void fill_tensors(const KeptRows& kept, const Array<int64_t>& chosen, int64_t width, Optional<Id> ids,
                  Optional<Id> mask, Optional<Id> types) {
  Id* to_ids = tensor(ids, chosen, width, "ids");
  Id* to_mask = tensor(mask, chosen, width, "mask");
  Id* to_types = tensor(types, chosen, width, "types");
  PYCHUNK_CHECK(to_ids != nullptr, "ids must be an array, got None");
  const Unlocked unlocked;
  const ModelRows rows = kept.rows();
  const Template shape = kept.shape();
  const int64_t special = shape.special(!rows.second.empty());
  for (const int64_t row : view(chosen)) {
    PYCHUNK_CHECK(row >= 0 && row < rows.size(), "chosen must be from 0 to ", rows.size() - 1, ", got ", row);
    const Kept tokens = pychunk::kept(rows, row, shape);
    PYCHUNK_CHECK(tokens.first + tokens.second + special <= width, "row ", row, " does not fit in ", width,
                  ", its width must be at least ", tokens.first + tokens.second + special);
  }
  fill(rows, view(chosen), shape, width, to_ids, to_mask, to_types);
}

template <typename T>
void pool_states(const Array<T>& states, const Array<int64_t>& chosen, const Array<int64_t>& lengths,
                 const std::string& pooling, bool unit, Array<float> out) {
  PYCHUNK_CHECK(states.ndim() == 3, "states must have three dimensions, got ", states.ndim());
  PYCHUNK_CHECK(out.ndim() == 2 && out.shape(1) == states.shape(2), "out must be [n, ", states.shape(2), "], got ",
                shape_of(out));
  PYCHUNK_CHECK(chosen.size() == states.shape(0), "chosen must name ", states.shape(0), " rows, got ", chosen.size());
  PYCHUNK_CHECK(lengths.size() == out.shape(0), "lengths must hold ", out.shape(0), " entries, got ", lengths.size());
  PYCHUNK_CHECK(pooling == "mean" || pooling == "cls", "pooling must be mean or cls, got '", pooling, "'");
  for (const int64_t row : view(chosen)) {
    PYCHUNK_CHECK(row >= 0 && row < out.shape(0), "chosen must be from 0 to ", out.shape(0) - 1, ", got ", row);
    const int64_t length = pooling == "cls" ? 1 : lengths.at(row);
    PYCHUNK_CHECK(length > 0 && length <= states.shape(1), "lengths must be from 1 to ", states.shape(1),
                  ", the width of states, got ", length, " for row ", row);
  }
  float* to = out.mutable_data();
  const Unlocked unlocked;
  using Stored = std::conditional_t<std::is_same_v<T, float>, float, Half>;
  pool(reinterpret_cast<const Stored*>(states.data()), states.shape(1), states.shape(2), view(chosen), view(lengths),
       pooling == "cls" ? Pooling::kCls : Pooling::kMean, unit, to);
}

template <typename T>
void probabilities(const Array<T>& logits, const Array<int64_t>& chosen, int64_t wanted, Array<float> out) {
  PYCHUNK_CHECK(logits.ndim() == 2 && logits.shape(0) == chosen.size(), "logits must be [", chosen.size(),
                ", classes], got ", shape_of(logits));
  PYCHUNK_CHECK(wanted >= 0 && wanted < logits.shape(1), "the class must be from 0 to ", logits.shape(1) - 1, ", got ",
                wanted);
  for (const int64_t row : view(chosen))
    PYCHUNK_CHECK(row >= 0 && row < out.size(), "chosen must be from 0 to ", out.size() - 1, ", got ", row);
  using Stored = std::conditional_t<std::is_same_v<T, float>, float, Half>;
  class_probability(reinterpret_cast<const Stored*>(logits.data()), logits.shape(1), wanted, view(chosen),
                    out.mutable_data());
}

// A model, and the arrays that it reads.
struct KeptBert {
  std::vector<Array<float>> arrays;
  BertWeights weights;
  std::unique_ptr<Bert> bert;

  FloatLayer layer(size_t at, size_t in, size_t outs) {
    const bool norm = in == 0;
    const Array<float>&weight = arrays.at(at), &bias = arrays.at(at + 1);
    const auto size = [](const Array<float>& array) { return static_cast<size_t>(array.size()); };
    PYCHUNK_CHECK(size(weight) == (norm ? outs : in * outs) && size(bias) == outs, "array ", at, " must hold ",
                  norm ? outs : in * outs, " numbers and its bias ", outs, ", got ", size(weight), " and ", size(bias));
    return {weight.data(), bias.data()};
  }
};

// The arrays are those of a BertWeights in the order of its fields, and of all its layers in theirs.
KeptBert made_bert(std::vector<Array<float>> arrays, size_t heads, float epsilon, bool tanh, bool first_only) {
  KeptBert kept{std::move(arrays), {}, nullptr};
  BertWeights& w = kept.weights;
  constexpr size_t kOfLayer = 12, kFirst = 4;  // arrays of a layer, and those before the first layer
  PYCHUNK_CHECK(kept.arrays.size() >= kFirst + kOfLayer, "arrays must hold a layer, got ", kept.arrays.size());
  const Array<float>&words = kept.arrays[0], &places = kept.arrays[1];
  PYCHUNK_CHECK(words.ndim() == 2 && places.ndim() == 3 && words.shape(1) == places.shape(2), "words must be [n, dim] ",
                "and places [types, positions, dim], got ", shape_of(words), " and ", shape_of(places));
  constexpr float kLargest = 1e12F;  // A norm squares sums of products, which stay below the largest float32, 3e38.
  for (const Array<float>& each : kept.arrays)
    PYCHUNK_CHECK(std::all_of(each.data(), each.data() + each.size(), [](float x) { return std::abs(x) <= kLargest; }),
                  "weights must be finite, and at most 1e12 in size");
  w.words = words.data();
  w.places = places.data();
  w.vocabulary = static_cast<size_t>(words.shape(0));
  w.types = static_cast<size_t>(places.shape(0));
  w.positions = static_cast<size_t>(places.shape(1));
  w.dim = static_cast<size_t>(words.shape(1));
  w.heads = heads;
  w.epsilon = epsilon;
  w.tanh = tanh;
  w.first_only = first_only;
  const size_t layers = (kept.arrays.size() - kFirst) / kOfLayer, left = (kept.arrays.size() - kFirst) % kOfLayer;
  w.wide = static_cast<size_t>(kept.arrays[kFirst + 7].size());
  PYCHUNK_CHECK(left == 0 || left == 4, "arrays must end with a layer or a head, got ", left, " more");
  PYCHUNK_CHECK(w.vocabulary > 0 && w.types > 0 && w.positions > 0 && heads > 0 && w.dim > 0 && w.dim % heads == 0 &&
                    w.dim / heads % 16 == 0 && w.dim / heads <= 128 && w.wide % 16 == 0 && w.wide > 0 &&
                    w.wide <= 32768,
                "dimensions of heads must be a multiple of 16 up to 128, and inner dimensions one up to 32,768, got ",
                w.dim, " dimensions in ", heads, " heads, and ", w.wide);
  w.norm = kept.layer(2, 0, w.dim);
  for (size_t i = 0; i < layers; ++i) {
    const size_t at = kFirst + i * kOfLayer;
    w.layers.push_back({kept.layer(at, w.dim, 3 * w.dim), kept.layer(at + 2, w.dim, w.dim),
                        kept.layer(at + 4, 0, w.dim), kept.layer(at + 6, w.dim, w.wide),
                        kept.layer(at + 8, w.wide, w.dim), kept.layer(at + 10, 0, w.dim)});
  }
  if (left > 0) {
    const size_t at = kept.arrays.size() - left;
    w.classes = static_cast<size_t>(kept.arrays.back().size());
    PYCHUNK_CHECK(w.classes > 0, "a head must have classes, got 0");
    w.pooler = kept.layer(at, w.dim, w.dim);
    w.classifier = kept.layer(at + 2, w.dim, w.classes);
  }
  kept.bert = without_gil([&] { return std::make_unique<Bert>(w); });
  return kept;
}

Array<float> run_bert(const KeptBert& kept, const Array<int32_t>& ids, const Array<int32_t>& lengths,
                      const Optional<int32_t>& types) {
  const BertWeights& w = kept.weights;
  PYCHUNK_CHECK(ids.ndim() == 2 && ids.shape(0) == lengths.size(), "ids must be [", lengths.size(), ", width], got ",
                shape_of(ids));
  PYCHUNK_CHECK(!types || (types->ndim() == 2 && types->shape(0) == ids.shape(0) && types->shape(1) == ids.shape(1)),
                "types must have the shape of ids");
  const auto width = static_cast<size_t>(ids.shape(1));
  PYCHUNK_CHECK(width <= w.positions, "rows must have at most ", w.positions, " tokens, got ", width);
  const auto below = [](const Array<int32_t>& numbers, size_t limit, const char* name) {
    for (const int32_t each : view(numbers))
      PYCHUNK_CHECK(each >= 0 && static_cast<size_t>(each) < limit, name, " must be from 0 to ", limit - 1, ", got ",
                    each);
  };
  below(ids, w.vocabulary, "ids");
  if (types) below(*types, w.types, "types");
  for (const int32_t each : view(lengths))
    PYCHUNK_CHECK(each > 0 && static_cast<size_t>(each) <= width, "lengths must be from 1 to ", width, ", got ", each);
  std::vector<py::ssize_t> shape{ids.shape(0)};
  if (w.classes > 0) {
    shape.push_back(static_cast<py::ssize_t>(w.classes));
  } else {
    shape.push_back(w.first_only ? 1 : ids.shape(1));
    shape.push_back(static_cast<py::ssize_t>(w.dim));
  }
  Array<float> out(shape);
  float* to = out.mutable_data();
  const Unlocked unlocked;
  kept.bert->forward(ids.data(), types ? types->data() : nullptr, view(lengths), width, to);
  return out;
}

}  // namespace

void bind_encode(py::module_& m) {
  py::class_<KeptBert>(m, "Bert", "A BERT whose products are of bytes; see csrc/bert/bert.h.")
      .def(py::init(&made_bert), py::arg("arrays"), py::arg("heads"), py::arg("epsilon"), py::arg("tanh"),
           py::arg("first_only"))
      .def("forward", &run_bert, py::arg("ids").noconvert(), py::arg("lengths").noconvert(),
           py::arg("types").noconvert(),
           "Return the states float32[rows, width or 1, dim], or logits [rows, classes], of rows of tokens.");
  py::class_<KeptRows>(
      m, "ModelRows", "The sentences, or pairs of them, that a transformer reads; see csrc/tokens/transformer_batch.h.")
      .def(py::init([](Array<int32_t> ids, Array<int64_t> offsets, Array<int64_t> first, Optional<int64_t> second,
                       Array<int32_t> prefix, Array<int32_t> middle, Array<int32_t> suffix, int32_t pad,
                       int64_t max_length) {
             KeptRows rows{std::move(ids),    std::move(offsets), std::move(first),  std::move(second),
                           std::move(prefix), std::move(middle),  std::move(suffix), pad,
                           max_length};
             rows.check();
             return rows;
           }),
           py::arg("ids").noconvert(), py::arg("offsets").noconvert(), py::arg("first").noconvert(),
           py::arg("second").noconvert(), py::arg("prefix").noconvert(), py::arg("middle").noconvert(),
           py::arg("suffix").noconvert(), py::arg("pad"), py::arg("max_length"))
      .def("lengths", &lengths_of, "Return the number of tokens of every row, including special tokens: int64[n].")
      .def("fill", &fill_tensors<int32_t>, py::arg("chosen").noconvert(), py::arg("width"), py::arg("ids").noconvert(),
           py::arg("mask").noconvert(), py::arg("types").noconvert())
      .def("fill", &fill_tensors<int64_t>, py::arg("chosen").noconvert(), py::arg("width"), py::arg("ids").noconvert(),
           py::arg("mask").noconvert(), py::arg("types").noconvert(),
           "Write the chosen rows, padded to width, into int32 or int64 tensors [rows, width]; mask and types may be "
           "None.");
  m.def(
      "plan_batches",
      [](const Array<int64_t>& lengths, int64_t budget, int64_t least) {
        PYCHUNK_CHECK(budget > 0, "budget must be positive, got ", budget);
        Batches batches = without_gil([&] { return plan_batches(view(lengths), budget, least); });
        return py::make_tuple(array(std::move(batches.order)), array(std::move(batches.borders)));
      },
      py::arg("lengths").noconvert(), py::arg("budget"), py::arg("least"),
      "Return (order int64[n], offsets int64[b + 1]): the row numbers batch by batch, the longest row of a batch "
      "first.");
  m.def("pool", &pool_states<float>, py::arg("states").noconvert(), py::arg("chosen").noconvert(),
        py::arg("lengths").noconvert(), py::arg("pooling"), py::arg("unit"), py::arg("out").noconvert());
  m.def("pool_half", &pool_states<uint16_t>, py::arg("states").noconvert(), py::arg("chosen").noconvert(),
        py::arg("lengths").noconvert(), py::arg("pooling"), py::arg("unit"), py::arg("out").noconvert(),
        "Pool float16 states, given as their bits (uint16), as pool() does.");
  m.def("class_probability", &probabilities<float>, py::arg("logits").noconvert(), py::arg("chosen").noconvert(),
        py::arg("wanted"), py::arg("out").noconvert(),
        "Write the softmax of each row of logits at one class to out[chosen].");
  m.def("class_probability_half", &probabilities<uint16_t>, py::arg("logits").noconvert(),
        py::arg("chosen").noconvert(), py::arg("wanted"), py::arg("out").noconvert());
}

}  // namespace pychunk
