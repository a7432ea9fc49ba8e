// The pattern that divides a text into pre-tokens before a byte-level tokenizer merges bytes. Only plain types are
// used, because the kernels of each instruction set include this file (kernels_isa.cc).
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pychunk {

// The place of English contractions, such as 's, in a pattern.
enum class Contractions : uint8_t {
  kBeforeExact,    // a pre-token of their own, in lower case only
  kBeforeAnyCase,  // a pre-token of their own
  kAfterWord,      // the end of the word before them, in any case
};

// A pattern. Its alternatives are, in this order: contractions, words, numbers, punctuation, white space.
struct PretokenRules {
  Contractions contractions;
  bool cased;              // a word ends before an upper-case letter that follows a lower-case one; marks are letters
  bool any_prefix;         // a word takes one character before it that is no letter, number or line break; else a space
  uint8_t most_digits;     // of a number; 0: any number of digits, and a space before them
  bool lines_after_marks;  // punctuation takes the line breaks after it
  bool slashes_after_marks;  // and slashes among these
  bool lines_end_spaces;     // white space ends after its last line break
  bool whole_tail;           // but not at the end of the text, where it is one pre-token
};

// The classes of a text's bytes, one bit per byte. All bytes of a character have its class.
struct PretokenMasks {
  static constexpr size_t kBytes = 8192;
  // The bytes after the end of a tile up to which masks may be set, and up to which they may be read.
  static constexpr size_t kWords = kBytes / 64 + 3;
  uint64_t upper[kWords];  // letters that may be in the upper-case part of a word; without `cased`, all letters
  uint64_t lower[kWords];  // those in its lower-case part; without `cased`, none
  uint64_t other[kWords];  // characters other than letters, numbers and white space
  uint64_t number[kWords];
  uint64_t space[kWords];
  uint64_t wide[kWords];  // bytes >= 0x80, whose other bits mark_pretoken_classes leaves 0
};

// The position of a scan in a tile.
struct PretokenScan {
  size_t at;     // the first byte that is in no pre-token yet
  size_t count;  // of pre-tokens found
  bool stuck;    // whether the pre-token at `at` needs the slow function
};

}  // namespace pychunk
