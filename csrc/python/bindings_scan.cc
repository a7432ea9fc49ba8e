// The scan of an index's vectors, for Python. Arrays are kept alive, and hits are returned as arrays.
#include <algorithm>

#include "python/bindings.h"
#include "search/scan.h"
#include "vectors/int8_rows.h"
#include "vectors/similarity.h"

namespace pychunk {
namespace {

// A scan with the arrays that it reads.
struct KeptScan {
  std::vector<py::array> arrays;
  Optional<int64_t> offsets;
  Scan scan;

  template <typename T>
  static KeptScan of(const std::vector<Array<T>>& given, int64_t dim, Optional<int64_t> offsets) {
    constexpr StoredAs kKind = sizeof(T) == 2   ? StoredAs::kHalves
                               : sizeof(T) == 4 ? StoredAs::kFloats
                                                : StoredAs::kBytes;
    const int64_t width = kKind == StoredAs::kBytes ? dim + static_cast<int64_t>(sizeof(float)) : dim;
    std::vector<StoredRows> parts;
    for (const Array<T>& array : given) {
      const auto rows = matrix(array, "arrays");
      PYCHUNK_CHECK(rows.cols == width, "arrays must have rows of ", width, " numbers, got ", rows.cols);
      parts.push_back({rows.data, rows.rows});
    }
    const auto spans = offsets ? view(*offsets) : std::span<const int64_t>{};
    PYCHUNK_CHECK(!offsets || !spans.empty(), "offsets must hold at least one entry, got none");
    Scan scan(std::move(parts), kKind, dim, spans);
    return {{given.begin(), given.end()}, std::move(offsets), std::move(scan)};
  }
};

py::tuple top_of(const KeptScan& kept, const Array<float>& queries, int64_t count, const Optional<bool>& allowed,
                 int threads, const Optional<float>& scored, float weight, const std::vector<int64_t>& groups,
                 const Optional<float>& least) {
  const auto rows = matrix(queries, "queries");
  PYCHUNK_CHECK(rows.cols == kept.scan.dim(), "queries must have ", kept.scan.dim(), " numbers, got ", rows.cols);
  PYCHUNK_CHECK(count >= 0, "count must be at least 0, got ", count);
  PYCHUNK_CHECK(!allowed || allowed->size() == kept.scan.chunks(), "allowed must hold ", kept.scan.chunks(),
                " values, got ", allowed ? allowed->size() : 0);
  const bool* mask = allowed ? allowed->data() : nullptr;
  ScoredBeside beside;
  if (scored) {
    beside = {matrix(*scored, "beside"), weight};
    PYCHUNK_CHECK(weight >= 0.0f, "weight must be at least 0, got ", std::to_string(weight));
    PYCHUNK_CHECK(beside.scores.rows == rows.rows && beside.scores.cols == kept.scan.chunks(), "beside must be ",
                  rows.rows, " x ", kept.scan.chunks(), ", a score for each query and chunk, got ", beside.scores.rows,
                  " x ", beside.scores.cols);
  }
  for (const int64_t group : groups) {
    PYCHUNK_CHECK(kept.scan.groups() > 0, "no groups were set, got group ", group, "; call set_groups() first");
    PYCHUNK_CHECK(group >= 0 && group < kept.scan.groups(), "groups must each be from 0 to ", kept.scan.groups() - 1,
                  ", got ", group);
  }
  PYCHUNK_CHECK(!least || least->size() == rows.rows, "least must hold ", rows.rows, " values, got ",
                least ? least->size() : 0);
  const auto known = least ? view(*least) : std::span<const float>{};
  const auto found =
      without_gil([&] { return kept.scan.top(rows, count, mask, threads, scored ? &beside : nullptr, groups, known); });
  size_t width = 0;
  for (const auto& hits : found) width = std::max(width, hits.size());
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(rows.rows), static_cast<py::ssize_t>(width)};
  Array<float> scores(shape);
  Array<int64_t> chunks(shape), best(shape);
  float* to_scores = scores.mutable_data();
  int64_t *to_chunks = chunks.mutable_data(), *to_best = best.mutable_data();
  for (const auto& hits : found)
    for (size_t i = 0; i < width; ++i) {
      const ScanHit hit = i < hits.size() ? hits[i] : ScanHit{0.0f, -1, -1};
      *to_scores++ = hit.score, *to_chunks++ = hit.chunk, *to_best++ = hit.row;
    }
  return py::make_tuple(scores, chunks, best);
}

void check_chosen(const Array<float>& query, const Array<int64_t>& chosen, int64_t dim, int64_t end, const char* name) {
  PYCHUNK_CHECK(query.size() == dim, "query must have ", dim, " numbers, got ", query.size());
  for (const int64_t each : view(chosen))
    PYCHUNK_CHECK(each >= 0 && each < end, name, " must each be from 0 to ", end - 1, ", got ", each);
}

py::tuple score_chunks_of(const KeptScan& kept, const Array<float>& query, const Array<int64_t>& chosen) {
  check_chosen(query, chosen, kept.scan.dim(), kept.scan.chunks(), "chunks");
  Array<float> scores(chosen.size());
  Array<int64_t> rows(chosen.size());
  float* to_scores = scores.mutable_data();
  int64_t* to_rows = rows.mutable_data();
  without_gil([&] {
    kept.scan.score_chunks(query.data(), view(chosen), to_scores, to_rows);
    return true;
  });
  return py::make_tuple(scores, rows);
}

Array<float> score_rows_of(const KeptScan& kept, const Array<float>& query, const Array<int64_t>& chosen) {
  check_chosen(query, chosen, kept.scan.dim(), kept.scan.rows(), "rows");
  Array<float> scores(chosen.size());
  float* to_scores = scores.mutable_data();
  without_gil([&] {
    kept.scan.score_rows(query.data(), view(chosen), to_scores);
    return true;
  });
  return scores;
}

UnitSums unit_sums(const Array<float>& vectors, const Array<int64_t>& chosen, const Array<float>& added) {
  const auto rows = matrix(vectors, "vectors"), others = matrix(added, "added");
  if (chosen.size() == 0) return {rows, {}, others};
  PYCHUNK_CHECK(others.cols == rows.cols, "added must be ", rows.cols, " wide, got ", others.cols);
  PYCHUNK_CHECK(chosen.size() == rows.rows, "chosen must hold ", rows.rows, " values, got ", chosen.size());
  for (const int64_t each : view(chosen))
    PYCHUNK_CHECK(each >= 0 && each < others.rows, "each of chosen must be from 0 to ", others.rows - 1, ", got ",
                  each);
  return {rows, view(chosen), others};
}

Array<int8_t> packed(const Array<float>& vectors, const Array<int64_t>& chosen, const Array<float>& added,
                     int threads) {
  const UnitSums sums = unit_sums(vectors, chosen, added);
  Array<int8_t> out({static_cast<py::ssize_t>(sums.rows()), static_cast<py::ssize_t>(sums.cols() + 4)});
  int8_t* to = out.mutable_data();
  without_gil([&] {
    pack_rows(sums, to, threads);
    return true;
  });
  return out;
}

}  // namespace

