// Levels of documents for Python: spans of sentences that are checked here and trusted inside.
#include <algorithm>

#include "agglomerate.h"
#include "bindings.h"
#include "spans.h"

namespace pychunk {
namespace {

void check_documents(std::span<const int64_t> offsets, int64_t sentences) {
  check_offsets(offsets, sentences, "doc_offsets");
  PYCHUNK_CHECK(offsets.front() == 0 && offsets.back() == sentences, "doc_offsets must run from 0 to ", sentences);
}

py::list span_vectors_of(const Array<float>& vectors, const Array<int64_t>& weights, const Array<int64_t>& offsets,
                         const std::vector<std::pair<Array<int64_t>, Array<int64_t>>>& levels, int threads) {
  const auto rows = matrix(vectors, "vectors");
  PYCHUNK_CHECK(weights.size() == rows.rows, "weights must hold one of each of ", rows.rows, " sentences, got ",
                weights.size());
  check_documents(view(offsets), rows.rows);
  std::vector<Spans> spans;
  for (const auto& [first, last] : levels) {
    PYCHUNK_CHECK(first.size() == last.size(), "a level needs a last sentence for each of ", first.size());
    int64_t before = 0;
    for (py::ssize_t i = 0; i < first.size(); ++i) {
      PYCHUNK_CHECK(before <= first.data()[i] && first.data()[i] < last.data()[i] && last.data()[i] <= rows.rows,
                    "spans must rise within ", rows.rows, " sentences, got [", first.data()[i], ", ", last.data()[i],
                    ") after ", before);
      before = last.data()[i];
    }
    spans.push_back({view(first), view(last)});
  }
  std::vector<Buffer<float>> found =
      without_gil([&] { return span_vectors(rows, view(weights), view(offsets), spans, threads); });
  py::list out;
  for (size_t l = 0; l < found.size(); ++l)
    out.append(array(std::move(found[l]), {static_cast<py::ssize_t>(spans[l].first.size()), rows.cols}));
  return out;
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
  PYCHUNK_CHECK(weights.size() == rows.rows, "weights must hold one of each of ", rows.rows, " sentences, got ",
                weights.size());
  PYCHUNK_CHECK(branching >= 2, "branching must be at least 2, got ", branching);
  check_documents(view(offsets), rows.rows);
  check_documents(view(first), rows.rows);
  for (py::ssize_t i = 1; i < first.size(); ++i)
    PYCHUNK_CHECK(first.data()[i - 1] < first.data()[i], "nodes must hold a sentence each");
  for (const int64_t begin : view(offsets))
    PYCHUNK_CHECK(std::binary_search(first.data(), first.data() + first.size(), begin),
                  "a node must begin where a document does");
  auto found =
      without_gil([&] { return agglomerate(rows, view(weights), view(offsets), view(first), branching, threads); });
  py::list out;
  for (auto& level : found) out.append(array(std::move(level)));
  return out;
}

}  // namespace

void bind_levels(py::module_& m) {
  m.def("span_vectors", &span_vectors_of, py::arg("vectors").noconvert(), py::arg("weights").noconvert(),
        py::arg("doc_offsets").noconvert(), py::arg("levels"), py::arg("threads"),
        "Unit-length weighted sums float32[nodes, d] of each level's runs of sentences (first, last).");
  m.def("token_windows", &token_windows_of, py::arg("tokens").noconvert(), py::arg("doc_offsets").noconvert(),
        py::arg("sizes"), "First sentences of windows of at most so many tokens, each level made of the one before.");
  m.def("agglomerate", &agglomerated, py::arg("vectors").noconvert(), py::arg("weights").noconvert(),
        py::arg("doc_offsets").noconvert(), py::arg("first").noconvert(), py::arg("branching"), py::arg("threads"),
        "First sentences of the nodes of each level of trees that join neighbours by their cosine.");
}

}  // namespace pychunk
