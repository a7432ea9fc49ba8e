// Tokenizers of language models, for Python.
#include <algorithm>

#include "python/bindings.h"
#include "text/categories.h"
#include "tokens/added_tokens.h"
#include "tokens/byte_pair/byte_pair_counter.h"
#include "tokens/length.h"
#include "tokens/sentencepiece/sentencepiece_counter.h"

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

// The counts of a Python object, which is called one call at a time, because each call takes the lock.
class CountedByFunction : public CountedText {
 public:
  CountedByFunction(const py::object& tokenizer, std::string_view text) : CountedText(text), tokenizer_(tokenizer) {}
  int64_t count(int64_t begin, int64_t end) override {
    const int64_t bounds[] = {begin, end};
    int64_t found = 0;
    count(bounds, 1, &found);
    return found;
  }
  void count(const int64_t* bounds, size_t n, int64_t* counts) override {
    const Locked locked;
    const auto size = static_cast<size_t>(bounds[n] - bounds[0]);
    Array<int64_t> own(static_cast<py::ssize_t>(n + 1));
    for (size_t i = 0; i <= n; ++i) own.mutable_data()[i] = bounds[i] - bounds[0];
    const auto found =
        tokenizer_.attr("count_spans")(py::bytes(text_.data() + bounds[0], size), own).cast<Array<int64_t>>();
    PYCHUNK_CHECK(found.size() == static_cast<py::ssize_t>(n), "the tokenizer must return ", n, " counts, got ",
                  found.size());
    std::copy_n(found.data(), n, counts);
  }

 private:
  const py::object& tokenizer_;
};

class FunctionCounter : public TokenCounter {
 public:
  explicit FunctionCounter(py::object tokenizer)
      // The object is deleted under the lock, whichever thread releases it last.
      : tokenizer_(new py::object(std::move(tokenizer)), [](py::object* object) {
          const Locked locked;
          delete object;
        }) {}
  std::unique_ptr<CountedText> read(std::string_view text) const override {
    return std::make_unique<CountedByFunction>(*tokenizer_, text);
  }

 private:
  const std::shared_ptr<py::object> tokenizer_;
};

Array<int64_t> count_spans(const TokenCounter& counter, const Array<uint8_t>& text, const Array<int64_t>& bounds) {
  check_offsets(view(bounds), text.size(), "bounds");
  Array<int64_t> out(bounds.size() - 1);
  int64_t* const counts = out.mutable_data();
  without_gil([&] {
    counter.read(text_of(text))->count(bounds.data(), static_cast<size_t>(bounds.size()) - 1, counts);
    return true;
  });
  return out;
}

Array<int64_t> count_each(const TokenCounter& counter, const Array<uint8_t>& text, const Array<int64_t>& bounds) {
  check_offsets(view(bounds), text.size(), "bounds");
  Array<int64_t> out(bounds.size() - 1);
  int64_t* const counts = out.mutable_data();
  without_gil([&] {
    for (py::ssize_t i = 0; i + 1 < bounds.size(); ++i) {
      const int64_t begin = bounds.data()[i], size = bounds.data()[i + 1] - begin;
      const std::string_view span = text_of(text).substr(static_cast<size_t>(begin), static_cast<size_t>(size));
      counts[i] = size == 0 ? 0 : counter.read(span)->count(0, size);
    }
    return true;
  });
  return out;
}

}  // namespace

void bind_tokens(py::module_& m) {
  py::class_<TokenCounter>(m, "TokenCounter", "A tokenizer that counts tokens; see csrc/tokens/token_counter.h.")
      .def(py::init([](const WordPiece& tokenizer) { return counter_of(tokenizer); }), py::arg("tokenizer"),
           py::keep_alive<1, 2>())
      .def(py::init([](const BytePair& tokenizer) { return counter_of(tokenizer); }), py::arg("tokenizer"),
           py::keep_alive<1, 2>())
      .def(py::init([](const SentencePiece& tokenizer) { return counter_of(tokenizer); }), py::arg("tokenizer"),
           py::keep_alive<1, 2>())
      .def(py::init([](const BytePair& tokenizer, std::vector<std::string> added,
                       std::optional<std::shared_ptr<Folding>> nfc, std::vector<std::string> normalized) {
             return counter_after({std::move(added), nfc.value_or(nullptr), std::move(normalized)},
                                  counter_of(tokenizer));
           }),
           py::arg("tokenizer"), py::arg("added"), py::arg("nfc"), py::arg("normalized"), py::keep_alive<1, 2>(),
           "Make a counter that takes the steps of csrc/tokens/added_tokens.h before it counts.")
      .def_static(
          "of_function",
          [](py::object tokenizer) -> std::unique_ptr<TokenCounter> {
            return std::make_unique<FunctionCounter>(std::move(tokenizer));
          },
          py::arg("tokenizer"),
          "Make a counter that calls tokenizer.count_spans(text, bounds): bytes of UTF-8, and int64[n + 1]. It returns "
          "the tokens of each span without white space at its ends, int64[n].")
      .def("count", &count_spans, py::arg("text").noconvert(), py::arg("bounds").noconvert(),
           "Return the number of tokens of each span [bounds[i], bounds[i + 1]) of valid UTF-8 text (uint8) alone, "
           "without white space at its ends: int64[n].")
      .def("count_each", &count_each, py::arg("text").noconvert(), py::arg("bounds").noconvert(),
           "Return the number of tokens of each span alone, with white space at its ends: int64[n].");
  py::class_<BytePair>(m, "BytePair", "Byte-level BPE; see csrc/tokens/byte_pair/byte_pair.h.")
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
