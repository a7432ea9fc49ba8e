// A reader of consecutive bzip2 streams, whose bytes may come in parts of any size.
#pragma once
#include <deque>
#include <string>

#include "compression/bzip2_block.h"

namespace pychunk {

class Bzip2Reader {
 public:
  // Adds compressed bytes.
  void feed(std::string_view data);
  // Returns the number of bytes of the next block, or -1 if more compressed bytes are needed, or if `error()` is not
  // empty. Reads up to kBzipChains blocks at once.
  int64_t next_size();
  // Writes the bytes of the block whose size next_size() returned. Returns false, with `error()`, if they do not match
  // the checksum.
  bool take(uint8_t* out);
  // The reason why the current stream cannot be decompressed.
  const std::string& error() const { return error_; }
  // The first byte of the current stream, or of the stream with the error, from the begin of the last fed bytes on; a
  // negative number if it began before them.
  int64_t stream_begin() const { return error_begin_ - fed_; }
  // Whether a stream has begun and not ended.
  bool is_unfinished() const { return is_open_ || !ready_.empty() || position_ < 8 * held(); }
  // Whether a block, or a stream without one, has matched its checksum.
  bool is_proven() const { return is_proven_ || (has_ended_ && ready_.empty()); }

 private:
  struct Entry {
    BzipBlock block;
    int64_t begin = 0;  // of the block's stream
  };
  enum class Step { kBlock, kStream, kShort, kFailed };
  Step step(BzipBlock& block);
  Step step_header();
  Step step_end(BzipBits& bits);
  Step step_block(BzipBits& bits, BzipBlock& block);
  Step fail(std::string reason);
  void read_ahead();
  void refuse_block();
  int64_t held() const { return static_cast<int64_t>(data_.size()); }

  std::string data_;       // compressed bytes
  int64_t offset_ = 0;     // of the first byte of `data_`, in all bytes that were fed
  int64_t position_ = 0;   // the next bit in `data_`
  int64_t fed_ = 0;        // where the last fed bytes begin
  bool is_open_ = false;   // whether a stream has begun
  int64_t begin_ = 0;      // of the stream at `position_`
  int64_t most_ = 0;       // the most bytes of one of its blocks
  uint32_t combined_ = 0;  // its checksum so far
  std::deque<Entry> ready_;
  std::string failure_;  // becomes the error after the blocks in `ready_`
  std::string error_;
  int64_t error_begin_ = 0;
  bool is_proven_ = false;
  bool has_ended_ = false;  // whether a stream has matched its checksum, which is that of its blocks' checksums
};

}  // namespace pychunk
