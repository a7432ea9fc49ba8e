// The blocks of Markdown, and the elements, brackets and lines of wikitext, for Python.
#include "parsing/markdown.h"
#include "parsing/markdown_inline.h"
#include "parsing/wiki/brackets.h"
#include "parsing/wiki/elements.h"
#include "parsing/wiki/lines.h"
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

// Text that may hold surrogates, as Python's strings do: in the bytes that the error handler "surrogatepass" writes.
py::str decoded(std::string_view bytes) {
  PyObject* const text = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogatepass");
  if (text == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(text);
}
py::bytes encoded(const py::object& text) {
  if (!PyUnicode_Check(text.ptr())) throw py::type_error("a function of wikitext must return a string");
  PyObject* const bytes = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass");
  if (bytes == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::bytes>(bytes);
}

py::str text_without_elements(const py::str& page, const py::function& opaque) {
  const py::bytes whole = encoded(page);
  return decoded(without_elements(whole, [&](std::string_view name, std::string_view content, std::string& out) {
    out += static_cast<std::string_view>(encoded(opaque(decoded(name), decoded(content))));
  }));
}

py::str text_without_brackets(const py::str& text, const py::function& render, const py::function& is_hidden) {
  const py::bytes whole = encoded(text);
  WikiNames names;
  names.add_template = [&](std::string_view content, std::string& out) {
    out += static_cast<std::string_view>(encoded(render(decoded(content))));
  };
  names.is_hidden = [&](std::string_view target, bool has_label) {
    return is_hidden(decoded(target), has_label).cast<bool>();
  };
  return decoded(without_brackets(whole, names));
}

py::tuple text_of_wikitext(const py::str& page, const py::list& held, const py::function& entity, size_t most_blocks) {
  WikiContext context;
  context.most_blocks = most_blocks;
  for (const py::handle text : held) context.held.push_back(encoded(py::reinterpret_borrow<py::object>(text)));
  context.has_letters = [](std::string_view text) {
    const py::str own = decoded(text);
    const Py_ssize_t size = PyUnicode_GET_LENGTH(own.ptr());
    for (Py_ssize_t i = 0; i < size; ++i)
      if (Py_UNICODE_ISALNUM(PyUnicode_READ_CHAR(own.ptr(), i))) return true;
    return false;
  };
  context.add_entity = [&](std::string_view name, std::string& out) {
    out += static_cast<std::string_view>(encoded(entity(decoded(name))));
  };
  const WikiText found = wiki_text(static_cast<std::string_view>(encoded(page)), context);
  if (found.too_many) return py::make_tuple(decoded(found.text), py::none());
  return py::make_tuple(decoded(found.text), py::make_tuple(found.kinds, found.start, found.end));
}

}  // namespace

void bind_markup(py::module_& m) {
  m.def("markdown_blocks", &blocks_of_markdown, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("threads") = 1,
        R"(Return the blocks of k documents of valid UTF-8, in characters of each document.

Returns (offsets int64[k + 1], kind int8[b], level int16[b], start int64[b], end int64[b]); see csrc/parsing/markdown.h.)");
  m.def("heading_texts", &texts_of_headings, py::arg("sources"), py::arg("document"),
        "Return the texts of headings of a document; see csrc/segment/outline.h.");
  m.def("without_elements", &text_without_elements, py::arg("page"), py::arg("opaque"),
        "Return wikitext without comments and what must not be parsed; see csrc/parsing/wiki/elements.h.");
  m.def("without_brackets", &text_without_brackets, py::arg("text"), py::arg("render"), py::arg("is_hidden"),
        "Return wikitext without templates, links and tables; see csrc/parsing/wiki/brackets.h.");
  m.def("wiki_text", &text_of_wikitext, py::arg("page"), py::arg("held"), py::arg("entity"), py::arg("most_blocks"),
        "Return the plain text of wikitext without brackets, and its blocks; see csrc/parsing/wiki/lines.h.");
}

}  // namespace pychunk
