// A bounded cache of the tokens of words. What it returns is the same whether a word is found or not, so it may forget
// any word at any time.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "tokens/vocabulary.h"

namespace pychunk {

class WordCache {
 public:
  static constexpr size_t kMostBytes = 32, kMostTokens = 6;

  struct Key {
    WordKey head, tail;  // the first 16 bytes and the next 16, zero after the end
    uint64_t hash;
    uint8_t size;  // with a flag of the caller
  };

  // A word fills one cache line. Most words of most languages have at most 32 bytes and six tokens.
  struct alignas(64) Word {
    WordKey head, tail;
    uint8_t size;  // 0: free
    uint8_t count;
    uint8_t ends[kMostTokens];  // of the tokens, in bytes from the beginning of the word
    int32_t ids[kMostTokens];
  };
  static_assert(sizeof(Word) == 64);

  WordCache() : words_(kSets * 2) {}

  // `size` is from 1 to kMostBytes, and all of the 32 bytes at p can be read. Words with another flag, which is 0 or
  // 128, are other words.
  static Key key_of(const uint8_t* p, size_t size, uint8_t flag = 0) {
    Key key;
    key.head = load_key(p, size < kKeyBytes ? size : kKeyBytes);
    key.tail = size > kKeyBytes ? load_key(p + kKeyBytes, size - kKeyBytes) : WordKey{0, 0};
    key.size = static_cast<uint8_t>(size | flag);
    key.hash = hash_key({key.head.low ^ key.tail.low * 0x9FB21C651E98DF25u,
                         key.head.high ^ std::rotl(key.tail.high, 29) ^ uint64_t{key.size} << 56});
    return key;
  }

  void prefetch(const Key& key) const {
    const Word* const set = &words_[key.hash >> kShift << 1];
    __builtin_prefetch(set);
    __builtin_prefetch(set + 1);
  }

  // Returns the word, or null. It is valid until the next call.
  const Word* find(const Key& key) {
    Word* const set = &words_[key.hash >> kShift << 1];
    if (equal(set[0], key)) return set;
    if (!equal(set[1], key)) return nullptr;
    std::swap(set[0], set[1]);
    return set;
  }

  // Stores a word under the key in the second of its two places. Only a word that is found there takes the first one,
  // so that words that come once displace no frequent ones. Of 4.8 million words of Wikipedia with 190,000 different
  // ones, 233,000 were not there, and 256,000 if each new word took the first place.
  void insert(const Key& key, const Word& word) {
    Word* const set = &words_[key.hash >> kShift << 1];
    Word& place = set[set[0].size == 0 || equal(set[0], key) ? 0 : 1];
    place = word;
    place.head = key.head, place.tail = key.tail, place.size = key.size;
  }

 private:
  // 2^16 sets of two words are 8 MB. 2.7 MB of text in six languages have 75,000 different words, which 4 MB did not
  // hold.
  static constexpr int kBits = 16;
  static constexpr size_t kSets = size_t{1} << kBits;
  static constexpr int kShift = 64 - kBits;

  static bool equal(const Word& word, const Key& key) {
    return ((word.head.low ^ key.head.low) | (word.head.high ^ key.head.high) | (word.tail.low ^ key.tail.low) |
            (word.tail.high ^ key.tail.high) | (word.size ^ uint64_t{key.size})) == 0;
  }

  Values<Word> words_;
};

}  // namespace pychunk
