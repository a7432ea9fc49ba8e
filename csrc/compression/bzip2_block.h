// One block of the bzip2 format: its entropy code, and the inverse of its Burrows-Wheeler transform.
//
// Lower bound on the cost: a byte of output waits for one load from a table of 4 bytes for each byte of the block, 3.6
// MB, because the next address is in the value loaded. One chain of loads therefore takes the latency of the cache for
// each byte, which is over half of libbz2's time. Several blocks have chains that do not depend on each other.
// unwind() follows four at once, so that the loads of four blocks overlap.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/buffer.h"

namespace pychunk {

// A reader of bits, the highest first. After the end of the data it yields zeros, and is_short() is true.
class BzipBits {
 public:
  BzipBits(std::string_view data, int64_t position)
      : data_(reinterpret_cast<const uint8_t*>(data.data())),
        size_(static_cast<int64_t>(data.size())),
        next_(position / 8) {
    refill();
    skip(static_cast<int>(position % 8));
  }
  int64_t position() const { return next_ * 8 - count_; }
  bool is_short() const { return position() > size_ * 8; }
  // Ensures that at least 56 bits can be read.
  void refill() {
    if (next_ + 8 <= size_) {
      uint64_t word = 0;
      for (int i = 0; i < 8; ++i) word = word << 8 | data_[next_ + i];
      bits_ |= word >> count_;
      const int bytes = (63 - count_) >> 3;
      next_ += bytes, count_ += 8 * bytes;
      return;
    }
    for (; count_ <= 56; count_ += 8, ++next_)
      if (next_ < size_) bits_ |= uint64_t{data_[next_]} << (56 - count_);
  }
  bool has(int count) const { return count_ >= count; }
  // The next bits, 1 to 32 of them, of those that were refilled.
  uint32_t peek(int count) const { return static_cast<uint32_t>(bits_ >> (64 - count)); }
  void skip(int count) { bits_ <<= count, count_ -= count; }
  uint32_t read(int count) {
    if (!has(count)) refill();
    const uint32_t value = peek(count);
    skip(count);
    return value;
  }

 private:
  const uint8_t* data_;
  int64_t size_, next_;
  uint64_t bits_ = 0;  // the next bits, from the highest on; the bits after `count_` may be set, too
  int count_ = 0;
};

// A block whose entropy code was decoded.
struct BzipBlock {
  Buffer<uint8_t> bytes;    // the last column of the sorted rotations; after unwind(), the bytes of the block
  Buffer<uint32_t> follow;  // for each row of the sorted rotations: its first byte, and << 8 the row that follows
  int64_t size = 0;
  uint32_t row = 0;  // the row with which the block begins
  uint32_t crc = 0;
};

enum class BzipState { kGood, kShort, kDamaged, kRandomised };

// Decodes the entropy code of a block, from its checksum on. `most`: the most bytes of a block of this stream.
BzipState read_block(BzipBits& bits, int64_t most, BzipBlock& block);

// The number of blocks whose bytes are found at once.
inline constexpr size_t kBzipChains = 4;

// Inverts the transforms of at most kBzipChains blocks, and releases their tables.
void unwind(std::span<BzipBlock> blocks);

// Returns the number of bytes that a block stands for: after four equal bytes, a byte says how many more follow.
// Returns -1 if the block ends before that byte.
int64_t expanded_size(const BzipBlock& block);

// Writes those bytes. Returns whether they match the checksum.
bool expand(const BzipBlock& block, uint8_t* out);

}  // namespace pychunk
