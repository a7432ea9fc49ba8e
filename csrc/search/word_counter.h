// The words of texts, numbered by a table and counted row by row, for one thread's share of a batch.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/string_table.h"
#include "common/view.h"
#include "text/folding.h"
#include "text/word_characters.h"

namespace pychunk {

// The counted terms of rows. Row i contains the next sizes[i] of `terms`, each once, with their counts. lengths[i] is
// the sum of its counts.
struct TermRows {
  Values<int32_t> terms, counts;
  std::vector<int32_t> sizes, lengths;
};

class WordCounter {
 public:
  // Count the words of each text, which must be valid UTF-8. Words get their numbers from `words`, to which new words
  // are added. Without `folding`, texts that are not ASCII must already be folded. An exception may leave words that no
  // row contains.
  //
  // If `contexts` is not empty, it holds a text for each row, whose words precede those of the row's text. A context
  // that the row before has, too, is not read again, as all chunks of a document may have its first words as context.
  TermRows read(const Texts& texts, const Texts& contexts, const WordCharacters& characters, const Folding* folding,
                StringTable& words);

 private:
  void read_text(std::string_view text, const WordCharacters& characters, const Folding* folding, StringTable& words);
  void keep_context(StringTable& words);
  void repeat_context();
  void read_ascii(std::string_view text, const WordCharacters& characters, StringTable& words);
  void read_folded(std::string_view text, const WordCharacters& characters, StringTable& words);
  void count(std::string_view word, StringTable& words) {
    waiting_[waits_] = word;
    if (++waits_ == kAhead) count_waiting(words);
  }
  void count_waiting(StringTable& words);
  void end_row(StringTable& words, TermRows& out);

  // The counts of each word in the current row, and the words in the order of their first appearance.
  std::vector<int32_t> times_, met_;
  int64_t length_ = 0;
  // The words of the last context with their counts, and its length.
  std::vector<std::pair<int32_t, int32_t>> context_;
  int64_t context_length_ = 0;
  // The words of the row that are looked up together, so that their positions in a table of megabytes are prefetched.
  static constexpr size_t kAhead = 32;
  std::array<std::string_view, kAhead> waiting_;
  size_t waits_ = 0;
  std::string lower_;
  Values<char> folded_;
};

}  // namespace pychunk
