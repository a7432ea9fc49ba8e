// The blocks of Markdown, for Python.
#include "parsing/markdown.h"
#include "parsing/markdown_inline.h"
#include "python/bindings.h"
#include "segment/outline.h"

namespace pychunk {
namespace {

py::tuple blocks_of_markdown(const Array<uint8_t>& text, const Array<int64_t>& offsets, int threads) {
  const Texts documents = texts(text, offsets);
  BlockTable found = without_gil([&] { return markdown_blocks(documents, threads); });
  return py::make_tuple(array(std::move(found.offsets)), array(std::move(found.kind)), array(std::move(found.level)),
                        array(std::move(found.start)), array(std::move(found.end)));
}

py::list texts_of_headings(const std::vector<std::string>& sources, const std::string& document) {
  py::list out;
  LinkLabels labels(document);
  for (const std::string& source : sources) {
    std::vector<char> text;
    append_heading(source, true, labels, text);
    out.append(py::str(text.data(), text.size()));
  }
  return out;
}

}  // namespace

void bind_markdown(py::module_& m) {
  m.def("markdown_blocks", &blocks_of_markdown, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("threads") = 1,
        R"(Return the blocks of k documents of valid UTF-8, in characters of each document.

Returns (offsets int64[k + 1], kind int8[b], level int16[b], start int64[b], end int64[b]); see csrc/parsing/markdown.h.)");
  m.def("heading_texts", &texts_of_headings, py::arg("sources"), py::arg("document"),
        "Return the texts of headings of a document; see csrc/segment/outline.h.");
}

}  // namespace pychunk
