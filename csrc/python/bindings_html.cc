// Pages of HTML, for Python.
#include "parsing/block_words.h"
#include "parsing/html/html_bytes.h"
#include "parsing/html/html_walk.h"
#include "parsing/html/html_work.h"
#include "python/bindings.h"

namespace pychunk {
namespace {

std::string_view page_bytes(const Array<uint8_t>& page) {
  return {reinterpret_cast<const char*>(page.data()), static_cast<size_t>(page.size())};
}

py::object walk_of_html(const Array<uint8_t>& page, bool images, bool targets) {
  HtmlWalk found;
  if (!without_gil([&] { return walk_html(page_bytes(page), images, targets, found); })) return py::none();
  const auto blocks = static_cast<py::ssize_t>(found.rows.size() / 4);
  return py::make_tuple(py::str(found.text), array(std::move(found.rows), {blocks, 4}),
                        array(std::move(found.facts), {blocks, 5}), array(std::move(found.parent)),
                        array(std::move(found.last)), array(std::move(found.words)),
                        array(std::move(found.word_offsets)), py::str(found.first_heading));
}

py::tuple words_of_blocks(const Array<uint8_t>& text, const Array<int64_t>& offsets, const std::string& stop_words,
                          const std::string& marks, int64_t first, int64_t last) {
  const Texts blocks = texts(text, offsets);
  PYCHUNK_CHECK(first >= 0 && last >= 0, "first and last must be 0 or more, got ", first, " and ", last);
  BlockWords found = without_gil([&] { return block_words(blocks, {stop_words, marks, first, last}); });
  return py::make_tuple(array(std::move(found.words)), array(std::move(found.stops)), array(std::move(found.hashed)),
                        array(std::move(found.ends_sentence)), array(std::move(found.hashes)));
}

py::object lower_of_text(const Array<uint8_t>& text) {
  auto found = without_gil([&] { return lower_of(page_bytes(text)); });
  return found ? py::object(array(std::move(*found))) : py::none();
}

py::tuple work_of_html(const Array<uint8_t>& page, int64_t open, int64_t formatting, int64_t options,
                       int64_t attributes, int64_t names) {
  const HtmlLimits limits{open, formatting, options, attributes, names};
  const HtmlWork found = without_gil([&] { return html_work(page_bytes(page), limits); });
  return py::make_tuple(found.nodes, found.steps, found.is_suspect);
}

std::vector<std::vector<int64_t>> places_of_keys(const Array<uint8_t>& page, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    PYCHUNK_CHECK(key.size() > 1 && key[0] == '"',
                  "a key must begin with a double quote (\") and have text after it, got ",
                  key.empty() ? "nothing" : key);
  }
  const std::vector<std::string_view> wanted(keys.begin(), keys.end());
  return without_gil([&] { return find_keys(page_bytes(page), wanted); });
}

Array<uint8_t> told_of_blocks(const Array<uint8_t>& text, const Array<int64_t>& start, const Array<int64_t>& end,
                              const Array<uint8_t>& told, int64_t least, int64_t most) {
  const auto starts = view(start);
  PYCHUNK_CHECK(0 < least && least <= most && most < 1 << 20, "least and most must be 1 to ", 1 << 20, ", got ", least,
                " and ", most);
  const ToldBlocks blocks{page_bytes(text), starts, view_of(end, starts.size(), "end"), page_bytes(told)};
  return array(without_gil([&] { return find_told(blocks, least, most); }));
}

}  // namespace

void bind_html(py::module_& m) {
  m.def("block_words", &words_of_blocks, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("stop_words"), py::arg("marks"), py::arg("first"), py::arg("last"),
        R"(Count and hash the words of b texts in lower case, valid UTF-8; see csrc/parsing/block_words.h.

Returns (words int64[b], stop words int64[b], number of hashes int64[b], whether the last character ends a sentence
uint8[b], hashes uint32).)");
  m.def("lower_of_text", &lower_of_text, py::arg("text").noconvert(),
        "Return valid UTF-8 in lower case, uint8[n], or None if it may hold unknown letters; see block_words.h.");
  m.def("html_work", &work_of_html, py::arg("page").noconvert(), py::arg("open"), py::arg("formatting"),
        py::arg("options"), py::arg("attributes"), py::arg("names"),
        "Return (nodes, steps, whether a limit is exceeded); see csrc/parsing/html/html_work.h.");
  m.def("find_keys", &places_of_keys, py::arg("page").noconvert(), py::arg("keys"),
        "Return the positions of each key, which begins with a quote, in a page; see csrc/parsing/html/html_bytes.h.");
  m.def("find_told", &told_of_blocks, py::arg("text").noconvert(), py::arg("start").noconvert(),
        py::arg("end").noconvert(), py::arg("told").noconvert(), py::arg("least"), py::arg("most"),
        R"(Find the blocks whose first letters and digits are in another text; see csrc/parsing/html/html_bytes.h.

Returns uint8[b]: 0 for no, 1 for yes, 2 for blocks of other letters than Latin ones.)");
  m.def("walk_html", &walk_of_html, py::arg("page").noconvert(), py::arg("images"), py::arg("targets"),
        R"(Return the visible text of a page, from lexbor's tree in its own output, which must be valid UTF-8.

With `images`, an image that is alone and has a text becomes a block. With `targets`, links are written as in Markdown.

Returns None if the page is not in lexbor's form, else (text, rows int64[b, 4], facts int32[b, 5], parent int32[e], last
int32[e], words uint32, their offsets int64[e + 1], first heading); see csrc/parsing/html/html_walk.h.)");
}

}  // namespace pychunk
