// The encoder of one call: it normalises text, divides it into words, and looks words up in a cache.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tokens/sentencepiece/piece_search.h"
#include "tokens/word_cache.h"

namespace pychunk {

class PieceEncoder {
 public:
  // `cache` may be null.
  PieceEncoder(const PieceVocabulary& vocabulary, WordCache* cache, TokenFields fields, Values<int32_t>& ids,
               Values<int64_t>& byte_spans);

  // Tokenizes text [begin, end) on its own and returns the number of its tokens.
  int64_t encode(std::string_view text, size_t begin, size_t end);

  // Appends the tokens that are not in the arrays of the constructor yet.
  void finish();

 private:
  // The bytes of the text from which a character comes.
  struct Source {
    size_t begin, end;
  };
  struct Token {
    int32_t id;
    size_t begin, end;
  };
  // Text without ASCII spaces, and the spaces before it: a word, or a part of one.
  struct RawWord {
    size_t spaces, begin, end;
    bool continues, is_continued;  // a part comes before it, or after it
    WordCache::Key key;            // of the word, if it is short enough
  };
  // U+2581 marks before a word, which are not in the buffer yet.
  struct Marks {
    size_t count = 0;
    Source first;  // the source of the first one
  };
  // What decides on the mark before a word, as it was before the word.
  struct WordStart {
    size_t begin = 0;
    Source mark = {0, 0};
    Marks marks;
    bool at_start = false, after_space = false, is_inserted = false;
  };

  void strip();
  size_t begin_text();
  void end_text();

  void encode_words();
  bool add_known(const RawWord& word);
  void add_spaces(size_t begin, size_t end);
  bool is_border(size_t begin, size_t at) const;
  size_t next_stop(size_t at);
  void fill_stops(size_t from);
  size_t word_end(size_t at) const;
  void encode_word(const RawWord& word);
  void encode_part(const RawWord& part);
  void encode_rest(size_t from);
  WordCache::Key key_of(size_t begin, size_t end, bool continues) const;
  bool add_cached(const WordCache::Key& key, size_t own, Source mark);
  bool compute_word(size_t begin, size_t end);
  bool stays_same(size_t begin, size_t end) const;
  void compute_same(size_t begin, size_t end, Source mark);
  void compute_part(size_t begin, size_t end);
  void store(const WordCache::Key& key, size_t own, Source mark);
  void take_marks_from_buffer();
  void put_marks_into_buffer();

  void normalise(size_t begin, size_t end);
  void normalise_clusters(size_t begin, size_t end);
  void normalise_longest(size_t begin, size_t end);
  size_t cluster_end(size_t at, size_t end, size_t& characters) const;
  size_t add_kept(size_t at, size_t end);
  void add_one(char32_t code_point, size_t at, size_t length);
  void replace(std::string_view by, size_t at, size_t end, size_t characters);
  void add_replacement(std::string_view by, Source source);
  void add(std::string_view character, Source source);
  void add_mark(Source source);
  void append(std::string_view character, Source source);
  bool prefixed(size_t at) const;
  bool is_white(std::string_view character) const;

  // Divides the buffer into tokens. `end` is where the character after it begins in the text.
  void flush(size_t end);
  template <typename Add>
  void divide(Add add, bool measures = false);
  void add_part(PieceSearch::Part part, size_t begin, size_t end);
  void deliver();
  void make_room();

  std::string_view bytes(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(text_.data()); }

  const PieceVocabulary& v_;
  const SentencePieceOptions& o_;
  const bool sums_;  // scores are added up over the text
  const bool like_sentencepiece_;
  WordCache* const cache_;
  const TokenFields fields_;
  Values<int32_t>& ids_;
  Values<int64_t>& spans_;
  PieceSearch search_;

  std::string_view text_;
  size_t begin_ = 0, end_ = 0;  // of the text to tokenize

  std::vector<uint8_t> buffer_;  // normalised characters that are not divided yet
  std::vector<Source> sources_;  // of each byte of the buffer
  bool has_word_ = false;        // the buffer holds something else than U+2581
  bool after_space_ = false;     // the last character was a space
  bool is_inserted_ = false;     // the last character came from a replacement with more characters than its key
  bool at_start_ = false;        // no character was added yet
  Marks marks_;

  // Where words may end in text [stops_begin_, stops_end_), one bit for each byte.
  static constexpr size_t kStops = 1024;
  uint64_t stops_[kStops / 64];
  size_t stops_begin_ = 0, stops_end_ = 0;

  WordStart word_;   // of the word whose parts are read
  size_t done_ = 0;  // up to which the text has its tokens, also those of parts that are not read yet

  // Of one word:
  std::vector<Token> tokens_;
  size_t characters_ = 0;  // normalised ones
  size_t flushes_ = 0;
  size_t first_size_ = 0;          // of its first piece, in bytes of the buffer
  bool begins_with_mark_ = false;  // its first character is a space or U+2581
  bool has_unknown_ = false;

  // The tokens of a word in the cache whose scores are added up. The rest of its room holds a PieceSearch::Margin.
  static constexpr size_t kMostSummed = 4;

  static constexpr size_t kRoom = 4096;
  int32_t* next_id_;
  int64_t* next_span_;
  int64_t count_ = 0;
  bool after_unknown_ = false;
  std::unique_ptr<int32_t[]> room_ids_;
  std::unique_ptr<int64_t[]> room_spans_;
};

}  // namespace pychunk
