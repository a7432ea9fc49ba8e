// Recursive splitting. It cuts at the strongest separator, splits only the parts that are still too long, and merges
// short ones. It gives the chunks of LangChain's RecursiveCharacterTextSplitter (separators kept at the start, chunks
// stripped), with two exceptions. No chunk is only white space. A split of size 0 never begins an overlap, whereas
// LangChain repeats it even if no overlap is requested.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

struct RecursiveOptions {
  int64_t size;         // the largest size of a piece, in `unit`; >= 1
  int64_t overlap = 0;  // the most that is repeated from the piece before, in whole splits; 0 .. size
  Unit unit = Unit::kCharacters;
  // At least one literal separator in UTF-8, strongest first. Each stays at the start of the split that follows it. The
  // separator "" cuts between any two characters.
  std::vector<std::string> separators;
};

// A piece of the text: [start, end) in bytes, without white space at its ends (as Python's str.isspace defines it).
struct Piece {
  int64_t start, end;
  int64_t size;  // of this span, in the unit
};

// The input of the splitter. The document is buffer[begin, end), in valid UTF-8. Every offset, given or returned,
// counts from the start of the buffer and is at a character boundary.
struct RecursiveInput {
  std::string_view buffer;
  int64_t begin, end;
  // The start of each token, in increasing order. Equal starts count separately. The size of a span is the number of
  // tokens that start in it. If a long run without white space must count as more tokens than it has, the caller adds
  // starts inside the run.
  std::span<const int64_t> token_starts = {};  // only Unit::kTokens reads them
  // Counts the tokens of a span alone, if token_starts only approximates them. No piece of several splits is then
  // larger than `size`.
  std::function<int64_t(int64_t begin, int64_t end)> count = {};
};

// The recursive splitter with its work buffers. One instance serves one thread, document after document.
//
// Every character that is not white space is in at least one piece, and without overlap in exactly one. Starts and ends
// of pieces never decrease. If the last separator is "", no piece is longer than `size`, except a single character that
// has more tokens than that. For a given number of separators, time is linear in the length of the text and the
// overlaps together.
class RecursiveSplitter {
 public:
  // Throws std::invalid_argument if an option is invalid.
  explicit RecursiveSplitter(const RecursiveOptions& options);

  // Appends the pieces of one document.
  void split(const RecursiveInput& input, std::vector<Piece>& out);

 private:
  enum class Kind : uint8_t { kSeparator, kCharacter };

  // One separator, and the section that is being split at it. The splitter finds boundaries one window at a time, so
  // that memory does not grow with the section.
  struct Level {
    Kind kind;
    std::string separator;
    int64_t cursor = 0, end = 0;  // all boundaries before `cursor` have been found
    bool complete = false;        // all boundaries of the section have been found
    size_t count = 0;             // number of boundaries; split i is [border[i], border[i + 1])
    std::vector<int64_t> border;
    std::vector<int64_t> units;  // units[j] - units[i] = total size of the splits i .. j - 1
    size_t token = 0;            // next entry of token_starts
  };

  void split_section(size_t rung, int64_t begin, int64_t end, int64_t units);
  bool open(Level& level, int64_t begin, int64_t end);
  void refill(Level& level);
  size_t find_borders(Level& level, int64_t* out, size_t room);
  void measure(Level& level, size_t first);
  size_t after_overlap(const int64_t* sum, size_t first, size_t last) const;
  size_t emit(const Level& level, size_t first, size_t last);
  void emit(int64_t start, int64_t end, int64_t units);
  size_t tokens_before(int64_t offset) const;
  const int64_t* units_of(const Level& level) const;

  RecursiveOptions options_;
  std::vector<Level> ladder_;
  bool unit_is_byte_ = false;  // the unit is characters, and the document is all ASCII
  RecursiveInput input_{};
  std::vector<Piece>* out_ = nullptr;
};

}  // namespace pychunk
