// Words, for Python: terms, postings, and the languages that words tell.
#include <algorithm>
#include <tuple>

#include "common/dispatch.h"
#include "python/bindings.h"
#include "search/best_rows.h"
#include "search/bm25.h"
#include "search/postings.h"
#include "search/sorted_terms.h"
#include "search/terms.h"
#include "text/folding.h"
#include "text/languages.h"
#include "text/utf8.h"

namespace pychunk {

void check_utf8(const Array<uint8_t>& text, std::span<const int64_t> offsets) {
  const int64_t begin = offsets.front(), end = offsets.back();
  const int64_t bad = kernels().find_invalid_utf8(text.data() + begin, static_cast<size_t>(end - begin));
  PYCHUNK_CHECK(bad < 0, "texts must be valid UTF-8, got an invalid byte at ", begin + bad);
  for (const int64_t at : offsets)
    PYCHUNK_CHECK(at == end || !continues_character(text.data()[at]), "a text begins inside a character at byte ", at);
}

namespace {

using Rows32 = std::tuple<Array<int32_t>, Array<int32_t>, Array<int32_t>>;  // terms, counts, sizes

#include "python_tables.inc"

py::object python_tables(const std::string& version) {
  if (version != kPythonsUnicode) return py::none();
  py::dict tables;
  const auto add = [&](const char* name, std::span<const uint32_t> table) {
    tables[name] = Array<uint32_t>(static_cast<py::ssize_t>(table.size()), table.data());
  };
  add("letters", kPythonsLetters);
  add("marks", kPythonsMarks);
  add("cases", kPythonsCases);
  add("decompositions", kPythonsDecompositions);
  add("classes", kPythonsClasses);
  add("compositions", kPythonsCompositions);
  return tables;
}

py::tuple fold_texts(const Folding& folding, const Array<uint8_t>& text, const Array<int64_t>& offsets) {
  const Texts rows = texts(text, offsets);
  Values<char> folded;
  std::vector<int64_t> ends{0};
  without_gil([&] {
    check_utf8(text, view(offsets));
    for (int64_t row = 0; row < rows.size(); ++row) {
      folding.fold(rows[row], folded);
      ends.push_back(static_cast<int64_t>(folded.size()));
    }
    return true;
  });
  return py::make_tuple(array(std::move(folded)), array(std::move(ends)));
}

// A maker of postings that handles one call at a time. It refuses a call from a signal handler or another thread
// meanwhile.
class PostingsMaker {
 public:
  PostingsMaker(std::shared_ptr<WordCharacters> characters, std::shared_ptr<Folding> folding, int64_t ngram,
                std::optional<py::function> stem, std::vector<std::string> stop_words, size_t memory,
                std::vector<std::string> english, std::vector<std::string> others)
      : counter_(std::move(characters), std::move(folding),
                 {ngram, stem.has_value(), std::move(stop_words), std::move(english), std::move(others), memory}),
        stem_(std::move(stem)) {}

  py::tuple count(const Array<uint8_t>& text, const Array<int64_t>& offsets, int threads,
                  const std::optional<std::pair<Array<uint8_t>, Array<int64_t>>>& contexts) {
    const InUse in_use(used_);
    const Texts rows = texts(text, offsets), before = contexts ? texts(contexts->first, contexts->second) : Texts{};
    without_gil([&] {
      check_utf8(text, view(offsets));
      if (contexts) check_utf8(contexts->first, view(contexts->second));
      counter_.read(rows, before, threads);
      return true;
    });
    const std::vector<std::string_view> words = counter_.unknown();
    std::vector<std::string> stemmed;
    std::vector<std::string_view> stems = words;
    if (stem_) {
      py::list list(words.size());
      for (size_t i = 0; i < words.size(); ++i) list[i] = py::str(words[i].data(), words[i].size());
      stemmed = (*stem_)(list).cast<std::vector<std::string>>();
      stems.assign(stemmed.begin(), stemmed.end());
    }
    TermRows found = without_gil([&] {
      counter_.learn(stems);
      return counter_.rows(threads);
    });
    return py::make_tuple(array(std::move(found.terms)), array(std::move(found.counts)), array(std::move(found.sizes)),
                          array(std::move(found.lengths)));
  }

