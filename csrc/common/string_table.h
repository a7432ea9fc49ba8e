// A hash table that numbers strings in the order of their first occurrence. Their bytes are stored end to end.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

class StringTable {
 public:
  StringTable();

  // The key of a string in the table. Nearly all words have up to 16 bytes, and their key alone identifies them. A
  // lookup then takes one memory access instead of four. A fifth of English words have more than 8 bytes.
  struct Key {
    uint64_t head, next;  // the first 8 bytes and the next 8, zero after the end
    uint32_t hash;        // the lowest bit is set if head and next hold the whole string
  };

  // Returns the number of a string. A new string gets the next number. If this throws std::bad_alloc, the table stays
  // unchanged.
  int32_t number(std::string_view string) { return number(string, key_of(string)); }
  int32_t number(std::string_view string, Key key) {
    const int32_t found = slots_[place_of(string, key)].number;
    return found < 0 ? insert(string, key) : found;
  }
  // Prefetches the slot that number() reads first, so that other work can overlap the memory access.
  void prefetch(Key key) const { __builtin_prefetch(&slots_[key.hash >> 1 & mask_]); }
  // Returns the number of a string, or -1 if the table does not contain it.
  int32_t find(std::string_view string) const { return slots_[place_of(string, key_of(string))].number; }

  std::string_view operator[](int32_t number) const {
    const int64_t begin = offsets_[static_cast<size_t>(number)], end = offsets_[static_cast<size_t>(number) + 1];
    return {bytes_.data() + begin, static_cast<size_t>(end - begin)};
  }
  int32_t size() const { return static_cast<int32_t>(offsets_.size() - 1); }
  // Returns the memory that the table occupies, in bytes.
  size_t memory() const { return slots_.size() * sizeof(Slot) + bytes_.size() + offsets_.size() * sizeof(int64_t); }
  void clear();

  Key key_of(std::string_view string) const {
    const char* p = string.data();
    const size_t size = string.size();
    const uint64_t head = first_bytes(p, size), next = size > 8 ? first_bytes(p + 8, size - 8) : 0;
    const bool is_whole = size == 0 || (size <= 16 && p[size - 1] != 0);
    // Each table draws its own seed at random. Otherwise an attacker could write a text whose words all collide.
    uint64_t hash = mixed(seed_ ^ head);
    if (size > 8) hash = mixed(hash ^ next);
    for (size_t at = 16; at < size; at += 8) hash = mixed(hash ^ first_bytes(p + at, size - at));
    return {head, next, static_cast<uint32_t>(hash >> 32 & ~uint64_t{1}) | (is_whole ? 1 : 0)};
  }

 private:
  struct Slot {
    uint64_t head, next;
    uint32_t hash;
    int32_t number;  // -1: free
  };
  static constexpr Slot kFree{0, 0, 0, -1};

  static uint64_t mixed(uint64_t x) {
    x *= 0x9E3779B97F4A7C15u;
    return (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
  }
  static uint64_t first_bytes(const char* p, size_t size) {
    uint64_t bytes = 0;
    if (size >= 8) {
      std::memcpy(&bytes, p, 8);
    } else if (size >= 4) {
      uint32_t first, last;
      std::memcpy(&first, p, 4), std::memcpy(&last, p + size - 4, 4);
      bytes = first | static_cast<uint64_t>(last) << (8 * (size - 4));
    } else if (size > 0) {  // the first, middle and last byte, which may be the same
      for (const size_t i : {size_t{0}, size / 2, size - 1})
        bytes |= static_cast<uint64_t>(static_cast<uint8_t>(p[i])) << (8 * i);
    }
    return bytes;
  }
  // Returns the slot of a string, or the free slot where it would be inserted.
  size_t place_of(std::string_view string, Key key) const {
    for (size_t at = key.hash >> 1 & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.number < 0) return at;
      if (slot.head == key.head && slot.next == key.next && slot.hash == key.hash &&
          ((key.hash & 1) != 0 || (*this)[slot.number] == string))
        return at;
    }
  }
  int32_t insert(std::string_view string, Key key);
  void grow();

  const uint64_t seed_;
  Values<Slot> slots_;  // the size is a power of two, and at least a quarter of the slots is free
  size_t mask_ = 0;
  Values<char> bytes_;
  Values<int64_t> offsets_;
};

}  // namespace pychunk
