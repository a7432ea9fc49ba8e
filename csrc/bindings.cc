// The only file that knows Python: NumPy arrays to views, the GIL released, one call, arrays back. No
// arithmetic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <map>

#include "abbreviations.h"
#include "dispatch.h"
#include "hash.h"
#include "parallel.h"
#include "pipeline.h"
#include "recursive.h"
#include "similarity.h"
#include "threshold.h"
#include "wordpiece.h"

namespace py = pybind11;

namespace pychunk {
namespace {

// C-contiguous and of exactly this type: pychunk/_native.py sees to it; anything else is a TypeError.
template <typename T>
using Array = py::array_t<T, py::array::c_style>;
template <typename T>
using Optional = std::optional<Array<T>>;

template <typename T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), static_cast<size_t>(array.size())};
}

template <typename T>
Matrix<const T> matrix(const Array<T>& array, const char* name) {
  PYCHUNK_CHECK(array.ndim() == 2, name, " must have two dimensions, got ", array.ndim());
  return {array.data(), array.shape(0), array.shape(1)};
}

Texts texts(const Array<uint8_t>& text, const Array<int64_t>& offsets) {
  check_offsets(view(offsets), text.size(), "offsets");
  return {reinterpret_cast<const char*>(text.data()), view(offsets)};
}

// Hands a buffer to NumPy without a copy.
template <typename T>
Array<T> array(Buffer<T>&& buffer, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {buffer.size};
  T* data = buffer.data.release();
  const py::capsule owner(data, [](void* p) { delete[] static_cast<T*>(p); });
  return Array<T>(std::move(shape), data, owner);
}

template <typename T>
Array<T> array(std::vector<T>&& values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(values.size())};
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return Array<T>(std::move(shape), kept->data(), owner);
}

template <typename T>
T named(const std::map<std::string, T>& names, const py::dict& options, const char* key) {
  const auto value = options[key].cast<std::string>();
  const auto found = names.find(value);
  PYCHUNK_CHECK(found != names.end(), "unknown ", key, " '", value, "'");
  return found->second;
}

Unit unit_from(const std::string& name) {
  if (name == "characters") return Unit::kCharacters;
  if (name == "words") return Unit::kWords;
  PYCHUNK_CHECK(name == "tokens", "unit must be characters, words or tokens; got '", name, "'");
  return Unit::kTokens;
}

// From the fields of pychunk.plan.Plan.
Plan plan_from(const py::dict& options) {
  Plan plan;
  plan.method = named<Method>({{"sentence", Method::kSentence},
                               {"paragraph", Method::kParagraph},
                               {"page", Method::kPage},
                               {"fixed", Method::kFixed},
                               {"recursive", Method::kRecursive},
                               {"semantic", Method::kSemantic},
                               {"cluster", Method::kCluster},
                               {"pic", Method::kPic}},
                              options, "method");
  plan.wrap = options["wrap"].cast<bool>() ? Wrap::kAuto : Wrap::kOff;
  plan.unit = unit_from(options["unit"].cast<std::string>());
  plan.size = options["size"].cast<int64_t>();
  plan.separators = options["separators"].cast<std::vector<std::string>>();
  plan.threshold = named<ThresholdKind>({{"value", ThresholdKind::kValue},
                                         {"percentile", ThresholdKind::kPercentile},
                                         {"std", ThresholdKind::kStd},
                                         {"iqr", ThresholdKind::kIqr},
                                         {"gradient", ThresholdKind::kGradient}},
                                        options, "threshold");
  plan.threshold_value = options["threshold_value"].cast<double>();
  plan.window = options["window"].cast<int64_t>();
  plan.summary = named<SummarySource>({{"given", SummarySource::kGiven},
                                       {"mean", SummarySource::kMean},
                                       {"lead", SummarySource::kLead},
                                       {"extractive", SummarySource::kExtractive},
                                       {"random", SummarySource::kRandom},
                                       {"sentence", SummarySource::kSentence}},
                                      options, "summary");
  plan.k = options["k"].cast<double>();
  plan.max_tokens = options["max_tokens"].cast<int64_t>();
  plan.min_tokens = options["min_tokens"].cast<int64_t>();
  plan.overlap = options["overlap"].cast<int64_t>();
  plan.chunk_vectors = options["chunk_vectors"].cast<bool>();
  plan.sentence_vectors = options["sentence_vectors"].cast<bool>();
  return plan;
}

