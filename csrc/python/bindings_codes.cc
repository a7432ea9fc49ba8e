// The product-quantization codes of an index's vectors, for Python.
#include <algorithm>

#include "python/bindings.h"
#include "search/product_codes.h"

namespace pychunk {
namespace {

CodeBooks books_of(const Array<float>& centroids) {
  PYCHUNK_CHECK(centroids.ndim() == 3 && centroids.shape(1) == 16 && centroids.shape(0) >= 1 && centroids.shape(2) >= 1,
                "centroids must have the shape [pieces, 16, width], got ", shape_of(centroids));
  PYCHUNK_CHECK(centroids.shape(0) <= kMostPieces, "centroids must have at most ", kMostPieces, " pieces, got ",
                centroids.shape(0));
  return {centroids.data(), centroids.shape(0), centroids.shape(2)};
}

template <typename T>
Array<uint8_t> encoded(const Array<T>& given, const Array<float>& centroids, int64_t dim, int threads) {
  constexpr StoredAs kKind = sizeof(T) == 2 ? StoredAs::kHalves : sizeof(T) == 4 ? StoredAs::kFloats : StoredAs::kBytes;
  const auto rows = matrix(given, "rows");
  const int64_t width = kKind == StoredAs::kBytes ? dim + static_cast<int64_t>(sizeof(float)) : dim;
  PYCHUNK_CHECK(dim >= 1 && rows.cols == width, "rows must be ", width, " wide, got ", rows.cols);
  const CodeBooks books = books_of(centroids);
  const int64_t groups = (rows.rows + kCodeGroup - 1) / kCodeGroup;
  Array<uint8_t> out(
      {static_cast<py::ssize_t>(groups), static_cast<py::ssize_t>(books.held()), static_cast<py::ssize_t>(kCodeBytes)});
  uint8_t* to = out.mutable_data();
  without_gil([&] {
    encode_rows({rows.data, rows.rows}, kKind, dim, books, to, threads);
    return true;
  });
  return out;
}

Array<int64_t> best(const std::vector<Array<uint8_t>>& codes, const std::vector<int64_t>& rows,
                    const Array<float>& centroids, const Array<float>& queries, int64_t count,
                    const Optional<bool>& allowed, int threads) {
  const CodeBooks books = books_of(centroids);
  PYCHUNK_CHECK(codes.size() == rows.size(), "codes and rows must have the same length, got ", codes.size(), " and ",
                rows.size());
  std::vector<CodedRows> parts;
  int64_t all = 0;
  for (size_t i = 0; i < codes.size(); ++i) {
    const Array<uint8_t>& own = codes[i];
    PYCHUNK_CHECK(own.ndim() == 3 && own.shape(1) == books.held() && own.shape(2) == kCodeBytes,
                  "codes must have the shape [groups, ", books.held(), ", ", kCodeBytes, "], got ", shape_of(own));
    PYCHUNK_CHECK(rows[i] >= 0 && own.shape(0) == (rows[i] + kCodeGroup - 1) / kCodeGroup, "codes of ", rows[i],
                  " rows in groups of ", kCodeGroup, " must have the length ", (rows[i] + kCodeGroup - 1) / kCodeGroup,
                  ", got ", own.shape(0));
    parts.push_back({own.data(), rows[i]});
    all += rows[i];
  }
  const auto asked = matrix(queries, "queries");
  PYCHUNK_CHECK(count >= 0, "count must be at least 0, got ", count);
  PYCHUNK_CHECK(!allowed || allowed->size() == all, "allowed must hold ", all, " values, got ",
                allowed ? allowed->size() : 0);
  const bool* mask = allowed ? allowed->data() : nullptr;
  const auto found = without_gil([&] { return best_by_codes(parts, books, asked, count, mask, threads); });
  size_t width = 0;
  for (const auto& own : found) width = std::max(width, own.size());
  Array<int64_t> out({static_cast<py::ssize_t>(asked.rows), static_cast<py::ssize_t>(width)});
  int64_t* to = out.mutable_data();
  for (const auto& own : found)
    for (size_t i = 0; i < width; ++i) *to++ = i < own.size() ? own[i] : -1;
  return out;
}

}  // namespace

void bind_codes(py::module_& m) {
  const char* about =
      "Return the codes of stored rows, uint8[groups of 32, pieces up to a multiple of four, 16]; centroids "
      "float32[pieces, 16, width]; see csrc/search/product_codes.h.";
  m.def("encode_rows", &encoded<uint16_t>, py::arg("rows").noconvert(), py::arg("centroids").noconvert(),
        py::arg("dim"), py::arg("threads"), about);
  m.def("encode_rows", &encoded<float>, py::arg("rows").noconvert(), py::arg("centroids").noconvert(), py::arg("dim"),
        py::arg("threads"));
  m.def("encode_rows", &encoded<int8_t>, py::arg("rows").noconvert(), py::arg("centroids").noconvert(), py::arg("dim"),
        py::arg("threads"));
  m.def("best_by_codes", &best, py::arg("codes").noconvert(), py::arg("rows"), py::arg("centroids").noconvert(),
        py::arg("queries").noconvert(), py::arg("count"), py::arg("allowed").noconvert(), py::arg("threads"),
        "Return the rows that score highest by their codes, int64[q, c], best first; -1 if there are fewer.");
}

}  // namespace pychunk
