// A target for byte-level BPE with every pattern: pre-tokens equal those found one character at a time, tokens equal
// those of a slow merge, and counts and a second call agree.
#include <map>

#include "fuzz.h"
#include "tokens/byte_pair/byte_pair_counter.h"

namespace {

using namespace pychunk;

// The ids of tokens. Some need merges in another order than that of their ids, and some cannot be merged.
const std::map<std::string, int32_t>& ranks() {
  static const auto& found = *new std::map<std::string, int32_t>([] {
    std::map<std::string, int32_t> made;
    for (int byte = 0; byte < 256; ++byte) made[std::string(1, static_cast<char>(byte))] = byte;
    for (const char* token : {"he",           "in", "th",  "the",  " t",  " the",  "er",   "an",       "abc",
                              "ab",           "aa", "aaa", "aaaa", "  ",  "    ",  "\n\n", "\xC3\xA9", "\xE4\xB8",
                              "\xE4\xB8\xAD", "'s", "00",  "000",  "ing", "ation", "at",   "!!",       " unreachable"})
      made.emplace(token, static_cast<int32_t>(made.size()));
    return made;
  }());
  return found;
}

std::unique_ptr<BytePair> tokenizer(std::string_view pattern) {
  std::string bytes;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> ids;
  for (const auto& [token, id] : ranks()) {
    bytes += token;
    offsets.push_back(static_cast<int64_t>(bytes.size()));
    ids.push_back(id);
  }
  return std::make_unique<BytePair>(BytePairFile{bytes, offsets, ids, {}, true, true}, pattern);
}

std::vector<std::string> slow_merge(const std::string& word) {
  if (ranks().contains(word)) return {word};
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (;;) {
    size_t best = parts.size();
    int32_t lowest = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      if (const auto found = ranks().find(parts[i] + parts[i + 1]);
          found != ranks().end() && (best == parts.size() || found->second < lowest))
        best = i, lowest = found->second;
    if (best == parts.size()) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  static constexpr std::array<std::string_view, 5> kPatterns{"gpt2", "cl100k", "o200k", "llama3", "qwen2"};
  static std::array<std::unique_ptr<BytePair>, kPatterns.size()> made;
  const auto choice = static_cast<size_t>(input.option(kPatterns.size()));
  if (!made[choice]) made[choice] = tokenizer(kPatterns[choice]);
  const PretokenRules rules = pretoken_rules(kPatterns[choice]);
  const int64_t every = 1 + input.option(60);
  const std::string text = fuzz::valid(input.bytes());
  std::vector<int64_t> bounds{0};
  for (int64_t at = every; at < static_cast<int64_t>(text.size()); at += every)
    if (fuzz::border(text, at)) bounds.push_back(at);
  bounds.push_back(static_cast<int64_t>(text.size()));

  std::vector<int64_t> expected;
  for (size_t at = 0; at < text.size();) {
    at = pretoken_end(rules, as_bytes(text), at, text.size());
    expected.push_back(static_cast<int64_t>(at));
  }
  REQUIRE(made[choice]->pretokens(text) == expected, "pre-tokens");

  const Tokens tokens = made[choice]->encode(text, bounds, {true, true}, 1);
  const Tokens counts = made[choice]->encode(text, bounds, {false, false}, 2);
  int64_t token = 0;
  for (size_t s = 0; s + 1 < bounds.size(); ++s) {
    REQUIRE(tokens.offsets.data[s] == token, "span ", s, " begins at token ", tokens.offsets.data[s]);
    auto at = static_cast<size_t>(bounds[s]);
    for (const auto end = static_cast<size_t>(bounds[s + 1]); at < end;) {
      const size_t next = pretoken_end(rules, as_bytes(text), at, end);
      for (const std::string& part : slow_merge(text.substr(at, next - at))) {
        REQUIRE(token < tokens.ids.size, "token ", token, " is missing");
        REQUIRE(tokens.ids.data[token] == ranks().at(part), "token ", token, " is ", tokens.ids.data[token]);
        REQUIRE(tokens.byte_spans.data[2 * token] == static_cast<int64_t>(at), "begin of token ", token);
        at += part.size();
        REQUIRE(tokens.byte_spans.data[2 * token + 1] == static_cast<int64_t>(at), "end of token ", token);
        ++token;
      }
    }
    REQUIRE(counts.counts.data[s] == token - tokens.offsets.data[s], "count of span ", s);
  }
  REQUIRE(token == tokens.ids.size, "there are ", tokens.ids.size, " tokens, and not ", token);

  const std::unique_ptr<CountedText> counted = counter_of(*made[choice])->read(text);
  for (size_t s = 0; s + 1 < bounds.size(); ++s) {
    const Trimmed inside = trim(text, bounds[s], bounds[s + 1]);
    if (inside.empty()) continue;
    const int64_t own[] = {inside.begin, inside.end};
    const Tokens alone = made[choice]->encode(text, own, {false, false}, 1);
    const int64_t found = counted->count(inside.begin, inside.end);
    REQUIRE(found == alone.counts.data[0], "span ", s, " has ", alone.counts.data[0], " tokens, and not ", found);
  }
  return 0;
}