  py::tuple finish(const std::vector<Rows32>& batches, int threads) {
    const InUse in_use(used_);
    std::vector<CountedRows> views;
    for (const auto& [terms, counts, sizes] : batches) views.push_back({view(terms), view(counts), view(sizes)});
    InvertedFile found = without_gil([&] { return invert(counter_.terms(), views, threads); });
    return py::make_tuple(array(std::move(found.terms)), array(std::move(found.term_offsets)),
                          array(std::move(found.offsets)), array(std::move(found.rows)),
                          array(std::move(found.counts)));
  }

 private:
  class InUse {
   public:
    explicit InUse(bool& used) : used_(used) {
      if (used)
        throw std::runtime_error(
            "another thread, or the call that a signal interrupted, is adding rows; call again when that call has "
            "ended");
      used_ = true;
    }
    ~InUse() { used_ = false; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    bool& used_;
  };

  TermCounter counter_;
  const std::optional<py::function> stem_;
  bool used_ = false;
};

py::tuple trigram_classes(const Languages& languages, const Array<uint8_t>& text, const Array<int64_t>& offsets) {
  const Texts rows = texts(text, offsets);
  Values<int32_t> classes, own;
  std::vector<int64_t> ends{0};
  without_gil([&] {
    check_utf8(text, view(offsets));
    for (int64_t row = 0; row < rows.size(); ++row) {
      languages.read(rows[row], own);
      classes.insert(classes.end(), own.begin(), own.end());
      ends.push_back(static_cast<int64_t>(classes.size()));
    }
    return true;
  });
  return py::make_tuple(array(std::move(classes)), array(std::move(ends)));
}

void bind_languages(py::module_& m) {
  py::class_<Languages>(m, "Languages", "The languages that texts may be written in; see csrc/text/languages.h.")
      .def(py::init([](const Array<uint32_t>& letters, const Array<uint32_t>& lower, const Array<uint8_t>& alone,
                       const Array<uint8_t>& written_in, const Array<int8_t>& weights) {
             return Languages({view(letters), view(lower), view(alone), view(written_in), matrix(weights, "weights")});
           }),
           py::arg("letters").noconvert(), py::arg("lower").noconvert(), py::arg("alone").noconvert(),
           py::arg("written_in").noconvert(), py::arg("weights").noconvert())
      .def(
          "detect",
          [](const Languages& languages, const Array<uint8_t>& text, const Array<int64_t>& offsets, int threads) {
            const Texts rows = texts(text, offsets);
            return array(without_gil([&] {
              check_utf8(text, view(offsets));
              return languages.detect(rows, threads);
            }));
          },
          py::arg("text").noconvert(), py::arg("offsets").noconvert(), py::arg("threads"),
          "Return the number of each text's language, or -1 for a text without letters.")
      .def("classes", &trigram_classes, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
           "Return (classes, offsets): the classes of the trigrams that decide each text's language.");
}

// View the integers of an array as unsigned ones of their width. Negative ones become large ones.
Numbers numbers(const py::array& array) {
  const char kind = array.dtype().kind();
  PYCHUNK_CHECK((kind == 'u' || kind == 'i') && array.itemsize() <= 4 && array.ndim() == 1 &&
                    (array.flags() & py::array::c_style) != 0,
                "postings must be flat arrays of integers of up to 32 bits");
  return {array.data(), array.size(), static_cast<int>(array.itemsize())};
}

using Part = std::tuple<py::array, py::array, Array<int64_t>, Array<int64_t>, int64_t>;

Array<float> bm25_scores_of(const std::vector<Part>& given, const Array<int64_t>& offsets, const Array<int64_t>& terms,
                            const Array<float>& weights, const Array<float>& bounds, const Array<float>& base,
                            const Optional<bool>& alive, int threads) {
  std::vector<PartPostings> parts;
  int64_t first = 0;
  for (const auto& [rows, counts, begins, ends, size] : given) {
    parts.push_back({numbers(rows), numbers(counts), view(begins), view(ends), first, size});
    first += size;
  }
  check_offsets(view(offsets), terms.size(), "offsets");
  PYCHUNK_CHECK(!alive || alive->size() == base.size(), "alive must hold ", base.size(), " values, got ",
                alive->size());
  const WeightedTerms queries{{view(terms), view(offsets)}, view(weights), view(bounds)};
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(queries.terms.size()), base.size()};
  Buffer<float> out(shape[0] * shape[1]);  // for many queries its memory is in large pages, which the next call reuses
  without_gil([&] {
    bm25_scores(parts, queries, view(base), alive ? alive->data() : nullptr, out.data, threads);
    return true;
  });
  return array(std::move(out), shape);
}

py::tuple scored_rows(const std::vector<std::vector<ScoredRow>>& found) {
  Values<float> best;
  std::vector<int64_t> rows, ends{0};
  for (const auto& own : found) {
    for (const ScoredRow& each : own) best.push_back(each.score), rows.push_back(each.row);
    ends.push_back(static_cast<int64_t>(rows.size()));
  }
  return py::make_tuple(array(std::move(best)), array(std::move(rows)), array(std::move(ends)));
}

py::tuple best_rows_of(const Array<float>& given, int64_t count, const Optional<bool>& allowed, int threads) {
  const auto scores = matrix(given, "scores");
  PYCHUNK_CHECK(count >= 0, "count must be at least 0, got ", count);
  PYCHUNK_CHECK(!allowed || allowed->size() == scores.cols, "allowed must hold ", scores.cols, " values, got ",
                allowed->size());
  return scored_rows(
      without_gil([&] { return best_rows(scores, count, allowed ? allowed->data() : nullptr, threads); }));
}

py::tuple best_rows_of_groups_of(const Array<float>& given, int64_t count, const Array<int8_t>& groups,
                                 int64_t count_of_groups, int threads) {
  const auto scores = matrix(given, "scores");
  PYCHUNK_CHECK(count >= 0, "count must be at least 0, got ", count);
  PYCHUNK_CHECK(count_of_groups >= 0, "there must be at least 0 groups, got ", count_of_groups);
  PYCHUNK_CHECK(groups.size() == scores.cols, "groups must hold ", scores.cols, " values, got ", groups.size());
  return scored_rows(
      without_gil([&] { return best_rows_of_groups(scores, count, view(groups), count_of_groups, threads); }));
}

int64_t count_alive_of(const py::array& rows, const Array<bool>& alive) {
  const std::span bytes(reinterpret_cast<const uint8_t*>(alive.data()), static_cast<size_t>(alive.size()));
  const Numbers own = numbers(rows);
  const Unlocked unlocked;
  return count_alive(own, bytes);
}

// Sorted terms with the arrays that contain them.
class SortedTerms {
 public:
  SortedTerms(Array<uint8_t> text, Array<int64_t> offsets)
      : text_(std::move(text)), offsets_(std::move(offsets)), terms_(texts(text_, offsets_)) {}

