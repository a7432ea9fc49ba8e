// Byte-level BPE, from text to ids with byte offsets, or to counts alone. The ids equal those of tiktoken's
// encode_ordinary() and of Hugging Face `tokenizers` without special tokens.
//
// The cost of 4 MB of Wikipedia with o200k, on one core of an AMD EPYC (Zen 4) that others also used, is 24 to 27 ms. A
// profiler's shares give the parts:
//   7 ms   the scan: 770,000 pre-tokens of 5.2 bytes, 9 ns each (590 MB/s)
//   10 ms  the look-ups and the output: 13 ns for each pre-token, of which nine in ten are one token
//   2 ms   62,000 pre-tokens that are several tokens, if the cache holds them
//   7 ms   the merges of those that no earlier text had, 260 ns each: 31,000 if the cache is empty, and still 25,000
//          after 4 MB of other articles, because most of them are names
// The scan and the look-ups alone would allow 230 MB/s, which a second reading of the same text reaches. The rates of
// bench/peers/tokenization.py are 148 MB/s with offsets, 156 with ids and 162 for counts with an empty cache, and 159,
// 168 and 177 after other text.
//
// What was tried: merging words one after the other (10 % slower in all: each merge waits for memory), 8 words at once
// in batches of 128 pre-tokens instead of 16 in batches of 512 (12 % slower together with an output through members:
// too few words to merge at once), slots of 16 bytes for words of up to 8 bytes (7 % slower: the choice of table is one
// more branch that is guessed wrong), and pairs in buckets of one cache line that are compared at once, without
// branches (2 % faster than linear probing).
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "tokens/byte_merges.h"
#include "tokens/byte_pair/byte_pair_vocabulary.h"
#include "tokens/byte_pair/pretokens.h"
#include "tokens/tokenization.h"

namespace pychunk {

// The outputs of a call that the caller wants, in addition to counts.
struct Wanted {
  bool ids = true;
  bool byte_spans = false;  // only with ids
};

// The pre-tokens of a text: the end of each, and the number of tokens of the text up to there.
struct PretokenCounts {
  std::vector<int64_t> ends, tokens;
};

class BytePair {
 public:
  // The pattern is one of pretoken_rules(). The other arguments are those of the vocabulary.
  BytePair(const BytePairFile& file, std::string_view pattern);
  ~BytePair();

  // Tokenizes each span [bounds[i], bounds[i + 1]) of valid UTF-8 text on its own. The result is the same for any
  // number of threads and does not depend on earlier calls. `ids` and `byte_spans` are empty unless wanted, and
  // `counts[i]` is offsets[i + 1] - offsets[i]. Throws std::invalid_argument if a bound is inside a character.
  Tokens encode(std::string_view text, std::span<const int64_t> bounds, Wanted wanted, int threads) const;

  // Writes the ends of the text's pre-tokens.
  std::vector<int64_t> pretokens(std::string_view text) const;

  PretokenCounts count_pretokens(std::string_view text) const;

  // Returns the number of tokens of one pre-token.
  int64_t count_pretoken(std::string_view word, MergeMemory& memory) const;

  const PretokenRules& rules() const { return rules_; }
  int64_t vocabulary_size() const { return vocabulary_.size(); }

 private:
  class Cache;
  class Encoder;
  class Lent;
  enum class Kind : uint8_t;
  struct Missing;
  struct Batch;
  struct Memory;

  const PretokenRules rules_;
  const BytePairVocabulary vocabulary_;
  // The memories that no thread uses. There are as many as threads have run at once.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Memory>> memories_;
};

}  // namespace pychunk