// What Python hands over, kept alive for the call.
struct Arguments {
  Array<uint8_t> text;
  Array<int64_t> offsets;
  Plan plan;
  const WordPiece* tokenizer;
  Optional<int8_t> table;
  Optional<uint8_t> id_text;
  Optional<int64_t> id_offsets, sentence_starts, sentence_offsets;
  Optional<float> vectors;
  Optional<int64_t> vector_offsets;
  Optional<uint8_t> summary_text;
  Optional<int64_t> summary_offsets;
  Optional<float> summary_vectors;
  Optional<int64_t> page_starts, page_offsets;
  Optional<uint8_t> fallback;
  int64_t first_row;
  int threads;

  Inputs inputs() const {
    Inputs in;
    in.texts = texts(text, offsets);
    in.plan = &plan;
    in.tokenizer = tokenizer;
    in.first_row = first_row;
    in.threads = threads;
    const int64_t k = in.texts.size();
    const auto one_each = [&](int64_t got, const char* name) {
      PYCHUNK_CHECK(got == k, name, " must hold one entry for each of ", k, " documents, got ", got);
    };
    if (table) {
      in.table = matrix(*table, "table");
      PYCHUNK_CHECK(tokenizer != nullptr, "a table needs a tokenizer");
      PYCHUNK_CHECK(in.table.rows >= tokenizer->vocabulary_size(), "the table must have a row for each of ",
                    tokenizer->vocabulary_size(), " tokens, got ", in.table.rows);
    }
    if (fallback) {
      PYCHUNK_CHECK(tokenizer != nullptr && fallback->size() >= tokenizer->vocabulary_size(),
                    "fallback must hold a flag for each token, got ", fallback->size());
      in.fallback = view(*fallback);
    }
    if (id_text) {
      in.ids = texts(*id_text, *id_offsets);
      one_each(in.ids.size(), "ids");
    }
    if (sentence_starts) {
      check_offsets(view(*sentence_offsets), sentence_starts->size(), "sentence_spans");
      in.sentence_starts = {view(*sentence_starts), view(*sentence_offsets)};
      one_each(in.sentence_starts.size(), "sentence_spans");
    }
    if (vectors) {
      in.vectors = matrix(*vectors, "sentence_vectors");
      check_offsets(view(*vector_offsets), in.vectors.rows, "sentence_vectors");
      in.vector_offsets = view(*vector_offsets);
      one_each(static_cast<int64_t>(in.vector_offsets.size()) - 1, "sentence_vectors");
    }
    if (summary_text) {
      in.summaries = texts(*summary_text, *summary_offsets);
      one_each(in.summaries.size(), "summaries");
    }
    if (summary_vectors) {
      in.summary_vectors = matrix(*summary_vectors, "summaries");
      one_each(in.summary_vectors.rows, "summaries");
      const int64_t dim = vectors ? in.vectors.cols : in.table.cols;
      PYCHUNK_CHECK(in.summary_vectors.cols == dim, "summaries must have ", dim,
                    " columns, as the sentence vectors, got ", in.summary_vectors.cols);
    }
    if (page_starts) {
      check_offsets(view(*page_offsets), page_starts->size(), "page_starts");
      in.page_starts = {view(*page_starts), view(*page_offsets)};
      one_each(in.page_starts.size(), "page_starts");
    }
    PYCHUNK_CHECK(!plan.needs_vectors() || in.vectors.data != nullptr || in.table.data != nullptr || vectors,
                  "the plan needs sentence vectors or a table");
    PYCHUNK_CHECK(!tokens_are_counted(in) || tokenizer != nullptr, "the plan needs a tokenizer");
    return in;
  }
};

