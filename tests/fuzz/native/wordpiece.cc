// A target for WordPiece with any options: ids and spans are in range and in order, and a span's tokens are the same
// alone as with others.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  static std::array<std::unique_ptr<WordPiece>, 32> made;
  const auto choice = static_cast<size_t>(input.option(32));
  if (!made[choice])
    made[choice] = std::make_unique<WordPiece>(
        fuzz::vocabulary(),
        WordPieceOptions{{(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0, (choice & 8) != 0},
                         "[UNK]",
                         "##",
                         (choice & 16) != 0 ? 100 : 3});
  const WordPiece& tokenizer = *made[choice];
  const int64_t every = 1 + input.option(40);
  const std::string text = fuzz::valid(input.bytes());
  std::vector<int64_t> bounds{0};
  for (int64_t at = every; at < static_cast<int64_t>(text.size()); at += every)
    if (fuzz::border(text, at)) bounds.push_back(at);
  bounds.push_back(static_cast<int64_t>(text.size()));
  const size_t n = bounds.size() - 1;

  Values<int32_t> ids, same;
  std::vector<int64_t> offsets, other;
  Values<int64_t> spans;
  tokenizer.encode(text, bounds.data(), n, ids, offsets, &spans);
  tokenizer.encode(text, bounds.data(), n, same, other, nullptr);
  REQUIRE(ids == same && offsets == other, "ids differ without spans");
  REQUIRE(offsets.size() == n + 1 && offsets.front() == 0 && offsets.back() == static_cast<int64_t>(ids.size()),
          "offsets");
  REQUIRE(spans.size() == 2 * ids.size(), "spans");
  for (size_t i = 0; i < n; ++i) {
    REQUIRE(offsets[i] <= offsets[i + 1], "offset ", i);
    for (auto t = static_cast<size_t>(offsets[i]); t < static_cast<size_t>(offsets[i + 1]); ++t) {
      REQUIRE(ids[t] >= 0 && ids[t] < tokenizer.vocabulary_size(), "id ", ids[t]);
      const int64_t begin = spans[2 * t], end = spans[2 * t + 1];
      REQUIRE(begin >= bounds[i] && begin <= end && end <= bounds[i + 1], "token ", t, " at ", begin, " to ", end);
      REQUIRE(fuzz::border(text, begin) && fuzz::border(text, end), "token ", t, " inside a character");
    }
    if (!input.one_in(1 + n / 8)) continue;  // checks some eight spans alone
    const auto piece =
        std::string_view(text).substr(static_cast<size_t>(bounds[i]), static_cast<size_t>(bounds[i + 1] - bounds[i]));
    const int64_t own[] = {0, static_cast<int64_t>(piece.size())};
    Values<int32_t> alone;
    std::vector<int64_t> ends;
    tokenizer.encode(piece, own, 1, alone, ends, nullptr);
    REQUIRE(std::equal(alone.begin(), alone.end(), ids.begin() + offsets[i], ids.begin() + offsets[i + 1]), "span ", i,
            " alone differs");
  }
  std::vector<int64_t> counts;
  encode_and_count(tokenizer, text, bounds.data(), n, same, other, counts);
  for (size_t i = 0; i < n; ++i)
    REQUIRE(counts[i] >= offsets[i + 1] - offsets[i], "span ", i, " counts less than it has");
  return 0;
}