  Array<int64_t> find(const std::vector<std::string>& wanted) const {
    const std::vector<int64_t> places = places_of(terms_, wanted);
    return Array<int64_t>(static_cast<py::ssize_t>(places.size()), places.data());
  }

 private:
  const Array<uint8_t> text_;
  const Array<int64_t> offsets_;
  const Texts terms_;
};

}  // namespace

void bind_terms(py::module_& m) {
  bind_languages(m);
  m.def("bm25_scores", &bm25_scores_of, py::arg("parts"), py::arg("offsets").noconvert(), py::arg("terms").noconvert(),
        py::arg("weights").noconvert(), py::arg("bounds").noconvert(), py::arg("base").noconvert(),
        py::arg("alive").noconvert() = py::none(), py::arg("threads") = 1,
        "Return the scores of all rows, float32[q, n]; see csrc/search/bm25.h. parts: (rows, counts, begins, ends, "
        "number of rows).");
  m.def(
      "best_rows_of_groups", &best_rows_of_groups_of, py::arg("scores").noconvert(), py::arg("count"),
      py::arg("groups").noconvert(), py::arg("count_of_groups"), py::arg("threads") = 1,
      "Return what best_rows returns for each group of rows: lists for query 0 and each group, then for query 1, ...");
  m.def("best_rows", &best_rows_of, py::arg("scores").noconvert(), py::arg("count"),
        py::arg("allowed").noconvert() = py::none(), py::arg("threads") = 1,
        "Return (scores float32[m], rows int64[m], offsets int64[q + 1]) of the best rows above 0; see "
        "csrc/search/best_rows.h.");
  m.def("count_alive", &count_alive_of, py::arg("rows"), py::arg("alive").noconvert(), "Return alive[rows].sum().");
  py::class_<WordCharacters, std::shared_ptr<WordCharacters>>(m, "WordCharacters",
                                                              "The characters that words consist of.")
      .def(py::init([](const Array<uint32_t>& letters, const Array<uint32_t>& marks, const Array<uint32_t>& paired,
                       const Array<uint32_t>& tripled) {
             return std::make_shared<WordCharacters>(view(letters), view(marks), view(paired), view(tripled));
           }),
           py::arg("letters").noconvert(), py::arg("marks").noconvert(), py::arg("paired").noconvert(),
           py::arg("tripled").noconvert());
  m.def("python_tables", &python_tables, py::arg("version"),
        "Return the character classes of the Python that built the extension, by name, uint32[n] each (see "
        "pychunk/index/lexical/character_tables.py); None if its version of Unicode was another one.");
  py::class_<Folding, std::shared_ptr<Folding>>(m, "Folding",
                                                "A folding of texts to one case and spelling; see csrc/text/folding.h.")
      .def(py::init([](const Array<uint32_t>& cases, const Array<uint32_t>& decompositions,
                       const Array<uint32_t>& classes, const Array<uint32_t>& compositions,
                       const Array<uint32_t>& ignored, const Array<uint32_t>& plain) {
             return std::make_shared<Folding>(FoldingTables{view(cases), view(decompositions), view(classes),
                                                            view(compositions), view(ignored), view(plain)});
           }),
           py::arg("cases").noconvert(), py::arg("decompositions").noconvert(), py::arg("classes").noconvert(),
           py::arg("compositions").noconvert(), py::arg("ignored").noconvert(), py::arg("plain").noconvert())
      .def("fold", &fold_texts, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
           "Return (bytes int8[], offsets int64[n + 1]) of n texts, folded; raise ValueError for invalid UTF-8.");
  py::class_<SortedTerms>(m, "SortedTerms",
                          "The terms of an index in the order of their code points; see csrc/search/sorted_terms.h.")
      .def(py::init<Array<uint8_t>, Array<int64_t>>(), py::arg("text").noconvert(), py::arg("offsets").noconvert())
      .def("find", &SortedTerms::find, py::arg("wanted"),
           "Return the position of each term, int64[n]; -1 if it is not there.");
  py::class_<PostingsMaker>(m, "PostingsMaker",
                            "A maker of postings, which counts and inverts the terms of rows; see csrc/search/terms.h.")
      .def(py::init<std::shared_ptr<WordCharacters>, std::shared_ptr<Folding>, int64_t, std::optional<py::function>,
                    std::vector<std::string>, size_t, std::vector<std::string>, std::vector<std::string>>(),
           py::arg("characters"), py::arg("folding"), py::arg("ngram"), py::arg("stem"), py::arg("stop_words"),
           py::arg("memory") = TermOptions().memory, py::arg("english") = std::vector<std::string>(),
           py::arg("others") = std::vector<std::string>())
      .def("count", &PostingsMaker::count, py::arg("text").noconvert(), py::arg("offsets").noconvert(),
           py::arg("threads") = 1, py::arg("contexts") = py::none(),
           R"(Return (terms int32[p], counts int32[p], sizes int32[n], lengths int32[n]) of n texts, ASCII or folded.

`contexts` is None, or the bytes and offsets of n texts. The terms of each precede those of its row.

Terms are numbers that stay the same from call to call. The number of a new term depends on the threads, each of which
needs memory for the words that it has read. stem(words) is called once with all new words.

Raises:
    ValueError: The texts are not valid UTF-8.)")
      .def("finish", &PostingsMaker::finish, py::arg("batches"), py::arg("threads") = 1,
           R"(Build the inverted file of batches of (terms, counts, sizes) from count().

Returns (bytes of the terms int8[], their offsets int64[t + 1], offsets int64[t + 1], rows int32[p], counts int32[p]).
Terms are in the order of their code points. The result is the same for any number of threads.)");
}

}  // namespace pychunk
