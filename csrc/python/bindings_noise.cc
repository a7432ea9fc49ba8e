// The features and the network that find noise in pages, for Python.
#include "parsing/noise_features.h"
#include "parsing/noise_names.h"
#include "parsing/noise_net.h"
#include "python/bindings.h"

namespace pychunk {
namespace {

// Check that each of the values is at least `least` and below `end`.
void check_range(std::span<const int64_t> values, int64_t least, int64_t end, const char* name) {
  for (const int64_t value : values) {
    PYCHUNK_CHECK(value >= least && value < end, name, " must be between ", least, " and ", end - 1, ", got ", value);
  }
}

py::tuple columns_of_noise(const Array<uint8_t>& text, const Array<int64_t>& start, const Array<int64_t>& end,
                           const Array<int8_t>& kind, const Array<int16_t>& level, int64_t kinds,
                           const Array<int32_t>& element, const Array<int32_t>& text_chars,
                           const Array<int32_t>& link_chars, const Array<int16_t>& links, const Array<uint8_t>& hidden,
                           const Array<uint8_t>& told, const Array<int32_t>& parent, const Array<int32_t>& last,
                           const Array<int16_t>& depth, const Array<uint32_t>& names,
                           const Array<int64_t>& name_offsets, const Array<int64_t>& words, const Array<int64_t>& stops,
                           const Array<int64_t>& hashed, const Array<uint8_t>& ends_sentence,
                           const Array<uint32_t>& hashes, const Array<uint32_t>& title) {
  const size_t blocks = view(start).size(), elements = view(parent).size();
  const NoiseBlocks page{
      .text = {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())},
      .start = view(start),
      .end = view_of(end, blocks, "end"),
      .kind = view_of(kind, blocks, "kind"),
      .level = view_of(level, blocks, "level"),
      .kinds = kinds,
      .element = view_of(element, blocks, "element"),
      .text_chars = view_of(text_chars, blocks, "text_chars"),
      .link_chars = view_of(link_chars, blocks, "link_chars"),
      .links = view_of(links, blocks, "links"),
      .hidden = view_of(hidden, blocks, "hidden"),
      .told = view_of(told, blocks, "told"),
      .parent = view(parent),
      .last = view_of(last, elements, "last"),
      .depth = view_of(depth, elements, "depth"),
      .names = {view(names), view_of(name_offsets, elements + 1, "name_offsets")},
      .words = view_of(words, blocks, "words"),
      .stops = view_of(stops, blocks, "stops"),
      .hashed = view_of(hashed, blocks, "hashed"),
      .ends_sentence = view_of(ends_sentence, blocks, "ends_sentence"),
      .hashes = view(hashes),
      .title = view(title),
  };
  check_offsets(page.names.offsets, names.size(), "name_offsets");
  int64_t before = -1, counted = 0;
  for (size_t b = 0; b < blocks; ++b) {
    PYCHUNK_CHECK(page.element[b] > before && page.element[b] < static_cast<int64_t>(elements),
                  "elements of blocks must increase and be below ", elements, ", got ", page.element[b], " after ",
                  before);
    PYCHUNK_CHECK(page.hashed[b] >= 0, "hashed must be 0 or more, got ", page.hashed[b]);
    before = page.element[b], counted += page.hashed[b];
  }
  PYCHUNK_CHECK(counted == hashes.size(), "hashes must have ", counted, " values, got ", hashes.size());
  for (size_t e = 0; e < elements; ++e) {
    PYCHUNK_CHECK(page.parent[e] < static_cast<int64_t>(e) && page.parent[e] >= -1, "the parent of element ", e,
                  " must be an element before it, or -1 for none, got ", page.parent[e]);
    PYCHUNK_CHECK(page.last[e] > static_cast<int64_t>(e) && page.last[e] <= static_cast<int64_t>(elements),
                  "the last of element ", e, " must be from ", e + 1, " to ", elements, ", got ", page.last[e]);
  }
  NoiseColumns found = without_gil([&] { return noise_columns(page); });
  const auto count = static_cast<py::ssize_t>(blocks);
  return py::make_tuple(array(std::move(found.dense), {count, found.width}), array(std::move(found.near), {3, count}),
                        array(std::move(found.path), {kNoisePath, count}),
                        array(std::move(found.above), {kNoiseLevels, count}), array(std::move(found.like)),
                        array(std::move(found.copy)));
}

using Weights = std::pair<Array<int16_t>, Array<int32_t>>;
using WordTable = std::pair<Array<uint32_t>, Array<int16_t>>;

NoiseLayer layer_of(const Weights& given, int64_t inputs, int64_t outputs) {
  const NoiseLayer layer{matrix(given.first, "weights"), view(given.second)};
  PYCHUNK_CHECK(layer.weights.rows > 0, "a layer must have an output, got none");
  PYCHUNK_CHECK(layer.weights.cols == inputs, "a layer takes ", layer.weights.cols, " values, got ", inputs);
  PYCHUNK_CHECK(layer.weights.rows == given.second.size() && (outputs == 0 || layer.weights.rows == outputs),
                "a layer must have ", outputs == 0 ? layer.weights.rows : outputs, " outputs and as many biases, got ",
                layer.weights.rows, " and ", given.second.size());
  return layer;
}

NoiseWords word_table_of(const WordTable& given) {
  const NoiseWords words{view(given.first), matrix(given.second, "vectors")};
  PYCHUNK_CHECK(words.vectors.rows == given.first.size(), given.first.size(), " words need one vector each, got ",
                words.vectors.rows, " vectors");
  return words;
}

std::unique_ptr<NoiseNetwork> noise_network(const std::vector<WordTable>& vocabulary,
                                            const std::vector<int64_t>& neighbours, const std::vector<int64_t>& windows,
                                            const std::vector<std::vector<Weights>>& nets, int64_t groups) {
  PYCHUNK_CHECK(vocabulary.size() == 4, "a vocabulary must have 4 tables, got ", vocabulary.size());
  PYCHUNK_CHECK(!nets.empty(), "a network must have at least one net, got none");
  PYCHUNK_CHECK(groups >= 0, "groups must be 0 or more, got ", groups);
  const NoiseVocabulary words{word_table_of(vocabulary[0]), word_table_of(vocabulary[1]), word_table_of(vocabulary[2]),
                              word_table_of(vocabulary[3])};
  PYCHUNK_CHECK(words.path.vectors.rows == words.near.vectors.rows,
                "the tables near and path must have the same number of words, got ", words.near.vectors.rows, " and ",
                words.path.vectors.rows);
  const auto parts = static_cast<int64_t>(neighbours.size() + windows.size()) + groups + 2;
  std::vector<NoiseNet> layers;
  for (const auto& net : nets) {
    PYCHUNK_CHECK(net.size() == 7, "a net must have 7 layers, got ", net.size());
    NoiseNet& own = layers.emplace_back();
    own.in = layer_of(net[0], matrix(nets[0][0].first, "weights").cols, 0);
    own.share = layer_of(net[1], own.in.weights.rows, 0);
    own.mix = layer_of(net[2], own.in.weights.rows + parts * own.share.weights.rows, 0);
    own.share2 = layer_of(net[3], own.mix.weights.rows, 0);
    own.mix2 = layer_of(net[4], own.mix.weights.rows + parts * own.share2.weights.rows, 0);
    own.out = layer_of(net[5], own.mix.weights.rows, 1);
    own.out2 = layer_of(net[6], own.mix2.weights.rows, 1);
  }
  return std::make_unique<NoiseNetwork>(words, NoiseSurroundings{neighbours, windows}, layers, groups);
}

Array<int64_t> sums_of_noise(const NoiseNetwork& network, const Array<double>& dense, const Array<uint32_t>& names,
                             const Array<int64_t>& name_offsets, const Array<int64_t>& near, const Array<int64_t>& path,
                             const Array<uint32_t>& wording, const Array<int64_t>& wording_rows,
                             const Array<uint32_t>& about, const Array<int64_t>& groups, const Array<double>& weight) {
  const NoisePage page{
      .dense = matrix(dense, "dense"),
      .names = {view(names), view(name_offsets)},
      .near = matrix(near, "near"),
      .path = matrix(path, "path"),
      .wording = view(wording),
      .wording_rows = view_of(wording_rows, view(wording).size(), "wording_rows"),
      .page = view(about),
      .groups = matrix(groups, "groups"),
      .weight = view_of(weight, static_cast<size_t>(matrix(dense, "dense").rows), "weight"),
  };
  check_offsets(page.names.offsets, names.size(), "name_offsets");
  const int64_t blocks = page.dense.rows;
  PYCHUNK_CHECK(page.dense.cols == network.features() && page.groups.rows == network.groups(), "a page must have ",
                network.features(), " features and ", network.groups(), " groups, got ", page.dense.cols, " and ",
                page.groups.rows);
  PYCHUNK_CHECK(page.near.cols == blocks && page.path.cols == blocks && page.groups.cols == blocks,
                "near, path and groups must have ", blocks, " columns, got ", page.near.cols, ", ", page.path.cols,
                " and ", page.groups.cols);
  check_range(view(near), -1, page.names.size(), "near");
  check_range(view(path), -1, page.names.size(), "path");
  check_range(view(wording_rows), 0, blocks, "wording_rows");
  check_range(view(groups), 0, 1 << 30, "groups");
  std::vector<int64_t> found = without_gil([&] { return network.sums(page); });
  return array(std::move(found), {blocks, static_cast<py::ssize_t>(network.nets())});
}

Array<int64_t> reasons_by_names(const Array<uint32_t>& names, const Array<int64_t>& name_offsets,
                                const Array<int32_t>& last, const Array<int32_t>& element,
                                const Array<int32_t>& text_chars, const Array<uint32_t>& known,
                                const Array<int64_t>& reasons, const Array<int64_t>& why) {
  const size_t blocks = view(element).size(), elements = view(last).size();
  const NamedElements page{{view(names), view_of(name_offsets, elements + 1, "name_offsets")},
                           view(last),
                           view(element),
                           view_of(text_chars, blocks, "text_chars")};
  check_offsets(page.names.offsets, names.size(), "name_offsets");
  const NameReasons named{view(known), view_of(reasons, view(known).size(), "reasons")};
  const auto before = view_of(why, blocks, "why");
  std::vector<int64_t> found(before.begin(), before.end());
  return array(without_gil([&] {
    put_reasons(page, named, found);
    return std::move(found);
  }));
}

}  // namespace

