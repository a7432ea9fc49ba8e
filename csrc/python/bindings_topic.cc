// The topic network for Python: its weights, which it keeps alive, and its inputs for sentences, which training reads.
#include <algorithm>
#include <cmath>

#include "common/parallel.h"
#include "document/document.h"
#include "python/bindings.h"
#include "vectors/topic.h"

namespace pychunk {
namespace {

using Parts = std::vector<Array<float>>;

// A network that keeps its arrays alive.
class KeptTopic {
 public:
  // Open a network. parts: vectors, inputs, first, second, bias, out, skip; layers: weights and bias of each.
  KeptTopic(Parts parts, Parts layers, const std::vector<int64_t>& dilations, float out_bias,
            const Array<uint64_t>& words)
      : parts_(std::move(parts)), layers_(std::move(layers)) {
    PYCHUNK_CHECK(parts_.size() == 7 && layers_.size() == 2 * dilations.size(),
                  "a topic head must have seven parts, and weights and a bias for each of ", dilations.size(),
                  " dilations, got ", parts_.size(), " parts and ", layers_.size(), " arrays");
    head_ = {.vectors = matrix(parts_[0], "vectors"),
             .inputs = matrix(parts_[1], "inputs"),
             .first = matrix(parts_[2], "first"),
             .second = matrix(parts_[3], "second"),
             .bias = view(parts_[4]),
             .out = view(parts_[5]),
             .skip = view(parts_[6]),
             .out_bias = out_bias,
             .layers = {},
             .words = TopicWords(view(words))};
    const int64_t channels = head_.inputs.cols, seen = head_.vectors.cols, classes = kTopicWordClasses + words.size();
    for (size_t i = 0; i < dilations.size(); ++i) {
      const TopicLayer layer{matrix(layers_[2 * i], "layer"), view(layers_[2 * i + 1]), dilations[i]};
      PYCHUNK_CHECK(layer.weights.cols == channels && layer.weights.rows % (2 * channels) == channels &&
                        static_cast<int64_t>(layer.bias.size()) == channels && layer.dilation > 0 &&
                        layer.dilation <= 64 && layer.weights.rows <= 64 * channels,
                    "a layer must be [taps * channels, channels] with an odd number of taps below 64, got ",
                    shape_of(layers_[2 * i]), " for ", channels, " channels");
      // The layers multiply the zeros around a document, too.
      PYCHUNK_CHECK(std::all_of(layer.weights.data, layer.weights.data + layer.weights.rows * channels,
                                [](float x) { return std::isfinite(x); }),
                    "the weights of layer ", i, " must be finite, got infinity or NaN: train the model again");
      head_.layers.push_back(layer);
    }
    const auto width = static_cast<size_t>(channels);
    PYCHUNK_CHECK(channels > 0 && channels % 16 == 0 && seen > 0 && seen % 16 == 0 && seen <= channels,
                  "channels must be multiples of 16, got ", channels, " and ", seen);
    PYCHUNK_CHECK(head_.inputs.rows == kTopicInputs && head_.inputs.cols == channels && head_.first.rows == classes &&
                      head_.first.cols == channels && head_.second.rows == classes && head_.second.cols == channels &&
                      head_.bias.size() == width && head_.out.size() == width &&
                      head_.skip.size() == static_cast<size_t>(kTopicInputs),
                  "the parts of a topic head must be [dim, channels], [inputs, channels], [classes, channels] twice, "
                  "[channels] twice and [inputs]");
    for (const uint64_t key : view(words)) PYCHUNK_CHECK(key != 0, "a word must not be empty");
  }
  const TopicHead* head() const { return &head_; }

 private:
  Parts parts_, layers_;
  TopicHead head_;
};

// Return for each sentence of the documents its inputs float32[n, kTopicInputs] and the classes of its first two words.
py::tuple topic_inputs(const Array<uint8_t>& text, const Array<int64_t>& offsets, const Array<int64_t>& starts,
                       const Array<int64_t>& sentence_offsets, const Array<uint8_t>& flags, const Array<float>& vectors,
                       const Array<uint64_t>& words, int threads) {
  const Texts documents = texts(text, offsets);
  const Ragged<int64_t> sentences{view(starts), view(sentence_offsets)};
  check_offsets(sentences.offsets, starts.size(), "sentences");
  const Matrix<const float> rows = matrix(vectors, "vectors");
  PYCHUNK_CHECK(sentences.size() == documents.size() && rows.rows == starts.size() && flags.size() == starts.size(),
                "sentences, flags and vectors must belong to the same documents, got ", starts.size(), " sentences, ",
                flags.size(), " flags and ", rows.rows, " vectors");
  const TopicWords known(view(words));
  std::vector<float> out(static_cast<size_t>(starts.size() * kTopicInputs));
  std::vector<int32_t> classes(static_cast<size_t>(starts.size() * 2));
  without_gil([&] {
    parallel_for(documents.size(), threads, [&](int64_t i) {
      const int64_t begin = sentences.offsets[static_cast<size_t>(i)],
                    end = begin + static_cast<int64_t>(sentences[i].size());
      if (begin == end) return;
      TopicInputs own;
      topic_text_inputs(
          known, {documents[i], sentences[i], view(flags).subspan(static_cast<size_t>(begin), sentences[i].size())},
          own);
      const Rows all(rows.slice(begin, end));
      std::vector<float> mean;
      topic_mean(all, mean);
      topic_cosines(all, mean.data(), 0, end - begin, own.rows.data());
      std::copy(own.rows.begin(), own.rows.end(), out.begin() + begin * kTopicInputs);
      std::copy(own.words.begin(), own.words.end(), classes.begin() + begin * 2);
    });
    return true;
  });
  const auto n = static_cast<py::ssize_t>(starts.size());
  return py::make_tuple(array(std::move(out), {n, kTopicInputs}), array(std::move(classes), {n, 2}));
}

}  // namespace

const TopicHead* topic_head_of(const py::object& kept) {
  return kept.is_none() ? nullptr : kept.cast<const KeptTopic&>().head();
}

void bind_topic(py::module_& m) {
  py::class_<KeptTopic>(
      m, "TopicHead",
      "A network that finds the beginnings of topics from static vectors and the text; see csrc/vectors/topic.h.")
      .def(py::init<Parts, Parts, std::vector<int64_t>, float, Array<uint64_t>>(), py::arg("parts"), py::arg("layers"),
           py::arg("dilations"), py::arg("out_bias"), py::arg("words").noconvert());
  m.def("topic_inputs", &topic_inputs, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("starts").noconvert(), py::arg("sentence_offsets").noconvert(), py::arg("flags").noconvert(),
        py::arg("vectors").noconvert(), py::arg("words").noconvert(), py::arg("threads") = 1,
        "Return (inputs float32[n, 17], classes int32[n, 2]) of the n sentences of k documents; see "
        "csrc/vectors/topic_inputs.h.");
}

}  // namespace pychunk
