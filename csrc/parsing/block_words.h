// The words of blocks, as a model of noise sees them: pychunk/_engine/reference/parsing/block_words.py
// has the same in Python.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/view.h"

namespace pychunk {

struct BlockWordOptions {
  std::string_view stop_words;  // one a line
  std::string_view marks;       // characters that are no part of a word at its edges
  int64_t first, last;          // words of a longer block that are hashed
};

// Of each block; hashes[i] is one of the words that `hashed` counts, block by block.
struct BlockWords {
  std::vector<int64_t> words, stops, hashed;
  std::vector<uint8_t> ends_sentence;  // whether its last character does
  std::vector<uint32_t> hashes;        // CRC-32 of words without marks; numbers as so many zeros
};

// Of texts in lower case, valid UTF-8.
BlockWords block_words(const Texts& texts, const BlockWordOptions& options);

}  // namespace pychunk
