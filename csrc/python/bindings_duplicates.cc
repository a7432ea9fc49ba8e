// Near-copies among documents, for Python.
#include "duplicates/near_copies.h"
#include "python/bindings.h"

namespace pychunk {
namespace {

py::tuple bound_near_copies(const Array<uint8_t>& text, const Array<int64_t>& offsets, double share, int band,
                            int threads) {
  const Texts rows = texts(text, offsets);
  PYCHUNK_CHECK(share > 0 && share <= 1, "share must be above 0 and at most 1");
  PYCHUNK_CHECK(band >= 1 && band <= kSketch, "band must be from 1 to ", kSketch, ", got ", band);
  NearCopies found = without_gil([&] {
    check_utf8(text, view(offsets));
    return find_near_copies(rows, share, band, threads);
  });
  return py::make_tuple(array(std::move(found.rows)), array(std::move(found.of)), array(std::move(found.shares)));
}

}  // namespace

void bind_duplicates(py::module_& m) {
  m.def("near_copies", &bound_near_copies, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("share"), py::arg("band"), py::arg("threads"),
        "Return the documents that are near-copies of an earlier one: (rows, of, shares).");
}

}  // namespace pychunk
