// The levels of documents, for Python. Spans of sentences are checked here, and trusted inside the engine.
#include <algorithm>

#include "python/bindings.h"
#include "vectors/compressor.h"
#include "vectors/extractive_summary.h"
#include "vectors/level_spans.h"
#include "vectors/similarity_tree.h"

namespace pychunk {
namespace {

void check_documents(std::span<const int64_t> offsets, int64_t sentences) {
  check_offsets(offsets, sentences, "doc_offsets");
  PYCHUNK_CHECK(offsets.front() == 0 && offsets.back() == sentences, "doc_offsets must run from 0 to ", sentences,
                ", got ", offsets.front(), " to ", offsets.back());
}

using SpanBorders = std::pair<Array<int64_t>, Array<int64_t>>;

std::vector<Spans> spans_of(const std::vector<SpanBorders>& levels, int64_t sentences) {
  std::vector<Spans> spans;
  for (const auto& [first, last] : levels) {
    PYCHUNK_CHECK(first.size() == last.size(), "a level needs as many last sentences as first ones, got ", first.size(),
                  " first and ", last.size(), " last");
    int64_t before = 0;
    for (py::ssize_t i = 0; i < first.size(); ++i) {
      PYCHUNK_CHECK(before <= first.data()[i] && first.data()[i] < last.data()[i] && last.data()[i] <= sentences,
                    "a span must begin at ", before, " or later, end after it begins, and end at ", sentences,
                    " or before, got [", first.data()[i], ", ", last.data()[i], ")");
      before = last.data()[i];
    }
    spans.push_back({view(first), view(last)});
  }
  return spans;
}

// Return one array for each level.
py::list rows_of(std::vector<Buffer<float>> found, const std::vector<Spans>& spans, int64_t dim) {
  py::list out;
  for (size_t l = 0; l < found.size(); ++l)
    out.append(array(std::move(found[l]), {static_cast<py::ssize_t>(spans[l].first.size()), dim}));
  return out;
}

py::list span_vectors_of(const Array<float>& vectors, const Array<int64_t>& weights, const Array<int64_t>& offsets,
                         const std::vector<SpanBorders>& levels, int threads) {
  const auto rows = matrix(vectors, "vectors");
  PYCHUNK_CHECK(weights.size() == rows.rows, "weights must hold one value for each of ", rows.rows, " sentences, got ",
                weights.size());
  check_documents(view(offsets), rows.rows);
  const std::vector<Spans> spans = spans_of(levels, rows.rows);
  return rows_of(without_gil([&] { return span_vectors(rows, view(weights), view(offsets), spans, threads); }), spans,
                 rows.cols);
}

// Compute the vectors of compressed levels. parts: queries, places, mix, down, up and bias of
// csrc/vectors/compressor.h.
py::list compressed_vectors_of(const std::vector<Array<float>>& parts, const Array<float>& vectors,
                               const Array<int64_t>& tokens, const Array<int64_t>& offsets,
                               const std::vector<SpanBorders>& levels, int threads) {
  PYCHUNK_CHECK(parts.size() == 6, "a compressor must have six parts (queries, places, mix, down, up, bias), got ",
                parts.size());
  const Compressor model{.queries = matrix(parts[0], "queries"),
                         .places = matrix(parts[1], "places"),
                         .mix = view(parts[2]),
                         .down = matrix(parts[3], "down"),
                         .up = matrix(parts[4], "up"),
                         .bias = matrix(parts[5], "bias")};
  const int64_t heads = model.queries.rows, dim = model.queries.cols, rank = model.up.rows;
  PYCHUNK_CHECK(dim > 0 && dim % 16 == 0 && rank > 0 && rank % 16 == 0,
                "dimensions and rank must be multiples of 16 above 0, got ", dim, " and ", rank);
  PYCHUNK_CHECK(model.places.rows == 2 * kPlaceFeatures && model.places.cols == heads &&
                    static_cast<int64_t>(model.mix.size()) == heads && model.down.rows == dim &&
                    model.down.cols == rank && model.up.cols == dim && model.bias.rows == 2 && model.bias.cols == dim,
                "the parts of a compressor must be [heads, dim], [10, heads], [heads], [dim, rank], [rank, dim] and "
                "[2, dim], got ",
                shape_of(parts[0]), ", ", shape_of(parts[1]), ", ", shape_of(parts[2]), ", ", shape_of(parts[3]), ", ",
                shape_of(parts[4]), " and ", shape_of(parts[5]));
  const auto rows = matrix(vectors, "vectors");
  PYCHUNK_CHECK(rows.cols == dim, "vectors must have ", dim, " dimensions, got ", rows.cols);
  PYCHUNK_CHECK(tokens.size() == rows.rows, "tokens must hold one number for each of ", rows.rows, " sentences, got ",
                tokens.size());
  for (const int64_t count : view(tokens)) PYCHUNK_CHECK(count >= 0, "tokens must not be negative, got ", count);
  check_documents(view(offsets), rows.rows);
  const std::vector<Spans> spans = spans_of(levels, rows.rows);
  for (const Spans& level : spans)
    for (size_t i = 0; i < level.first.size(); ++i)
      PYCHUNK_CHECK(*std::upper_bound(offsets.data(), offsets.data() + offsets.size(), level.first[i]) >= level.last[i],
                    "a node must be inside one document, got [", level.first[i], ", ", level.last[i], ")");
  return rows_of(
      without_gil([&] { return compressed_vectors(model, rows, view(tokens), view(offsets), spans, threads); }), spans,
      dim);
}

py::list token_windows_of(const Array<int64_t>& tokens, const Array<int64_t>& offsets,
                          const std::vector<int64_t>& sizes) {
  check_documents(view(offsets), tokens.size());
  auto found = without_gil([&] { return token_windows(view(tokens), view(offsets), sizes); });
  py::list out;
  for (auto& level : found) out.append(array(std::move(level)));
  return out;
}

py::list agglomerated(const Array<float>& vectors, const Array<int64_t>& weights, const Array<int64_t>& offsets,
                      const Array<int64_t>& first, int64_t branching, int threads) {
  const auto rows = matrix(vectors, "vectors");
  PYCHUNK_CHECK(weights.size() == rows.rows, "weights must hold one value for each of ", rows.rows, " sentences, got ",
                weights.size());
  PYCHUNK_CHECK(branching >= 2, "branching must be at least 2, got ", branching);
  check_documents(view(offsets), rows.rows);
  check_documents(view(first), rows.rows);
  for (py::ssize_t i = 1; i < first.size(); ++i)
    PYCHUNK_CHECK(first.data()[i - 1] < first.data()[i],
                  "each node must hold at least one sentence, got none for node ", i - 1);
  for (const int64_t begin : view(offsets))
    PYCHUNK_CHECK(std::binary_search(first.data(), first.data() + first.size(), begin),
                  "a node must begin at the start of every document, got none at sentence ", begin);
  auto found =
      without_gil([&] { return agglomerate(rows, view(weights), view(offsets), view(first), branching, threads); });
  py::list out;
  for (auto& level : found) out.append(array(std::move(level)));
  return out;
}

Array<int64_t> most_central_of(const Array<float>& vectors, const Array<int64_t>& first, const Array<int64_t>& since,
                               const Array<int64_t>& until, int threads) {
  const auto rows = matrix(vectors, "vectors");
  check_documents(view(first), rows.rows);
  const py::ssize_t chunks = first.size() - 1;
  PYCHUNK_CHECK(since.size() == chunks && until.size() == chunks, "since and until must each have the length ", chunks,
                ", the number of chunks, got ", since.size(), " and ", until.size());
  for (py::ssize_t c = 0; c < chunks; ++c)
    PYCHUNK_CHECK(0 <= since.data()[c] && since.data()[c] <= c && c < until.data()[c] && until.data()[c] <= chunks,
                  "a window must contain its chunk, begin at 0 or later, and end at ", chunks, " or before, got [",
                  since.data()[c], ", ", until.data()[c], ") for chunk ", c);
  return array(without_gil([&] { return most_central(rows, view(first), view(since), view(until), threads); }));
}

}  // namespace

void bind_levels(py::module_& m) {
  m.def(
      "span_vectors", &span_vectors_of, py::arg("vectors").noconvert(), py::arg("weights").noconvert(),
      py::arg("doc_offsets").noconvert(), py::arg("levels"), py::arg("threads"),
      "Return the weighted sums, of unit length, of each level's runs of sentences (first, last): float32[nodes, d].");
  m.def("compressed_vectors", &compressed_vectors_of, py::arg("parts"), py::arg("vectors").noconvert(),
        py::arg("tokens").noconvert(), py::arg("doc_offsets").noconvert(), py::arg("levels"), py::arg("threads"),
        "Return a compression encoder's vectors of each level's runs of sentences (first, last): float32[nodes, d].");
  m.def("token_windows", &token_windows_of, py::arg("tokens").noconvert(), py::arg("doc_offsets").noconvert(),
        py::arg("sizes"),
        "Return the first sentences of windows of at most `sizes` tokens, each level made from the one before.");
  m.def("agglomerate", &agglomerated, py::arg("vectors").noconvert(), py::arg("weights").noconvert(),
        py::arg("doc_offsets").noconvert(), py::arg("first").noconvert(), py::arg("branching"), py::arg("threads"),
        "Return the first sentences of each level's nodes in trees that join neighbours by their cosine.");
  m.def("most_central", &most_central_of, py::arg("vectors").noconvert(), py::arg("first").noconvert(),
        py::arg("since").noconvert(), py::arg("until").noconvert(), py::arg("threads"),
        "Return for each chunk the most central sentence of the other chunks in [since, until), or -1: int64[n].");
}

}  // namespace pychunk