void bind_scan(py::module_& m) {
  m.def("pack_rows", &packed, py::arg("vectors").noconvert(), py::arg("chosen").noconvert(),
        py::arg("added").noconvert(), py::arg("threads"),
        "Return the vectors float32[n, d], or the sums of unit_sums(), as rows of bytes int8[n, d + 4]; see "
        "csrc/vectors/int8_rows.h.");
  m.def(
      "unit_sums",
      [](const Array<float>& vectors, const Array<int64_t>& chosen, const Array<float>& added, int threads) {
        const UnitSums sums = unit_sums(vectors, chosen, added);
        Array<float> out({sums.rows(), sums.cols()});
        float* data = out.mutable_data();
        without_gil([&] {
          sums.write(threads, data);
          return true;
        });
        return out;
      },
      py::arg("vectors").noconvert(), py::arg("chosen").noconvert(), py::arg("added").noconvert(), py::arg("threads"),
      "Return row i of vectors plus row chosen[i] of added, scaled to unit length, float32[n, d]. If one of the two "
      "rows is zero, or chosen is empty, the row of vectors stays as it is.");
  py::class_<KeptScan>(m, "Scan", "Exact search over stored vectors; see csrc/search/scan.h.")
      .def(py::init(&KeptScan::of<uint16_t>), py::arg("arrays").noconvert(), py::arg("dim"),
           py::arg("offsets").noconvert() = py::none(), "Open float16 rows, given as their bits (uint16).")
      .def(py::init(&KeptScan::of<float>), py::arg("arrays").noconvert(), py::arg("dim"),
           py::arg("offsets").noconvert() = py::none())
      .def(py::init(&KeptScan::of<int8_t>), py::arg("arrays").noconvert(), py::arg("dim"),
           py::arg("offsets").noconvert() = py::none(), "Open rows of bytes, each with its scale in the last four.")
      .def(
          "top", &top_of, py::arg("queries").noconvert(), py::arg("count"), py::arg("allowed").noconvert() = py::none(),
          py::arg("threads") = 1, py::arg("beside").noconvert() = py::none(), py::arg("weight") = 1.0f,
          py::arg("groups") = std::vector<int64_t>(), py::arg("least").noconvert() = py::none(),
          "Return (scores float32[q, c], chunks int64[q, c], rows int64[q, c]) of the `count` best chunks, best "
          "first; chunk and row are -1 if there are fewer. allowed: bool[chunks]. beside: float32[q, chunks], which is "
          "multiplied by weight and added to the scores of chunks. groups: the groups that contain all allowed chunks; "
          "`allowed` must be given, too. least: float32[q], a score that at least `count` chunks reach.")
      .def(
          "set_groups", [](KeptScan& kept, const Array<int8_t>& groups) { kept.scan.set_groups(view(groups)); },
          py::arg("groups").noconvert(), "Set the group of each row, int8[rows]; negative: none.")
      .def("score_chunks", &score_chunks_of, py::arg("query").noconvert(), py::arg("chosen").noconvert(),
           "Return (scores float32[n], rows int64[n]) of chosen chunks; 0 and -1 for those without rows.")
      .def("score_rows", &score_rows_of, py::arg("query").noconvert(), py::arg("chosen").noconvert(),
           "Return the scores of chosen rows, float32[n].");
}

}  // namespace pychunk
