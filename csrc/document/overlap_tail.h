// The end of a sentence that the chunk after it repeats, where the whole sentence is more than the overlap.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace pychunk {

// Bytes [begin, the sentence's end), which measure `length`; begin < 0: none.
struct Tail {
  int64_t begin = -1, length = 0;
};

// The longest run of whole words at the end of text [begin, end) that measures at most `most`, and is not all of it; if
// a clause begins in its first half, from there on. A word begins after white space or a comma of Chinese or Japanese.
Tail tail_of(std::string_view text, int64_t begin, int64_t end, int64_t most,
             const std::function<int64_t(std::string_view)>& measure);

}  // namespace pychunk