py::dict segment_batch(const Arguments& arguments) {
  const Inputs inputs = arguments.inputs();
  Table table;
  {
    const py::gil_scoped_release unlocked;
    table = segment(inputs);
  }
  const int64_t dim = inputs.vectors.data != nullptr ? inputs.vectors.cols : inputs.table.cols;
  py::dict out;
  out["document"] = array(std::move(table.document));
  out["chunk"] = array(std::move(table.chunk));
  out["chunk_id"] = array(std::move(table.chunk_id));
  out["start"] = array(std::move(table.start));
  out["end"] = array(std::move(table.end));
  out["start_byte"] = array(std::move(table.start_byte));
  out["end_byte"] = array(std::move(table.end_byte));
  out["text"] = array(std::move(table.text));
  out["text_offsets"] = array(std::move(table.text_offsets));
  if (tokens_are_counted(inputs)) out["tokens"] = array(std::move(table.tokens));
  out["overlap"] = array(std::move(table.overlap));
  if (pages_are_counted(inputs)) {
    out["page"] = array(std::move(table.page));
    out["page_end"] = array(std::move(table.page_end));
  }
  out["kind"] = array(std::move(table.kind));
  out["score"] = array(std::move(table.score));
  if (inputs.plan->chunk_vectors) {
    const int64_t rows = dim == 0 ? 0 : table.chunk_vectors.size / dim;
    out["vector"] = array(std::move(table.chunk_vectors), {rows, dim});
  }
  if (inputs.plan->sentence_vectors) {
    const int64_t rows = table.sentence_start.size;
    out["sentence_offsets"] = array(std::move(table.sentence_offsets));
    out["sentence_start"] = array(std::move(table.sentence_start));
    out["sentence_end"] = array(std::move(table.sentence_end));
    out["sentence_vectors"] = array(std::move(table.sentence_vectors), {rows, dim});
  }
  out["tokens_met"] = table.tokens_met;
  out["fallback_tokens"] = table.fallback_tokens;
  return out;
}

Arguments gather(Array<uint8_t> text, Array<int64_t> offsets, const py::dict& plan, const WordPiece* tokenizer,
                 Optional<int8_t> table, Optional<uint8_t> id_text, Optional<int64_t> id_offsets,
                 Optional<int64_t> sentence_starts, Optional<int64_t> sentence_offsets, Optional<float> vectors,
                 Optional<int64_t> vector_offsets, Optional<uint8_t> summary_text, Optional<int64_t> summary_offsets,
                 Optional<float> summary_vectors, Optional<int64_t> page_starts, Optional<int64_t> page_offsets,
                 Optional<uint8_t> fallback, int64_t first_row, int threads) {
  return {std::move(text),
          std::move(offsets),
          plan_from(plan),
          tokenizer,
          std::move(table),
          std::move(id_text),
          std::move(id_offsets),
          std::move(sentence_starts),
          std::move(sentence_offsets),
          std::move(vectors),
          std::move(vector_offsets),
          std::move(summary_text),
          std::move(summary_offsets),
          std::move(summary_vectors),
          std::move(page_starts),
          std::move(page_offsets),
          std::move(fallback),
          first_row,
          threads};
}

void bind_pipeline(py::module_& m) {
  py::class_<Arguments>(m, "Arguments", "Everything a call of segment() works on; see csrc/pipeline.h.")
      .def(py::init(&gather), py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("plan"),
           py::kw_only(), py::arg("tokenizer") = nullptr, py::arg("table").noconvert() = py::none(),
           py::arg("id_text").noconvert() = py::none(), py::arg("id_offsets").noconvert() = py::none(),
           py::arg("sentence_starts").noconvert() = py::none(), py::arg("sentence_offsets").noconvert() = py::none(),
           py::arg("vectors").noconvert() = py::none(), py::arg("vector_offsets").noconvert() = py::none(),
           py::arg("summary_text").noconvert() = py::none(), py::arg("summary_offsets").noconvert() = py::none(),
           py::arg("summary_vectors").noconvert() = py::none(), py::arg("page_starts").noconvert() = py::none(),
           py::arg("page_offsets").noconvert() = py::none(), py::arg("fallback").noconvert() = py::none(),
           py::arg("first_row") = 0, py::arg("threads") = 1, py::keep_alive<1, 5>());
  m.def("segment", &segment_batch, py::arg("arguments"),
        "Columns of the chunk table of a batch, as arrays by name; text and chunk_id are flat bytes.");
  m.def(
      "adjacent_sums",
      [](const Arguments& arguments) {
        const Inputs inputs = arguments.inputs();
        AdjacentSums sums;
        {
          const py::gil_scoped_release unlocked;
          sums = adjacent_sums(inputs);
        }
        return py::make_tuple(sums.sum, sums.count);
      },
      py::arg("arguments"), "(sum, count) of the adjacent cosines of a batch, the sum in units of 2^-32.");
  m.def(
      "split_sentences",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, bool wrap, int threads) {
        const Texts documents = texts(text, offsets);
        SentenceTable table;
        {
          const py::gil_scoped_release unlocked;
          table = split(documents, wrap ? Wrap::kAuto : Wrap::kOff, threads);
        }
        const int64_t n = table.flags.size;
        return py::make_tuple(array(std::move(table.spans), {n, 2}), array(std::move(table.doc_offsets)),
                              array(std::move(table.flags)));
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("wrap"), py::arg("threads") = 1,
      "(spans int64[n, 2] in bytes, doc_offsets int64[k + 1], flags uint8[n]) of k documents; the text must "
      "be "
      "valid UTF-8.");
  m.def(
      "encode_static",
      [](const Array<uint8_t>& text, const Array<int64_t>& offsets, const WordPiece& tokenizer,
         const Array<int8_t>& table, int threads) {
        const Texts documents = texts(text, offsets);
        const Matrix<const int8_t> rows = matrix(table, "table");
        PYCHUNK_CHECK(rows.rows >= tokenizer.vocabulary_size(), "the table must have a row for each of ",
                      tokenizer.vocabulary_size(), " tokens, got ", rows.rows);
        Buffer<float> vectors;
        {
          const py::gil_scoped_release unlocked;
          vectors = encode_static(documents, tokenizer, rows, threads);
        }
        return array(std::move(vectors), {documents.size(), rows.cols});
      },
      py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("tokenizer"), py::arg("table").noconvert(),
      py::arg("threads") = 1, "Unit vectors float32[k, dim] of k texts.");
}

