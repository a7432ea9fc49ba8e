// Strings numbered in the order in which they first come: a hash table whose strings lie end to end.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "buffer.h"

namespace pychunk {

class StringTable {
 public:
  StringTable();

  // The number of a string, which is the next one where it is new. Throws std::bad_alloc and is then as it was.
  int32_t number(std::string_view string) {
    const uint32_t hash = hash_of(string);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot slot = slots_[at];
      if (slot.number < 0) return insert(string, hash);
      if (slot.hash == hash && (*this)[slot.number] == string) return slot.number;
    }
  }
  // The same, or -1 where it is none of them.
  int32_t find(std::string_view string) const {
    const uint32_t hash = hash_of(string);
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot slot = slots_[at];
      if (slot.number < 0 || (slot.hash == hash && (*this)[slot.number] == string)) return slot.number;
    }
  }

  std::string_view operator[](int32_t number) const {
    const int64_t begin = offsets_[static_cast<size_t>(number)], end = offsets_[static_cast<size_t>(number) + 1];
    return {bytes_.data() + begin, static_cast<size_t>(end - begin)};
  }
  int32_t size() const { return static_cast<int32_t>(offsets_.size() - 1); }
  // Memory that it takes.
  size_t memory() const { return slots_.size() * sizeof(Slot) + bytes_.size() + offsets_.size() * sizeof(int64_t); }
  void clear();

 private:
  struct Slot {
    uint32_t hash;
    int32_t number;  // -1: free
  };

  // Begun with a number drawn for each table, so that nobody can write a text whose words all fall into one place.
  uint32_t hash_of(std::string_view string) const {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;
    const char* p = string.data();
    size_t left = string.size();
    uint64_t hash = seed_ ^ left, part;
    for (; left > 8; p += 8, left -= 8) {
      std::memcpy(&part, p, 8);
      hash = (hash ^ part) * kOdd;
      hash ^= hash >> 32;
    }
    if (left >= 4) {
      uint32_t first, last;
      std::memcpy(&first, p, 4), std::memcpy(&last, p + left - 4, 4);
      part = uint64_t{last} << 32 | first;
    } else if (left > 0) {
      const auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<uint8_t>(p[i])); };
      part = byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
    } else {
      part = 0;
    }
    hash = (hash ^ part) * kOdd;
    return static_cast<uint32_t>(hash >> 32 ^ hash >> 17);
  }
  int32_t insert(std::string_view string, uint32_t hash);
  void grow();

  const uint64_t seed_;
  Values<Slot> slots_;  // a power of two, a quarter of them free at least
  size_t mask_ = 0;
  Values<char> bytes_;
  Values<int64_t> offsets_;
};

}  // namespace pychunk
