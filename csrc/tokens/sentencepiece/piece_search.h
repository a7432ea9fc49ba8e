// The division of normalised text into pieces: the path with the highest sum of scores (unigram), or the merges of the
// pairs with the highest scores (BPE).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tokens/sentencepiece/piece_vocabulary.h"

namespace pychunk {

class PieceSearch {
 public:
  struct Part {
    int32_t id;
    uint32_t begin, end;  // bytes of the normalised text
  };

  explicit PieceSearch(const PieceVocabulary& vocabulary) : v_(vocabulary) {}

  // Returns the pieces of a normalised text of less than 4 GiB. They are valid until the next call. With `measures`,
  // is_certain() can be called.
  std::span<const Part> divide(const uint8_t* text, size_t size, bool measures = false);

  // Forgets the text before. sentencepiece adds up scores from the beginning of a text, in single precision, so the
  // pieces of a word can depend on the sum before it.
  void begin_text() { sum_ = 0; }

  // A word that was divided before has the same pieces if the sum before it changes no comparison of two paths.
  struct Margin {
    float least;  // difference between the path and another one, without rounding errors
    float reach;  // the most that the sum changes within the word
  };
  // Returns the margin of the last text that divide() divided. Where the sum was reset, it is 0.
  Margin margin() const { return margin_; }
  // Returns whether a word of up to `size` bytes has the same pieces after any other sum.
  bool same_after_sum(Margin margin, size_t size) const;
  // Returns whether the last text has the same pieces after any text of up to `before` characters, whose scores
  // tokenizers adds up first, in double precision.
  bool is_certain(size_t before) const;
  // Adds the scores of the pieces of a word, in the order in which divide() adds them.
  void add(const int32_t* ids, size_t count);

 private:
  // The best paths to each character of the text: their sums, and the last piece of each with its beginning.
  template <typename Score>
  struct Paths {
    std::vector<Score> sums;
    std::vector<uint64_t> links;  // id << 32 | beginning
    std::vector<Score> seconds;   // the sums of the second best paths, if they are needed
  };

  template <bool kSingle, bool kSeconds>
  void find_path(const uint8_t* text, size_t size);
  size_t read_characters(const uint8_t* text, size_t size);
  void measure(size_t count, float before);

  void merge(const uint8_t* text, size_t size);
  void consider(std::string_view text, int32_t left, int32_t right);
  void add_symbol(std::string_view text, uint32_t begin, uint32_t size);

  struct Symbol {
    int32_t before, after;
    uint32_t begin, size;  // size 0: merged into the symbol before
    bool is_fixed;         // a user-defined symbol, which is never merged
  };
  struct Pair {
    float score;
    int32_t left, right;
    uint32_t size;
    bool operator<(const Pair& other) const { return score != other.score ? score < other.score : left > other.left; }
  };

  const PieceVocabulary& v_;
  std::vector<Part> parts_;
  Paths<double> paths_;
  Paths<float> single_paths_;
  std::vector<uint16_t> codes_;   // of the characters
  std::vector<uint32_t> starts_;  // their first bytes
  std::vector<Symbol> symbols_;
  std::vector<Pair> pairs_;
  std::unordered_map<std::string_view, uint32_t> merged_;  // unused pieces, with the size of their left half
  float sum_ = 0;
  Margin margin_{0, 0};
  double least_ = 0;  // the least difference between the last path and another one
  size_t count_ = 0;  // of the characters of the last text
};

}  // namespace pychunk
