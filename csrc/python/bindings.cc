// The Python module. Only the files of this folder use Python, and none of them does arithmetic.
#include "python/bindings.h"

#include <algorithm>

#include "common/dispatch.h"
#include "common/hash.h"
#include "common/parallel.h"
#include "common/row_hashes.h"
#include "text/abbreviations.h"
#include "text/categories.h"
#include "text/graphemes.h"
#include "text/recursive.h"
#include "text/unicode.h"
#include "text/utf8_text.h"
#include "tokens/tokenization.h"
#include "tokens/wordpiece.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

void bind_text(py::module_& m) {
  m.def(
      "find_invalid_utf8",
      [](const Array<uint8_t>& text) {
        return without_gil([&] { return kernels().find_invalid_utf8(text.data(), static_cast<size_t>(text.size())); });
      },
      py::arg("text").noconvert(), "Return the offset of the first byte that is not part of valid UTF-8, or -1.");
  m.def(
      "count_characters",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets) {
        const Texts documents = texts(text, offsets);
        return array(without_gil([&] {
          std::vector<int64_t> out;
          for (int64_t i = 0; i < documents.size(); ++i) out.push_back(count_characters(documents[i]));
          return out;
        }));
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(),
      "Return the number of characters of each document in valid UTF-8, int64[k].");
  m.def("unicode_tables", [] {
    py::dict tables;
    for (auto& [name, cells] : unicode_tables()) tables[py::str(name)] = py::cast(cells);
    tables["extending"] = py::cast(cluster_extending());
    return tables;
  });
  m.def("word_lists", [] {
    py::dict lists;
    for (const auto& [name, words] : word_lists()) lists[py::str(name)] = py::str(words);
    return lists;
  });
  m.def(
      "hash128",
      [](const py::bytes& data) {
        char hex[32];
        write_hex(hash128(std::string_view(data), 0), hex);
        return std::string(hex, sizeof(hex));
      },
      py::arg("data"), "Return the 128-bit hash as 32 hexadecimal digits (MurmurHash3_x64_128, seed 0).");
  m.def(
      "block_hashes",
      [](const Array<uint8_t>& data, int64_t size, int threads) {
        PYCHUNK_CHECK(data.ndim() == 1 && size >= 1,
                      "data must be a flat array, and a block must have at least one byte");
        const std::string_view bytes(reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.size()));
        const int64_t count = (data.size() + size - 1) / size;
        Array<uint32_t> out(count);
        uint32_t* to = out.mutable_data();
        without_gil([&] {
          block_hashes(bytes, static_cast<size_t>(size), threads, to);
          return true;
        });
        return out;
      },
      py::arg("data").noconvert(), py::arg("size"), py::arg("threads"),
      "Return the low 32 bits of hash128 for each block of `size` bytes: uint32[n].");
  m.def(
      "extend_row_hashes",
      [](const Array<uint8_t>& data, const Array<int64_t>& bounds, const Array<uint64_t>& states, int threads) {
        check_offsets(view(bounds), data.size(), "bounds");
        const auto rows = bounds.size() - 1;
        PYCHUNK_CHECK(states.ndim() == 2 && states.shape(0) == rows && states.shape(1) == 2, "states must be uint64[",
                      rows, ", 2]");
        Array<uint64_t> out({rows, py::ssize_t{2}});
        const auto* from = reinterpret_cast<const Hash128*>(states.data());
        auto* to = reinterpret_cast<Hash128*>(out.mutable_data());
        without_gil([&] {
          extend_row_hashes({reinterpret_cast<const char*>(data.data()), view(bounds)}, from, to, threads);
          return true;
        });
        return out;
      },
      py::arg("data").noconvert(), py::arg("bounds").noconvert(), py::arg("states").noconvert(), py::arg("threads"),
      "Return the hash of each row's state (low, high) and of its bytes in `data`: uint64[n, 2].");
}

void bind_vectors(py::module_& m) {
  m.def(
      "normalized_rows",
      [](const Array<float>& vectors) {
        const auto rows = matrix(vectors, "vectors");
        Array<float> out({rows.rows, rows.cols});
        float* data = out.mutable_data();
        const int64_t bad = without_gil([&] { return normalized(rows, data); });
        return py::make_tuple(out, bad);
      },
      py::arg("vectors").noconvert(),
      "Return float32[n, d] with rows of unit length, and the first row that is not finite or -1; a zero row stays "
      "zero.");
  m.def(
      "dot",
      [](const Array<float>& a, const Array<float>& b) {
        PYCHUNK_CHECK(a.size() == b.size(), "a and b must have the same length, got ", a.size(), " and ", b.size());
        return kernels().dot(a.data(), b.data(), static_cast<size_t>(a.size()));
      },
      py::arg("a").noconvert(), py::arg("b").noconvert(),
      "Return the dot product, computed as a fixed tree of partial sums.");
}

py::tuple encode_spans(const WordPiece& tokenizer, const Array<uint8_t>& text, const Array<int64_t>& bounds,
                       bool byte_spans, int threads) {
  check_offsets(view(bounds), text.size(), "bounds");
  Tokens tokens = without_gil([&] {
    return tokenize(tokenizer, {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())},
                    view(bounds), byte_spans, threads);
  });
  const int64_t count = tokens.ids.size;
  return py::make_tuple(array(std::move(tokens.ids)), array(std::move(tokens.offsets)),
                        byte_spans ? py::object(array(std::move(tokens.byte_spans), {count, 2})) : py::none(),
                        array(std::move(tokens.counts)));
}

