// The vocabulary of a byte-level BPE tokenizer as immutable tables: tokens that are whole pre-tokens, and the pairs of
// tokens that merge.
//
// Inside these tables a token has a number of its own. The 256 bytes have the numbers 0 to 255. The tokens that merges
// make have higher numbers in the order of the merges, so a token's number is also the priority of its merge.
//
// One pair for each token suffices. When a merge makes a token, no earlier merge has crossed the token's ends. Thus the
// merges inside the token were the same as if the token were the whole text, whose last pair is always the same.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "tokens/byte_pair/merge_words.h"
#include "tokens/vocabulary.h"

namespace pychunk {

// What a vocabulary file holds. The spans must stay valid only during the call.
struct BytePairFile {
  std::string_view bytes;            // of all tokens, one after the other
  std::span<const int64_t> offsets;  // of each token in `bytes`, one more than there are tokens
  std::span<const int32_t> ids;
  // Rows of three tokens, as indexes: the two that merge, and the result. The first row merges first. If `by_id`, there
  // are none, and any two neighbours merge whose bytes together are a token, the one with the lowest id first.
  std::span<const int32_t> merges;
  bool by_id;
  // Whether a pre-token that equals a token becomes that token, even if merges would not make it.
  bool whole_words;
};

class BytePairVocabulary {
 public:
  static constexpr uint32_t kNone = MergeTables::kNone;
  // The most tokens and the most bytes of a token. The pairs store numbers of 21 bits.
  static constexpr size_t kMostTokens = (1 << MergeTables::kNumberBits) - 1, kMostBytes = 1 << 16;

  // Throws std::invalid_argument if a token is empty, too long or a duplicate, if a byte is no token, or if an id is
  // negative or a duplicate.
  explicit BytePairVocabulary(const BytePairFile& file);

  // ---- whole pre-tokens of up to kKeyBytes bytes ----
  struct Slot {
    WordKey key;
    int32_t id;
    uint32_t length;  // 0: free
    uint64_t padding;
  };
  const Slot* home(WordKey key) const { return words_.data() + (hash_key(key) >> word_shift_); }
  // Returns the id, or -1. The search begins at `slot`.
  int32_t find(const Slot* slot, WordKey key, uint32_t length) const {
    for (;; ++slot) {
      if (slot->key.low == key.low && slot->key.high == key.high && slot->length == length) return slot->id;
      if (slot->length == 0) return -1;
    }
  }
  // Returns the id of a longer pre-token, or -1.
  int32_t find_long(std::string_view word) const;

  // ---- merges, of tokens by their numbers ----
  const MergeTables& merges() const { return merges_; }
  // Returns the id of a token. In most vocabularies ids have the order of merges, and need no look-up.
  int32_t id_of(uint32_t number) const {
    return in_order_ && number >= 256 ? static_cast<int32_t>(number - 256) : ids_[number];
  }

  int64_t size() const { return size_; }
  int32_t highest_id() const { return highest_id_; }

 private:
  void add_pair(uint32_t left, uint32_t right, uint32_t made);
  void build_words(const BytePairFile& file, const std::vector<bool>& reached);

  Values<Slot> words_;
  int word_shift_ = 0;
  struct LongWord {
    size_t begin;
    uint32_t length;  // 0: free
    int32_t id;
  };
  std::vector<char> long_bytes_;
  std::vector<LongWord> long_words_;
  int long_shift_ = 0;
  std::vector<uint32_t> byte_pairs_;
  Values<uint64_t> pairs_;
  MergeTables merges_ = {};
  bool in_order_ = false;     // whether the number of a token that merges make is its id plus 256
  std::vector<int32_t> ids_;  // of each number; if in_order_, only of bytes
  int64_t size_ = 0;
  int32_t highest_id_ = 0;
};

}  // namespace pychunk
