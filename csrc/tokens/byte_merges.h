// The merges of one pre-token of any length. The pair of neighbours with the lowest rank is merged first, and of equal
// pairs the leftmost. merge_words_simd.h merges short pre-tokens.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace pychunk {

// The work memory of merges.
struct MergeMemory {
  std::vector<uint32_t> numbers, ranks, before, after;
  std::vector<uint64_t> heap;  // rank << 32 | position
};

// Merges a pre-token in O(n log n), and calls emit(begin, end, number) for each token. first(a, b) is the rank of a
// pair of bytes, next(x, y) that of a pair of tokens, and made(rank) is the token that the pair of a rank becomes. Rank
// 0xFFFFFFFF means that a pair does not merge.
template <typename First, typename Next, typename Made, typename Emit>
void merge_long(const uint8_t* bytes, size_t size, MergeMemory& memory, First first, Next next, Made made, Emit emit) {
  constexpr uint32_t kNone = 0xFFFFFFFF;
  std::vector<uint32_t>&numbers = memory.numbers, &ranks = memory.ranks;
  std::vector<uint32_t>&before = memory.before, &after = memory.after;
  std::vector<uint64_t>& heap = memory.heap;
  numbers.resize(size);
  ranks.resize(size);
  before.resize(size);
  after.resize(size);
  heap.clear();
  for (size_t i = 0; i < size; ++i) {
    numbers[i] = bytes[i];
    before[i] = static_cast<uint32_t>(i - 1);
    after[i] = static_cast<uint32_t>(i + 1);
    ranks[i] = i + 1 < size ? first(bytes[i], bytes[i + 1]) : kNone;
    if (ranks[i] != kNone) heap.push_back(uint64_t{ranks[i]} << 32 | i);
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto set = [&](size_t at, uint32_t rank) {
    ranks[at] = rank;
    if (rank == kNone) return;
    heap.push_back(uint64_t{rank} << 32 | at);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const uint64_t top = heap.back();
    heap.pop_back();
    const auto at = static_cast<uint32_t>(top), rank = static_cast<uint32_t>(top >> 32);
    if (ranks[at] != rank) continue;  // one of the two tokens has merged with another since
    const uint32_t gone = after[at], right = after[gone];
    const uint32_t number = made(rank);
    numbers[at] = number;
    ranks[gone] = kNone;
    after[at] = right;
    if (right < size) before[right] = at;
    set(at, right < size ? next(number, numbers[right]) : kNone);
    if (at > 0) set(before[at], next(numbers[before[at]], number));
  }
  for (size_t at = 0; at < size; at = after[at]) emit(at, static_cast<size_t>(after[at]), numbers[at]);
}

}  // namespace pychunk
