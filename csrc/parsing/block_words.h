// The words of blocks, as the model of noise reads them. pychunk/_engine/reference/parsing/block_words.py does the same
// in Python.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/view.h"

namespace pychunk {

struct BlockWordOptions {
  std::string_view stop_words;  // one per line
  std::string_view marks;       // characters that are stripped from the edges of words
  int64_t first, last;          // how many first and last words of a block with more words are hashed
};

// The words of each block. hashed[i] is the number of words of block i that are hashed. Their hashes follow each other
// in `hashes`, block by block.
struct BlockWords {
  std::vector<int64_t> words, stops, hashed;
  std::vector<uint8_t> ends_sentence;  // whether a block's last character ends a sentence, or it has no words
  std::vector<uint32_t> hashes;        // CRC-32 of words without marks; each digit of a number is a zero
};

// Return the counts and hashes of the words of each text. The texts must be valid UTF-8 in lower case.
BlockWords block_words(const Texts& texts, const BlockWordOptions& options);

// Return a text in lower case, or nothing if it may hold a letter whose lower case is not known here. Known are ASCII,
// U+0080 to U+00FF, punctuation and signs (U+2000 to U+20BF), the characters of East Asia (U+3000 to U+9FFF), which
// have no case, and pictures (U+1F000 to U+1FFFF).
std::optional<std::vector<uint8_t>> lower_of(std::string_view text);

}  // namespace pychunk
