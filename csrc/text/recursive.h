// Recursive splitting: cut at the strongest separator, descend only into what is still too long, merge what
// is short. It yields the chunks of LangChain's RecursiveCharacterTextSplitter (separator kept at the start, chunks
// stripped), except that no chunk is white space alone, and that a split which measures 0 never begins an overlap:
// LangChain would repeat it even where no overlap is asked for.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

struct RecursiveOptions {
  int64_t size;         // of a piece at most, in `unit`; >= 1
  int64_t overlap = 0;  // at most this much of the piece before is repeated, in whole splits; 0 .. size
  Unit unit = Unit::kCharacters;
  // At least one: literal separators in UTF-8, strongest first; each stays at the head of the split that follows it,
  // and
  // "" cuts between any two characters.
  std::vector<std::string> separators;
};

// A piece of the text: [start, end) in bytes, without white space at its edges (Python's str.isspace).
struct Piece {
  int64_t start, end;
  int64_t size;  // of this span, in the unit
};

// The document is buffer[begin, end), valid UTF-8; every offset, given or returned, counts from the buffer's
// start and lies on a character border.
struct RecursiveInput {
  std::string_view buffer;
  int64_t begin, end;
  // Rising (equal ones count apart): a span holds as many tokens as start in it. Where a long run without
  // white space has to count as more tokens than it has, the caller adds starts inside the run.
  std::span<const int64_t> token_starts = {};  // only Unit::kTokens reads them
};

// Holds the work buffers, so one instance serves one thread, document after document.
//
// Every character that is not white space is in at least one piece, without overlap in exactly one; a piece
// starts and ends no earlier than the one before it. Where the ladder ends in characters, no piece is longer
// than `size`, except a single character that holds more tokens than that. Time is linear in the text for a
// ladder of given length, plus the length of what is repeated.
class RecursiveSplitter {
 public:
  // Throws std::invalid_argument.
  explicit RecursiveSplitter(const RecursiveOptions& options);

  // Appends the pieces of one document.
  void split(const RecursiveInput& input, std::vector<Piece>& out);

 private:
  enum class Kind : uint8_t { kSeparator, kCharacter };

  // A rung of the ladder, and the section that is being split at it. Borders are found a window at a time, so
  // that a long section needs no memory of its own length.
  struct Level {
    Kind kind;
    std::string separator;
    int64_t cursor = 0, end = 0;  // borders before `cursor` are found already
    bool complete = false;        // all borders of the section are in
    size_t count = 0;             // of borders; split i is [border[i], border[i + 1])
    std::vector<int64_t> border;
    std::vector<int64_t> units;  // units[j] - units[i] = summed size of the splits i .. j - 1
    size_t token = 0;            // next entry of token_starts
  };

  void split_section(size_t rung, int64_t begin, int64_t end, int64_t units);
  bool open(Level& level, int64_t begin, int64_t end);
  void refill(Level& level);
  size_t find_borders(Level& level, int64_t* out, size_t room);
  void measure(Level& level, size_t first);
  void emit(int64_t start, int64_t end, int64_t units);
  size_t tokens_before(int64_t offset) const;
  const int64_t* units_of(const Level& level) const;

  RecursiveOptions options_;
  std::vector<Level> ladder_;
  bool unit_is_byte_ = false;  // characters of a document that is all ASCII
  RecursiveInput input_{};
  std::vector<Piece>* out_ = nullptr;
};

}  // namespace pychunk
