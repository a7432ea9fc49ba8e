// The SentencePiece tokenizers, for Python.
#include "python/bindings.h"
#include "tokens/sentencepiece/sentencepiece.h"

namespace pychunk {
namespace {

PieceRules rules_from(const std::string& name) {
  if (name == "tokenizers") return PieceRules::kTokenizers;
  PYCHUNK_CHECK(name == "sentencepiece", "rules must be tokenizers or sentencepiece, got '", name, "'");
  return PieceRules::kSentencePiece;
}

PieceModel model_from(const std::string& name) {
  if (name == "unigram") return PieceModel::kUnigram;
  PYCHUNK_CHECK(name == "bpe", "model must be unigram or bpe, got '", name, "'");
  return PieceModel::kBytePair;
}

PiecePrefix prefix_from(const std::string& name) {
  if (name == "never") return PiecePrefix::kNever;
  if (name == "first") return PiecePrefix::kFirst;
  PYCHUNK_CHECK(name == "always", "prefix must be never, first or always, got '", name, "'");
  return PiecePrefix::kAlways;
}

TokenFields fields_from(const std::string& name) {
  if (name == "counts") return TokenFields::kCounts;
  if (name == "ids") return TokenFields::kIds;
  PYCHUNK_CHECK(name == "byte_spans", "fields must be counts, ids or byte_spans, got '", name, "'");
  return TokenFields::kByteSpans;
}

SentencePiece make_sentencepiece(std::vector<std::string> pieces, std::vector<double> scores,
                                 std::vector<uint8_t> kinds, const std::string& rules, const std::string& model,
                                 const py::bytes& character_map, bool join_spaces, bool strip_left, bool strip_right,
                                 bool split_at_white, const std::string& prefix, int32_t unknown,
                                 std::vector<int32_t> bytes, bool cache) {
  SentencePieceOptions options{rules_from(rules),
                               model_from(model),
                               std::string(character_map),
                               join_spaces,
                               strip_left,
                               strip_right,
                               split_at_white,
                               prefix_from(prefix),
                               unknown,
                               std::move(bytes),
                               cache};
  return without_gil(
      [&] { return SentencePiece(std::move(pieces), std::move(scores), std::move(kinds), std::move(options)); });
}

py::tuple encode_pieces(const SentencePiece& tokenizer, const Array<uint8_t>& text, const Array<int64_t>& bounds,
                        const std::string& fields, bool trims, int threads) {
  check_offsets(view(bounds), text.size(), "bounds");
  const TokenFields wanted = fields_from(fields);
  Tokens tokens = without_gil([&] {
    return tokenize(tokenizer, {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())},
                    view(bounds), trims ? SpanEnds::kTrimmed : SpanEnds::kWhole, wanted, threads);
  });
  const int64_t count = tokens.ids.size;
  return py::make_tuple(
      array(std::move(tokens.ids)), array(std::move(tokens.offsets)), array(std::move(tokens.counts)),
      wanted == TokenFields::kByteSpans ? py::object(array(std::move(tokens.byte_spans), {count, 2})) : py::none());
}

}  // namespace

void bind_sentencepiece(py::module_& m) {
  py::class_<SentencePiece>(m, "SentencePiece",
                            "A SentencePiece tokenizer; see csrc/tokens/sentencepiece/sentencepiece.h.")
      .def(py::init(&make_sentencepiece), py::arg("pieces"), py::arg("scores"), py::arg("kinds"), py::arg("rules"),
           py::arg("model"), py::arg("character_map"), py::arg("join_spaces"), py::arg("strip_left"),
           py::arg("strip_right"), py::arg("split_at_white"), py::arg("prefix"), py::arg("unknown"), py::arg("bytes"),
           py::arg("cache"))
      .def("encode", &encode_pieces, py::arg("text").noconvert(), py::arg("bounds").noconvert(), py::arg("fields"),
           py::arg("trims"), py::arg("threads"),
           "Return (ids, offsets, counts, byte spans) of consecutive spans of a text, without the white space at their "
           "ends if `trims`. The ids are empty for the "
           "fields \"counts\", and the byte spans are None except for \"byte_spans\".")
      .def_property_readonly("vocabulary_size", &SentencePiece::vocabulary_size);
}

}  // namespace pychunk
