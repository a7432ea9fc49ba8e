// A target for the SentencePiece tokenizers with any options, and for damaged character maps: ids and spans are in
// range, the cache of words changes nothing, and a span's tokens are the same alone as with others.
#include "tokens/sentencepiece/sentencepiece.h"

#include <map>
#include <set>

#include "fuzz.h"

namespace {

using namespace pychunk;

// Returns a character map as files store it: a double-array trie of the keys, and the replacements.
std::string character_map(const std::map<std::string, std::string>& replacements) {
  std::string strings;
  std::map<std::string, uint32_t> values;
  for (const auto& [key, by] : replacements)
    if (values.emplace(by, strings.size()).second) strings += by + '\0';
  std::vector<uint32_t> units(1 << 16);
  std::set<uint32_t> taken, used{0};
  std::vector<std::pair<uint32_t, std::string>> nodes{{0, ""}};
  for (size_t n = 0; n < nodes.size(); ++n) {
    const auto [place, prefix] = nodes[n];
    std::set<uint32_t> labels;
    for (const auto& [key, by] : replacements)
      if (key.size() > prefix.size() && key.compare(0, prefix.size(), prefix) == 0)
        labels.insert(static_cast<uint8_t>(key[prefix.size()]));
    const auto own = replacements.find(prefix);
    const bool ends = own != replacements.end();
    if (ends) labels.insert(0);
    uint32_t base = 1;
    while (taken.count(base) != 0 ||
           std::any_of(labels.begin(), labels.end(), [&](uint32_t label) { return used.count(base ^ label) != 0; }))
      ++base;
    taken.insert(base);
    units[place] |= (place ^ base) << 10 | (ends ? 1u << 8 : 0u);
    for (const uint32_t label : labels) {
      used.insert(base ^ label);
      units[base ^ label] = label == 0 ? 1u << 31 | values[own->second] : label;
      if (label != 0) nodes.emplace_back(base ^ label, prefix + static_cast<char>(label));
    }
  }
  units.resize((std::max(*used.rbegin(), *taken.rbegin()) | 255) + 1);
  const auto bytes = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  std::string stored(sizeof bytes + bytes, '\0');
  std::memcpy(stored.data(), &bytes, sizeof bytes);
  std::memcpy(stored.data() + sizeof bytes, units.data(), bytes);
  return stored + strings;
}

const std::string& small_map() {
  static const std::string& made = *new std::string(character_map({{"\t", " "},
                                                                   {"\n", " "},
                                                                   {"\r", " "},
                                                                   {"\x01", ""},
                                                                   {"\xC2\xA0", " "},
                                                                   {"\xC2\xA8", " \xCC\x88"},
                                                                   {"\xC2\xBD", "1/2"},
                                                                   {"e\xCC\x81", "\xC3\xA9"},
                                                                   {",\xCC\x81", "b"},
                                                                   {"t\xCC\x81", "-"},
                                                                   {"\xE2\x96\x81", " "},
                                                                   {"\xEF\xAC\x81", "fi"}}));
  return made;
}

SentencePiece make(SentencePieceOptions options, bool symbols) {
  std::vector<std::string> pieces{"<unk>"};
  std::vector<uint8_t> kinds{3};
  const std::string mark = "\xE2\x96\x81";
  for (const std::string& word : fuzz::vocabulary()) {
    pieces.push_back(word.substr(0, 2) == "##" ? word.substr(2) : mark + word);
    kinds.push_back(0);
  }
  pieces.insert(pieces.end(), {mark, mark + mark, "\xC3\xA9", "\xE4\xB8\xAD", "<sep>", "cat"});
  kinds.insert(kinds.end(), {0, 0, 0, 0, static_cast<uint8_t>(symbols), static_cast<uint8_t>(symbols)});
  // Words have borders between these, with equal paths.
  for (const char* const piece : {"a", "b", "c", "t", "-", "--", "---", "-,", ",", ".", "("}) {
    pieces.push_back(piece);
    kinds.push_back(0);
  }
  std::vector<std::string> own;
  std::vector<uint8_t> own_kinds;
  std::set<std::string> seen;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (seen.insert(pieces[i]).second) own.push_back(pieces[i]), own_kinds.push_back(kinds[i]);
  std::vector<double> scores;
  for (size_t i = 0; i < own.size(); ++i) scores.push_back(-static_cast<double>(1 + i % 7) / 10);
  options.unknown = 0;
  return SentencePiece(std::move(own), std::move(scores), std::move(own_kinds), std::move(options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  SentencePieceOptions options;
  const int64_t choice = input.option(128), every = 1 + input.option(60);
  options.rules = (choice & 1) != 0 ? PieceRules::kSentencePiece : PieceRules::kTokenizers;
  if ((choice & 3) == 3) options.model = PieceModel::kBytePair;
  options.join_spaces = (choice & 4) != 0;
  options.strip_left = options.strip_right = (choice & 8) != 0;
  options.split_at_white = (choice & 1) == 0 && (choice & 4) == 0 && (choice & 16) != 0;
  options.prefix = (choice & 32) != 0 ? PiecePrefix::kAlways : PiecePrefix::kNever;
  if ((choice & 64) != 0) options.bytes.assign(256, 1);
  const int64_t drawn = input.option(8), map = drawn < 4 ? 0 : drawn < 7 ? 1 : 2;
  if (map == 1) options.character_map = small_map();
  if (map == 2) {  // a damaged map: some bytes of a good one
    options.character_map = small_map();
    for (int i = 0; i < 4; ++i) {
      const auto at = static_cast<size_t>(input.option(256) << 8 | input.option(256));
      options.character_map[at % options.character_map.size()] = static_cast<char>(input.option(256));
    }
  }
  static std::map<int64_t, std::array<std::unique_ptr<SentencePiece>, 2>> made;
  std::array<std::unique_ptr<SentencePiece>, 2> damaged;
  if (made.size() > 60) made.clear();  // each has a cache
  auto& pair = map == 2 ? damaged : made[choice * 2 + map];
  for (const bool cache : {false, true}) {
    if (pair[cache]) continue;
    options.cache = cache;
    try {
      pair[cache] = std::make_unique<SentencePiece>(make(options, (choice & 16) != 0));
    } catch (const std::invalid_argument&) {
      REQUIRE(map == 2, "a good map is refused");
      return 0;
    }
  }
  const std::string text = fuzz::valid(input.bytes());
  std::vector<int64_t> bounds{0};
  for (int64_t at = every; at < static_cast<int64_t>(text.size()); at += every)
    if (fuzz::border(text, at)) bounds.push_back(at);
  bounds.push_back(static_cast<int64_t>(text.size()));
  const size_t n = bounds.size() - 1;

  struct Result {
    Values<int32_t> ids;
    Values<int64_t> spans;
    std::vector<int64_t> counts;
  };
  const auto encode = [&](const SentencePiece& tokenizer, std::string_view part, const int64_t* borders, size_t count,
                          TokenFields fields) {
    Result result;
    tokenizer.encode(part, borders, count, SpanEnds::kWhole, fields, result.ids, result.spans, result.counts);
    return result;
  };
  const Result plain = encode(*pair[0], text, bounds.data(), n, TokenFields::kByteSpans);
  for (int turn = 0; turn < 2; ++turn) {  // the second time from the cache
    const Result cached = encode(*pair[1], text, bounds.data(), n, TokenFields::kByteSpans);
    REQUIRE(cached.ids == plain.ids && cached.counts == plain.counts, "the cache changes ids");
    REQUIRE(cached.spans == plain.spans, "the cache changes spans");
  }
  REQUIRE(encode(*pair[1], text, bounds.data(), n, TokenFields::kIds).ids == plain.ids, "ids without spans");
  REQUIRE(encode(*pair[1], text, bounds.data(), n, TokenFields::kCounts).counts == plain.counts, "counts");
  REQUIRE(plain.counts.size() == n && plain.spans.size() == 2 * plain.ids.size(), "sizes");
  size_t token = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t first = token;
    for (; token < first + static_cast<size_t>(plain.counts[i]); ++token) {
      REQUIRE(plain.ids[token] >= 0 && plain.ids[token] < pair[0]->vocabulary_size(), "id ", plain.ids[token]);
      const int64_t begin = plain.spans[2 * token], end = plain.spans[2 * token + 1];
      REQUIRE(begin >= bounds[i] && begin <= end && end <= bounds[i + 1], "token ", token, " at ", begin, " to ", end);
      REQUIRE(fuzz::border(text, begin) && fuzz::border(text, end), "token ", token, " inside a character");
    }
    if (!input.one_in(1 + n / 8)) continue;  // checks some eight spans alone
    const auto part =
        std::string_view(text).substr(static_cast<size_t>(bounds[i]), static_cast<size_t>(bounds[i + 1] - bounds[i]));
    const int64_t own[] = {0, static_cast<int64_t>(part.size())};
    const Result alone = encode(*pair[0], part, own, 1, TokenFields::kIds);
    REQUIRE(std::equal(alone.ids.begin(), alone.ids.end(), plain.ids.begin() + static_cast<int64_t>(first),
                       plain.ids.begin() + static_cast<int64_t>(token)),
            "span ", i, " alone differs");
  }
  REQUIRE(token == plain.ids.size(), "the counts must add up to the ids");
  return 0;
}