void bind_noise(py::module_& m) {
  m.def("noise_columns", &columns_of_noise, py::arg("text").noconvert(), py::arg("start").noconvert(),
        py::arg("end").noconvert(), py::arg("kind").noconvert(), py::arg("level").noconvert(), py::arg("kinds"),
        py::arg("element").noconvert(), py::arg("text_chars").noconvert(), py::arg("link_chars").noconvert(),
        py::arg("links").noconvert(), py::arg("hidden").noconvert(), py::arg("told").noconvert(),
        py::arg("parent").noconvert(), py::arg("last").noconvert(), py::arg("depth").noconvert(),
        py::arg("names").noconvert(), py::arg("name_offsets").noconvert(), py::arg("words").noconvert(),
        py::arg("stops").noconvert(), py::arg("hashed").noconvert(), py::arg("ends_sentence").noconvert(),
        py::arg("hashes").noconvert(), py::arg("title").noconvert(),
        R"(Compute the features of the b blocks of a page; see csrc/parsing/noise_features.h.

Returns (dense float64[b, f], near int64[3, b], path int64[12, b], above int64[5, b], like int64[b], copy int64[b]).)");
  py::class_<NoiseNetwork>(m, "NoiseNetwork", "Nets that tell noise from content; see csrc/parsing/noise_net.h.")
      .def(py::init(&noise_network), py::arg("vocabulary"), py::arg("neighbours"), py::arg("windows"), py::arg("nets"),
           py::arg("groups"))
      .def("sums", &sums_of_noise, py::arg("dense").noconvert(), py::arg("names").noconvert(),
           py::arg("name_offsets").noconvert(), py::arg("near").noconvert(), py::arg("path").noconvert(),
           py::arg("wording").noconvert(), py::arg("wording_rows").noconvert(), py::arg("about").noconvert(),
           py::arg("groups").noconvert(), py::arg("weight").noconvert(),
           "Return the sums of each block, in multiples of 2^-18: int64[b, nets].");
  m.def("put_reasons", &reasons_by_names, py::arg("names").noconvert(), py::arg("name_offsets").noconvert(),
        py::arg("last").noconvert(), py::arg("element").noconvert(), py::arg("text_chars").noconvert(),
        py::arg("known").noconvert(), py::arg("reasons").noconvert(), py::arg("why").noconvert(),
        "Return `why` with the reasons that names of elements give: int64[b]; see csrc/parsing/noise_names.h.");
}

}  // namespace pychunk
