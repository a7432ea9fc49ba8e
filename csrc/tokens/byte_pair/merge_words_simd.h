// The merges of several short pre-tokens at once.
#pragma once
#include "common/simd.h"
#include "tokens/byte_pair/merge_words.h"

namespace pychunk {
namespace {

// The pre-tokens that take turns. A merge waits for two slots of a table that is larger than the second-level cache.
// Meanwhile the processor works on the merges of the other pre-tokens.
constexpr size_t kTurns = 16;

// The state of a pre-token between two merges. A rank holds the token that a pair becomes, which is its priority, and
// in the lowest 6 bits the byte at which the pair begins. The lowest rank thus is the next merge, the leftmost of equal
// pairs. Ranks from kNoPair on are no pairs. Half of all look-ups find no pair, which no branch prediction can guess,
// so the steps have no branches that depend on it.
struct Merging {
  alignas(64) uint32_t ranks[MergeWord::kMost];
  MergeWord* word;
  uint64_t alive;  // the bytes at which tokens begin
  size_t whole;    // the entries of ranks in use, a multiple of 16
  // The new pairs of the last merge: where they begin, and their tokens.
  uint32_t at, left;
  uint32_t number, before, after;  // kNone: no token
};
constexpr uint32_t kNoPair = MergeTables::kNone << 6;

inline uint32_t rank_of(uint32_t number, size_t at) { return number << 6 | static_cast<uint32_t>(at); }

// Returns the token that a pair becomes, or kNone, as MergeTables::merged does.
inline uint32_t find_pair(const MergeTables& tables, uint32_t left, uint32_t right) {
  const uint64_t key = MergeTables::key(left, right);
  const uint64_t* const slots = tables.bucket(key);
#if defined(__AVX512F__)
  const __m512i all = _mm512_loadu_si512(slots);
  // The mask of every lane: without one, GCC 12 calls the operand that it leaves out uninitialised.
  const __m512i keys = _mm512_maskz_srli_epi64(0xFF, all, MergeTables::kNumberBits);
  const uint32_t same = _mm512_cmpeq_epi64_mask(keys, _mm512_set1_epi64(static_cast<int64_t>(key)));
  const uint64_t found = same != 0 ? slots[__builtin_ctz(same | 0x80)] : 0;
#else
  uint64_t found = 0;
  for (size_t k = 0; k < MergeTables::kBucket; ++k) found |= slots[k] >> MergeTables::kNumberBits == key ? slots[k] : 0;
#endif
  if (found == 0 && slots[MergeTables::kBucket - 1] != MergeTables::kFree) return tables.merged(left, right);
  const auto number = static_cast<uint32_t>(found & ((1u << MergeTables::kNumberBits) - 1));
  return found != 0 ? number : MergeTables::kNone;
}

inline void begin_merging(const MergeTables& tables, MergeWord* word, Merging& state) {
  const size_t size = word->size;
  state.word = word;
  state.alive = size == 64 ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
  state.whole = (size + 15) / 16 * 16;
  for (size_t i = 0; i < state.whole; ++i) state.ranks[i] = kNoPair;
  for (size_t i = 0; i + 1 < size; ++i) {
    word->numbers[i] = word->bytes[i];
    state.ranks[i] = rank_of(tables.byte_pairs[word->bytes[i] << 8 | word->bytes[i + 1]], i);
  }
  word->numbers[size - 1] = word->bytes[size - 1];
}

// Merges one pair, and fetches the slots of the new pairs. Returns false if no pair merges.
inline bool merge_pair(const MergeTables& tables, Merging& state) {
  uint32_t* const ranks = state.ranks;
  uint32_t lowest = MergeTables::kNone;
  for (size_t block = 0; block < state.whole; block += 16) {
    uint32_t least = MergeTables::kNone;
    for (size_t i = 0; i < 16; ++i) least = ranks[block + i] < least ? ranks[block + i] : least;
    lowest = least < lowest ? least : lowest;
  }
  if (lowest >= kNoPair) return false;
  const uint32_t at = lowest & 63, number = lowest >> 6;
  uint32_t* const numbers = state.word->numbers;
  const uint64_t later = state.alive & ~uint64_t{1} << at, rest = later & (later - 1);
  const uint64_t earlier = state.alive & ((uint64_t{1} << at) - 1);
  ranks[__builtin_ctzll(later)] = kNoPair;
  state.alive ^= later & (0 - later);
  numbers[at] = number;
  state.at = at;
  state.number = number;
  state.left = static_cast<uint32_t>(63 - __builtin_clzll(earlier | 1));  // `at` itself if nothing is before it
  const uint32_t before = numbers[state.left], after = numbers[__builtin_ctzll(rest | uint64_t{1} << 63)];
  state.after = rest != 0 ? after : MergeTables::kNone;
  state.before = at != 0 ? before : MergeTables::kNone;
  __builtin_prefetch(tables.bucket(MergeTables::key(number, state.after)));
  __builtin_prefetch(tables.bucket(MergeTables::key(state.before, number)));
  return true;
}

// Looks up the new pairs. No pair has kNone as a token.
inline void rank_new_pairs(const MergeTables& tables, Merging& state) {
  state.ranks[state.left] = rank_of(find_pair(tables, state.before, state.number), state.left);
  state.ranks[state.at] = rank_of(find_pair(tables, state.number, state.after), state.at);
}

// Merges pre-tokens, each by itself. The pair whose token has the lowest number merges first.
void merge_words(const MergeTables& tables, MergeWord* words, size_t count) {
  Merging states[kTurns];
  Merging* turns[kTurns];
  size_t begun = 0, active = 0;
  for (; begun < count && active < kTurns; ++begun, ++active) {
    turns[active] = &states[active];
    begin_merging(tables, &words[begun], states[active]);
  }
  while (active > 0) {
    for (size_t i = 0; i < active;) {
      Merging& state = *turns[i];
      if (merge_pair(tables, state)) {
        ++i;
        continue;
      }
      state.word->starts = state.alive;
      if (begun < count) {
        begin_merging(tables, &words[begun++], state);
      } else {
        --active;
        turns[i] = turns[active];
        turns[active] = &state;
      }
    }
    for (size_t i = 0; i < active; ++i) rank_new_pairs(tables, *turns[i]);
  }
}

}  // namespace
}  // namespace pychunk
