// Pages of HTML for Python.
#include "bindings.h"
#include "html_walk.h"

namespace pychunk {
namespace {

py::object walk_of_html(const Array<uint8_t>& page) {
  HtmlWalk found;
  const std::string_view written(reinterpret_cast<const char*>(page.data()), static_cast<size_t>(page.size()));
  if (!without_gil([&] { return walk_html(written, found); })) return py::none();
  const auto blocks = static_cast<py::ssize_t>(found.rows.size() / 4);
  return py::make_tuple(py::str(found.text), array(std::move(found.rows), {blocks, 4}),
                        array(std::move(found.facts), {blocks, 5}), array(std::move(found.parent)),
                        array(std::move(found.last)), array(std::move(found.words)),
                        array(std::move(found.word_offsets)), py::str(found.first_heading));
}

}  // namespace

void bind_html(py::module_& m) {
  m.def("walk_html", &walk_of_html, py::arg("page").noconvert(),
        R"(What a page shows, from lexbor's tree as it writes it, valid UTF-8.

Returns None where the page is not so written, else (text, rows int64[b, 4], facts int32[b, 5], parent int32[e], last
int32[e], words uint32, their offsets int64[e + 1], first heading); see csrc/html_walk.h.)");
}

}  // namespace pychunk
