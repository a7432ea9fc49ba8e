// Tokenizers of language models, for Python.
#include "python/bindings.h"
#include "text/categories.h"
#include "tokens/byte_pair.h"

namespace pychunk {
namespace {

std::string_view text_of(const Array<uint8_t>& text) {
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())};
}

std::unique_ptr<BytePair> make_byte_pair(const py::bytes& bytes, const Array<int64_t>& offsets,
                                         const Array<int32_t>& ids, const Optional<int32_t>& merges, bool whole_words,
                                         const std::string& pattern) {
  const auto all = std::string_view(bytes);
  check_offsets(view(offsets), static_cast<int64_t>(all.size()), "offsets");
  PYCHUNK_CHECK(ids.size() == offsets.size() - 1, "ids must hold ", offsets.size() - 1, " entries, got ", ids.size());
  const BytePairFile file{
      all,        view(offsets), view(ids), merges ? view(*merges) : std::span<const int32_t>{}, !merges.has_value(),
      whole_words};
  return without_gil([&] { return std::make_unique<BytePair>(file, pattern); });
}

py::tuple encode_byte_pair(const BytePair& tokenizer, const Array<uint8_t>& text, const Array<int64_t>& bounds,
                           bool ids, bool byte_spans, int threads) {
  check_offsets(view(bounds), text.size(), "bounds");
  PYCHUNK_CHECK(ids || !byte_spans, "byte_spans needs ids");
  Tokens tokens =
      without_gil([&] { return tokenizer.encode(text_of(text), view(bounds), {ids, byte_spans}, threads); });
  const int64_t count = tokens.ids.size;
  return py::make_tuple(ids ? py::object(array(std::move(tokens.ids))) : py::none(), array(std::move(tokens.offsets)),
                        byte_spans ? py::object(array(std::move(tokens.byte_spans), {count, 2})) : py::none(),
                        array(std::move(tokens.counts)));
}

}  // namespace

void bind_tokens(py::module_& m) {
  py::class_<BytePair>(m, "BytePair", "Byte-level BPE; see csrc/tokens/byte_pair.h.")
      .def(py::init(&make_byte_pair), py::arg("tokens"), py::arg("offsets").noconvert(), py::arg("ids").noconvert(),
           py::arg("merges"), py::arg("whole_words"), py::arg("pattern"))
      .def("encode", &encode_byte_pair, py::arg("text").noconvert(), py::arg("bounds").noconvert(),
           py::arg("ids") = true, py::arg("byte_spans") = false, py::arg("threads") = 1,
           "Tokenize the spans [bounds[i], bounds[i + 1]) of valid UTF-8 text (uint8), each by itself. Returns ids "
           "int32[t] or None, offsets int64[n + 1] into them, byte spans int64[t, 2] or None, and the number of tokens "
           "of each span, int64[n].")
      .def(
          "pretokens",
          [](const BytePair& tokenizer, const Array<uint8_t>& text) {
            return array(without_gil([&] { return tokenizer.pretokens(text_of(text)); }));
          },
          py::arg("text").noconvert(), "Return the ends of the pre-tokens of valid UTF-8 text, in bytes: int64[p].")
      .def_property_readonly("vocabulary_size", &BytePair::vocabulary_size);
  m.def("category_runs", &category_runs,
        "Return the categories of code points that patterns of tokenizers distinguish, as runs of three numbers; see "
        "csrc/text/categories.h.");
}

}  // namespace pychunk