void bind_text(py::module_& m) {
  m.def(
      "find_invalid_utf8",
      [](const Array<uint8_t>& text) {
        const py::gil_scoped_release unlocked;
        return kernels().find_invalid_utf8(text.data(), static_cast<size_t>(text.size()));
      },
      py::arg("text").noconvert(), "Byte offset of the first byte that is not part of valid UTF-8, or -1.");
  m.def(
      "count_characters",
      [](const Array<uint8_t>& text) {
        return kernels().count_characters(text.data(), static_cast<size_t>(text.size()));
      },
      py::arg("text").noconvert(), "Characters of valid UTF-8.");
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
      py::arg("data"), "128-bit hash as 32 hexadecimal digits (MurmurHash3_x64_128, seed 0).");
}

void bind_vectors(py::module_& m) {
  m.def(
      "normalize_rows",
      [](Array<float>& vectors) {
        float* data = vectors.mutable_data();
        const int64_t rows = vectors.shape(0), dim = vectors.shape(1);
        const py::gil_scoped_release unlocked;
        for (int64_t i = 0; i < rows; ++i) normalize(data + i * dim, dim);
      },
      py::arg("vectors").noconvert(), "Scales each row of float32[n, d] to unit length, in place; zero stays zero.");
  m.def(
      "dot",
      [](const Array<float>& a, const Array<float>& b) {
        PYCHUNK_CHECK(a.size() == b.size(), "a and b must have the same length, got ", a.size(), " and ", b.size());
        return kernels().dot(a.data(), b.data(), static_cast<size_t>(a.size()));
      },
      py::arg("a").noconvert(), py::arg("b").noconvert(), "Dot product as a fixed tree of partial sums.");
}

py::tuple encode_spans(const WordPiece& tokenizer, const Array<uint8_t>& text, const Array<int64_t>& bounds,
                       bool byte_spans) {
  check_offsets(view(bounds), text.size(), "bounds");
  std::vector<int32_t> ids;
  std::vector<int64_t> offsets, spans;
  {
    const py::gil_scoped_release unlocked;
    tokenizer.encode({reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())}, bounds.data(),
                     static_cast<size_t>(bounds.size()) - 1, ids, offsets, byte_spans ? &spans : nullptr);
  }
  const auto tokens = static_cast<py::ssize_t>(ids.size());
  return py::make_tuple(array(std::move(ids)), array(std::move(offsets)),
                        byte_spans ? py::object(array(std::move(spans), {tokens, 2})) : py::none());
}

void bind_wordpiece(py::module_& m) {
  py::class_<WordPiece>(m, "WordPiece", "BERT's normaliser, pre-tokeniser and WordPiece.")
      .def(py::init([](const std::vector<std::string>& vocabulary, bool lowercase, bool strip_accents, bool clean_text,
                       bool handle_chinese_chars, const std::string& unknown, const std::string& prefix,
                       int max_word_characters) {
             return WordPiece(vocabulary, {lowercase, strip_accents, clean_text, handle_chinese_chars, unknown, prefix,
                                           max_word_characters});
           }),
           py::arg("vocabulary"), py::arg("lowercase") = true, py::arg("strip_accents") = true,
           py::arg("clean_text") = true, py::arg("handle_chinese_chars") = true, py::arg("unknown") = "[UNK]",
           py::arg("prefix") = "##", py::arg("max_word_characters") = 100)
      .def("encode", &encode_spans, py::arg("text").noconvert(), py::arg("bounds").noconvert(),
           py::arg("byte_spans") = false,
           "Tokens of the spans [bounds[i], bounds[i + 1]) of valid UTF-8 text (uint8), each by itself: ids "
           "int32[t], "
           "offsets int64[n + 1] into them, and byte spans int64[t, 2] or None.")
      .def_property_readonly("vocabulary_size", &WordPiece::vocabulary_size)
      .def_property_readonly("unknown_id", &WordPiece::unknown_id);
}

