// A target for terms and postings of any texts. They are the same in any batches, each row's counts of words add up to
// its length, and the inverted file holds the same as the rows, with terms in order. The tables are those of BERT's
// normaliser, which exist already.
#include "search/terms.h"

#include <map>

#include "fuzz.h"
#include "search/postings.h"
#include "text/folding.h"

namespace {

using namespace pychunk;

std::shared_ptr<const WordCharacters> characters() {
  static const auto made = std::make_shared<const WordCharacters>(
      std::vector<uint32_t>{'0', '9', 'A', 'Z', '_', '_', 'a', 'z', 0xC0, 0x2FF, 0x370, 0x1FFF, 0x3000, 0xFFFF},
      std::vector<uint32_t>{0x300, 0x36F, 0x900, 0x903, 0x93A, 0x94F}, std::vector<uint32_t>{0x3040, 0x9FFF},
      std::vector<uint32_t>{0xE00, 0xE7F});
  return made;
}

std::shared_ptr<const Folding> folding() {
  static const auto made = [] {
    std::vector<uint32_t> cases, classes, compositions;
    std::map<std::string, std::vector<uint32_t>> tables;
    for (auto& [name, cells] : unicode_tables()) tables[name] = cells;
    const auto& lower = tables["lower"];
    for (size_t i = 0; i < lower.size(); i += 4)
      for (uint32_t c = lower[i]; c <= lower[i + 1]; c += lower[i + 2])
        cases.insert(cases.end(), {c, 1, c + lower[i + 3] - lower[i + 1]});
    const auto& runs = tables["classes"];
    for (size_t i = 0; i < runs.size(); i += 3)
      for (uint32_t c = runs[i]; c <= runs[i + 1]; ++c) classes.insert(classes.end(), {c, runs[i + 2]});
    const auto& rows = tables["decompositions"];
    for (size_t i = 0; i < rows.size(); i += 2 + rows[i + 1])
      if (rows[i + 1] == 2) compositions.insert(compositions.end(), {rows[i + 2], rows[i + 3], rows[i]});
    const std::vector<uint32_t> plain{0xE6, 2, 'a', 'e', 0xE9, 1, 'e', 0xF8, 1, 'o'};
    const std::vector<uint32_t> ignored{0xAD, 0xAD, 0x200B, 0x200F, 0x345, 0x345};
    return std::make_shared<const Folding>(FoldingTables{cases, rows, classes, compositions, ignored, plain});
  }();
  return made;
}

struct Counted {
  Counted(const TermOptions& options, bool folds, int count)
      : counter(characters(), folds ? folding() : nullptr, options), threads(count) {}
  void add(const Texts& texts) {
    counter.read(texts, {}, threads);
    std::vector<std::string> stems;
    for (const std::string_view word : counter.unknown()) {  // the first two characters
      size_t end = 0;
      for (int n = 0; n < 2 && end < word.size(); ++n) end += fuzz::character_at(word, end);
      stems.emplace_back(word.substr(0, end));
    }
    counter.learn(std::vector<std::string_view>(stems.begin(), stems.end()));
    batches.push_back(counter.rows(threads));
  }
  InvertedFile inverted() const {
    std::vector<CountedRows> views;
    for (const TermRows& each : batches) views.push_back({each.terms, each.counts, each.sizes});
    return invert(counter.terms(), views, threads);
  }
  TermCounter counter;
  const int threads;
  std::vector<TermRows> batches;
};

template <typename T>
bool same(const Buffer<T>& a, const Buffer<T>& b) {
  return a.size == b.size && std::equal(a.data, a.data + a.size, b.data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  TermOptions options{.ngram = input.option(7), .stems = input.flag(), .stop_words = {}};
  if (input.flag()) options.stop_words = {"the", "a"};
  const bool folds = input.option(4) != 0;
  if (options.ngram > 0 && input.flag()) options.english = {"the", "of"}, options.others = {"der", "und"};
  const fuzz::Documents rows = fuzz::documents(fuzz::valid(input.bytes()));

  const int threads = 1 + static_cast<int>(input.option(3));
  Counted whole(options, folds, 1), single(options, folds, threads), shared(options, folds, threads);
  whole.add(rows.texts());
  for (int64_t i = 0; i < rows.size(); ++i)
    single.add({rows.text.data(), std::span(rows.offsets).subspan(static_cast<size_t>(i), 2)});
  shared.add(rows.texts());
  const InvertedFile found = whole.inverted(), other = single.inverted(), third = shared.inverted();
  REQUIRE(same(found.terms, other.terms) && same(found.term_offsets, other.term_offsets), "terms depend on batches");
  REQUIRE(same(found.offsets, other.offsets) && same(found.rows, other.rows) && same(found.counts, other.counts),
          "postings depend on batches");
  REQUIRE(same(found.terms, third.terms) && same(found.term_offsets, third.term_offsets), "terms depend on threads");
  REQUIRE(same(found.offsets, third.offsets) && same(found.rows, third.rows) && same(found.counts, third.counts),
          "postings depend on threads");

  const TermRows& counted = whole.batches[0];
  REQUIRE(static_cast<int64_t>(counted.lengths.size()) == rows.size(), counted.lengths.size(), " rows");
  std::vector<int64_t> lengths(counted.lengths.size());
  for (int64_t t = 0; t < found.offsets.size - 1; ++t) {
    const std::string_view term(found.terms.data + found.term_offsets.data[t],
                                static_cast<size_t>(found.term_offsets.data[t + 1] - found.term_offsets.data[t]));
    REQUIRE(!term.empty() && fuzz::valid(std::string(term)) == term, "term ", t, " is no text");
    if (t > 0) {
      const std::string_view before(found.terms.data + found.term_offsets.data[t - 1],
                                    static_cast<size_t>(found.term_offsets.data[t] - found.term_offsets.data[t - 1]));
      REQUIRE(before < term, "term ", t, " is not behind the one before");
    }
    REQUIRE(found.offsets.data[t] < found.offsets.data[t + 1], "term ", t, " is in no row");
    for (int64_t i = found.offsets.data[t]; i < found.offsets.data[t + 1]; ++i) {
      REQUIRE(found.counts.data[i] > 0, "no count");
      REQUIRE(i == found.offsets.data[t] || found.rows.data[i - 1] < found.rows.data[i], "rows of term ", t);
      if (term[0] != kGramMark) lengths[static_cast<size_t>(found.rows.data[i])] += found.counts.data[i];
    }
  }
  for (size_t row = 0; row < lengths.size(); ++row)
    REQUIRE(lengths[row] == counted.lengths[row], "row ", row, " has ", lengths[row], " terms, says ",
            counted.lengths[row]);
  return 0;
}
