// The end of a sentence that the next chunk repeats if the whole sentence is longer than the overlap.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace pychunk {

// The bytes from `begin` to the end of the sentence, and their length in the unit. `begin` < 0 means that there is no
// tail.
struct Tail {
  int64_t begin = -1, length = 0;
};

// Return the longest run of whole words at the end of text [begin, end) that measures at most `most`, and is not the
// whole text. If a clause begins inside that run, and the text from there on measures at least half of `most`, the tail
// begins with the clause. A word begins after white space, or after a comma of Chinese or Japanese.
Tail tail_of(std::string_view text, int64_t begin, int64_t end, int64_t most,
             const std::function<int64_t(std::string_view)>& measure);

}  // namespace pychunk