std::span<const int64_t> rising(const Array<int64_t>& starts, const char* name) {
  PYCHUNK_CHECK(std::is_sorted(view(starts).begin(), view(starts).end()), name, " must not fall");
  return view(starts);
}

py::tuple split_recursive(const Array<uint8_t>& text, const Array<int64_t>& offsets, int64_t size, int64_t overlap,
                          const std::optional<std::vector<std::string>>& separators, const std::string& unit,
                          const Optional<int64_t>& sentence_starts, const Optional<int64_t>& token_starts) {
  check_offsets(view(offsets), text.size(), "offsets");
  PYCHUNK_CHECK(!separators || !separators->empty(), "separators must be None or hold 1 or more");
  RecursiveOptions options{.size = size, .overlap = overlap, .unit = unit_from(unit), .separators = {}};
  if (separators) options.separators = *separators;
  PYCHUNK_CHECK(options.unit != Unit::kTokens || token_starts, "unit 'tokens' needs token_starts");
  RecursiveInput input{
      .buffer = {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(text.size())}, .begin = 0, .end = 0};
  if (sentence_starts) input.sentence_starts = rising(*sentence_starts, "sentence_starts");
  if (token_starts) input.token_starts = rising(*token_starts, "token_starts");
  RecursiveSplitter splitter(options);
  std::vector<Piece> pieces;
  std::vector<int64_t> piece_offsets{0}, spans, sizes;
  {
    const py::gil_scoped_release unlocked;
    for (py::ssize_t i = 1; i < offsets.size(); ++i) {
      input.begin = offsets.data()[i - 1], input.end = offsets.data()[i];
      splitter.split(input, pieces);
      piece_offsets.push_back(static_cast<int64_t>(pieces.size()));
    }
    for (const Piece& piece : pieces) {
      spans.insert(spans.end(), {piece.start, piece.end});
      sizes.push_back(piece.size);
    }
  }
  const auto n = static_cast<py::ssize_t>(pieces.size());
  return py::make_tuple(array(std::move(spans), {n, 2}), array(std::move(piece_offsets)), array(std::move(sizes)));
}

void bind_recursive(py::module_& m) {
  m.def("split_recursive", &split_recursive, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("size"), py::arg("overlap") = 0, py::arg("separators") = py::none(), py::arg("unit") = "characters",
        py::arg("sentence_starts").noconvert() = py::none(), py::arg("token_starts").noconvert() = py::none(),
        R"(Splits k documents of valid UTF-8 at the strongest separators that keep pieces within `size`.

text uint8[bytes], offsets int64[k + 1] (document i is text[offsets[i]:offsets[i + 1]]), size and overlap in `unit`
(characters, words, tokens), separators None (blank line, line, sentence, word, character) or literal strings,
strongest first, as in LangChain's RecursiveCharacterTextSplitter. sentence_starts and token_starts (needed for
tokens): rising int64 byte offsets into text. Returns (spans int64[n, 2] of bytes in text, piece_offsets
int64[k + 1], sizes int64[n] in the unit). ValueError for anything out of range.)");
}

}  // namespace
}  // namespace pychunk

PYBIND11_MODULE(_core, m) {
  using namespace pychunk;
  m.doc() = "pychunk's native core. Use the functions of the package pychunk instead.";
  m.attr("__version__") = PYCHUNK_VERSION;
  m.def("isa", [] { return kernels().name; }, "Instruction set that runs.");
  m.def("available_isas", &available_isas, "Instruction sets that this CPU could run, slowest first.");
  m.def("default_threads", &default_threads, "Threads that a call uses unless told otherwise.");
  bind_text(m);
  bind_vectors(m);
  bind_wordpiece(m);
  bind_recursive(m);
  bind_pipeline(m);
}
