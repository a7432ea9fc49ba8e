// A target for the recursive splitter alone: pieces are in order, at characters, within their size, and complete.
#include "text/recursive.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  RecursiveOptions options{
      .size = 1 + input.option(80), .overlap = 0, .unit = static_cast<Unit>(input.option(3)), .separators = {}};
  if (input.flag()) options.overlap = input.option(options.size + 1);
  const char* kLadders[][4] = {
      {"\n\n", "\n", " ", ""}, {". ", " ", nullptr}, {"\u3002", "", nullptr}, {"\n", "", nullptr}, {"", nullptr}};
  for (const char* separator : kLadders[input.option(5)])
    if (separator != nullptr) options.separators.emplace_back(separator);
  const bool complete = options.separators.back().empty();
  const std::string text = fuzz::valid(input.bytes());
  RecursiveInput in{text, 0, static_cast<int64_t>(text.size()), {}};
  Values<int32_t> ids;
  Values<int64_t> spans;
  std::vector<int64_t> offsets, starts;
  const int64_t bounds[] = {0, static_cast<int64_t>(text.size())};
  fuzz::tokenizer().encode(text, bounds, 1, ids, offsets, &spans);
  for (size_t t = 0; t < ids.size(); ++t) starts.push_back(spans[2 * t]);
  std::sort(starts.begin(), starts.end());
  in.token_starts = starts;

  std::vector<Piece> pieces;
  RecursiveSplitter splitter(options);
  splitter.split(in, pieces);
  int64_t covered = 0, last_start = -1, last_end = -1;
  for (const Piece& p : pieces) {
    REQUIRE(p.start < p.end && fuzz::border(text, p.start) && fuzz::border(text, p.end), p.start, " to ", p.end);
    REQUIRE(p.start >= last_start && p.end >= last_end, p.start, " to ", p.end, " after ", last_start, " to ",
            last_end);
    REQUIRE(p.start <= covered || trim(text, covered, p.start).empty(), "left out from ", covered, " to ", p.start);
    REQUIRE(options.overlap > 0 || p.start >= covered, "overlap at ", p.start);
    const auto piece =
        std::string_view(text).substr(static_cast<size_t>(p.start), static_cast<size_t>(p.end - p.start));
    int64_t length = 0;
    if (options.unit == Unit::kTokens) {
      for (const int64_t s : starts) length += s >= p.start && s < p.end;
    } else {
      length = fuzz::length_for_langchain(piece, options.unit);
    }
    REQUIRE(length == p.size, p.start, " to ", p.end, " holds ", length, ", says ", p.size);
    REQUIRE(!complete || length <= options.size || fuzz::characters(piece) == 1, p.start, " to ", p.end, " holds ",
            length, " of ", options.size);
    covered = std::max(covered, p.end), last_start = p.start, last_end = p.end;
  }
  REQUIRE(trim(text, covered, static_cast<int64_t>(text.size())).empty(), "the end is left out from ", covered);
  return 0;
}