void bind_wordpiece(py::module_& m) {
  py::class_<WordPiece>(m, "WordPiece", "BERT's normaliser, pre-tokeniser and WordPiece tokenizer.")
      .def(py::init([](const std::vector<std::string>& vocabulary, bool lowercase, bool strip_accents, bool clean_text,
                       bool handle_chinese_chars, const std::string& unknown, const std::string& prefix,
                       int max_word_characters) {
             return WordPiece(
                 vocabulary,
                 {{lowercase, strip_accents, clean_text, handle_chinese_chars}, unknown, prefix, max_word_characters});
           }),
           py::arg("vocabulary"), py::arg("lowercase") = true, py::arg("strip_accents") = true,
           py::arg("clean_text") = true, py::arg("handle_chinese_chars") = true, py::arg("unknown") = "[UNK]",
           py::arg("prefix") = "##", py::arg("max_word_characters") = 100)
      .def("encode", &encode_spans, py::arg("text").noconvert(), py::arg("bounds").noconvert(),
           py::arg("byte_spans") = false, py::arg("threads") = 1,
           "Tokenize the spans [bounds[i], bounds[i + 1]) of valid UTF-8 text (uint8), each by itself. Returns ids "
           "int32[t], offsets int64[n + 1] into them, byte spans int64[t, 2] or None, and the tokens of each span as "
           "budgets count them, int64[n].")
      .def_property_readonly("vocabulary_size", &WordPiece::vocabulary_size)
      .def_property_readonly("unknown_id", &WordPiece::unknown_id);
}

std::span<const int64_t> rising(const Array<int64_t>& starts, const char* name) {
  PYCHUNK_CHECK(std::is_sorted(view(starts).begin(), view(starts).end()), name, " must not decrease");
  return view(starts);
}

py::tuple split_recursive(const Array<uint8_t>& text, const Array<int64_t>& offsets, int64_t size, int64_t overlap,
                          const std::vector<std::string>& separators, const std::string& unit,
                          const Optional<int64_t>& token_starts) {
  check_offsets(view(offsets), text.size(), "offsets");
  const RecursiveOptions options{.size = size, .overlap = overlap, .unit = unit_from(unit), .separators = separators};
  PYCHUNK_CHECK(options.unit != Unit::kTokens || token_starts, "unit 'tokens' needs token_starts");
  RecursiveInput input{
      .buffer = {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())}, .begin = 0, .end = 0};
  if (token_starts) input.token_starts = rising(*token_starts, "token_starts");
  RecursiveSplitter splitter(options);
  std::vector<Piece> pieces;
  std::vector<int64_t> piece_offsets{0}, spans, sizes;
  without_gil([&] {
    for (py::ssize_t i = 1; i < offsets.size(); ++i) {
      input.begin = offsets.data()[i - 1], input.end = offsets.data()[i];
      splitter.split(input, pieces);
      piece_offsets.push_back(static_cast<int64_t>(pieces.size()));
    }
    for (const Piece& piece : pieces) {
      spans.insert(spans.end(), {piece.start, piece.end});
      sizes.push_back(piece.size);
    }
    return true;
  });
  const auto n = static_cast<py::ssize_t>(pieces.size());
  return py::make_tuple(array(std::move(spans), {n, 2}), array(std::move(piece_offsets)), array(std::move(sizes)));
}

void bind_recursive(py::module_& m) {
  m.def("split_recursive", &split_recursive, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("size"), py::arg("overlap"), py::arg("separators"), py::arg("unit") = "characters",
        py::arg("token_starts").noconvert() = py::none(),
        R"(Split k documents of valid UTF-8 at the strongest separators that keep pieces within `size`.

Args:
    text: uint8[bytes].
    offsets: int64[k + 1]; document i is text[offsets[i]:offsets[i + 1]].
    size, overlap: Lengths in `unit` (characters, words, tokens).
    separators: Literal strings, strongest first, as in LangChain's RecursiveCharacterTextSplitter.
    token_starts: Rising int64 byte offsets into text, which the unit of tokens needs.

Returns:
    (spans int64[n, 2] of bytes in text, piece_offsets int64[k + 1], sizes int64[n] in the unit).

Raises:
    ValueError: An argument is out of range.)");
}

// Create everything that would be created on first use. Python may fork at any time. The child of a fork during such a
// first use would wait for a thread that it does not have.
void prepare() {
  prepare_interrupts();
  prepare_pool();
  prepare_buffers();
  prepare_abbreviations();
  prepare_unicode();
  categories();
  try {
    kernels();
  } catch (const std::runtime_error&) {  // PYCHUNK_ISA is invalid; the call that needs the kernels reports it
  }
}

}  // namespace
}  // namespace pychunk

PYBIND11_MODULE(_core, m) {
  using namespace pychunk;
  prepare();
  // pybind11 loads NumPy's functions at their first use, without the lock and outside our scopes. If Python ended while
  // a daemon thread did this, std::terminate ended the process (in 1 of some 300 runs under load).
  py::dtype::of<uint8_t>();
  m.doc() = "pychunk's native core. Use the functions of the package pychunk instead.";
  m.attr("__version__") = PYCHUNK_VERSION;
  m.def("isa", [] { return kernels().name; }, "Return the name of the instruction set in use.");
  m.def("available_isas", &available_isas, "Return the instruction sets that this CPU supports, the slowest first.");
  m.def("default_threads", &default_threads, "Return the number of threads that a call uses by default.");
  bind_text(m);
  bind_vectors(m);
  bind_wordpiece(m);
  bind_recursive(m);
  bind_segment(m);
  bind_arrow(m);
  bind_encode(m);
  bind_json(m);
  bind_compression(m);
  bind_markup(m);
  bind_html(m);
  bind_noise(m);
  bind_scan(m);
  bind_codes(m);
  bind_topic(m);
  bind_terms(m);
  bind_duplicates(m);
  bind_levels(m);
  bind_cancellation(m);
  bind_tokens(m);
  bind_sentencepiece(m);
}
