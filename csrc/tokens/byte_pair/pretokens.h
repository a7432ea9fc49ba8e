// The pre-tokens of a text: the pieces into which the pattern of a byte-level tokenizer divides it. They cover the text
// without gaps. The patterns are those of GPT-2, cl100k, o200k, Llama 3 and Qwen, without a regular expression engine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "tokens/byte_pair/pretoken_rules.h"

namespace pychunk {

// Returns the rules of a pattern: gpt2, cl100k, o200k, llama3 or qwen2. Throws std::invalid_argument for another name.
PretokenRules pretoken_rules(std::string_view name);

// Returns the end of the pre-token that begins at text[at], one character at a time. The text ends at `end`.
size_t pretoken_end(const PretokenRules& rules, const uint8_t* text, size_t at, size_t end);

// A scan over a text. Its masks describe one tile of the text at a time.
class PretokenScanner {
 public:
  PretokenScanner(const PretokenRules& rules, const uint8_t* text, size_t size);

  // Writes the ends of at most `room` pre-tokens of text [at, end), and returns their number. They count from the
  // result of base(). `at` must be a boundary of characters that does not decrease from call to call, and `end` is
  // where the text that the pattern sees ends.
  size_t scan(size_t at, size_t end, uint32_t* ends, size_t room);
  size_t base() const { return tile_; }

 private:
  void fill(size_t at);

  const PretokenRules rules_;
  const uint8_t* const text_;
  const size_t size_;
  size_t tile_ = 0, tile_end_ = 0;  // the tile that the masks describe
  const std::unique_ptr<PretokenMasks> masks_;
};

}  // namespace pychunk
