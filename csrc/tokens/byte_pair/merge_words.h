// Short pre-tokens that are merged together. Only plain types are used, because the kernels of each instruction set
// include this file (kernels_isa.cc).
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pychunk {

// A pre-token of 1 to kMost bytes, and the tokens that it becomes.
struct MergeWord {
  static constexpr size_t kMost = 64;
  const uint8_t* bytes;
  size_t size;
  uint64_t starts;          // the result: a bit for each byte at which a token begins
  uint32_t numbers[kMost];  // the result: the token that begins at each of these bytes
};

// The tables of BytePairVocabulary.
struct MergeTables {
  static constexpr int kNumberBits = 21;
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  static constexpr uint64_t kFree = ~uint64_t{0};
  // The slots of a bucket, which fill one line of the processor's cache.
  static constexpr size_t kBucket = 8;

  const uint32_t* byte_pairs;  // the token that two bytes become, or kNone
  // A hash table. A slot holds left, right and the result in 21 bits each, or kFree. Pairs that find their bucket full
  // are in the next one that is not.
  const uint64_t* pairs;
  int shift;
  size_t mask;  // the number of buckets less 1

  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t{left} << kNumberBits | right; }
  size_t home(uint64_t key) const { return key * 0x9E3779B97F4A7C15u >> shift; }
  const uint64_t* bucket(uint64_t key) const { return pairs + home(key) * kBucket; }
  // Returns the token that a pair of tokens becomes, or kNone.
  uint32_t merged(uint32_t left, uint32_t right) const {
    const uint64_t wanted = key(left, right);
    for (size_t i = home(wanted);; i = (i + 1) & mask) {
      const uint64_t* const slots = pairs + i * kBucket;
      for (size_t k = 0; k < kBucket; ++k) {
        if (slots[k] >> kNumberBits == wanted) return static_cast<uint32_t>(slots[k] & ((1u << kNumberBits) - 1));
        if (slots[k] == kFree) return kNone;
      }
    }
  }
};

}  // namespace pychunk
