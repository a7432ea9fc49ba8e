// Pages of HTML for Python.
#include "bindings.h"
#include "block_words.h"
#include "html_bytes.h"
#include "html_walk.h"

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

py::tuple counts_of_tags(const Array<uint8_t>& page, const Array<uint32_t>& voids, const Array<uint32_t>& formatting,
                         int64_t longest) {
  TagCounts found = without_gil([&] { return count_tags(page_bytes(page), view(voids), view(formatting), longest); });
  return py::make_tuple(found.open, found.options, found.formatting, std::move(found.longer));
}

py::tuple count_of_attributes(const Array<uint8_t>& page, int64_t begin, int64_t most) {
  PYCHUNK_CHECK(begin >= 0 && begin < page.size(), "begin must be a byte of the page, got ", begin);
  const AttributeCount found = without_gil([&] { return count_attributes(page_bytes(page), begin, most); });
  return py::make_tuple(found.count, found.end);
}

std::vector<std::vector<int64_t>> places_of_keys(const Array<uint8_t>& page, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    PYCHUNK_CHECK(key.size() > 1 && key[0] == '"', "a key must begin with a quote, got ", key);
  }
  const std::vector<std::string_view> wanted(keys.begin(), keys.end());
  return without_gil([&] { return find_keys(page_bytes(page), wanted); });
}

}  // namespace

void bind_html(py::module_& m) {
  m.def("block_words", &words_of_blocks, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
        py::arg("stop_words"), py::arg("marks"), py::arg("first"), py::arg("last"),
        R"(Words of b texts in lower case, valid UTF-8; see csrc/block_words.h.

Returns (words int64[b], stop words int64[b], how many are hashed int64[b], whether its last character ends a sentence
uint8[b], hashes uint32).)");
  m.def("count_tags", &counts_of_tags, py::arg("page").noconvert(), py::arg("voids").noconvert(),
        py::arg("formatting").noconvert(), py::arg("longest"),
        "(open at once, options, formatting elements open at once, where long ones begin); see csrc/html_bytes.h.");
  m.def("count_attributes", &count_of_attributes, py::arg("page").noconvert(), py::arg("begin"), py::arg("most"),
        "(attributes of the tag that begins at a byte, at most `most`, the byte behind them); see csrc/html_bytes.h.");
  m.def("find_keys", &places_of_keys, py::arg("page").noconvert(), py::arg("keys"),
        "Where each of the keys, which begin with a quote, begins in a page; see csrc/html_bytes.h.");
  m.def("walk_html", &walk_of_html, py::arg("page").noconvert(), py::arg("images"), py::arg("targets"),
        R"(What a page shows, from lexbor's tree as it writes it, valid UTF-8. With images those that stand
alone and say something are blocks, with targets links are those of Markdown.

Returns None where the page is not so written, else (text, rows int64[b, 4], facts int32[b, 5], parent int32[e], last
int32[e], words uint32, their offsets int64[e + 1], first heading); see csrc/html_walk.h.)");
}

}  // namespace pychunk
