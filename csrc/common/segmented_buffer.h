// Rows of numbers that threads write block by block, until they are joined. The rows are stored in slabs that one
// thread uses after another. Separate vectors for each block grew by copying, and met a 4 kB page fault for every
// fourth row of 256 numbers. This took a fifth of the processor time of a segmentation with sentence vectors.
#pragma once
#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

struct Slab {
  explicit Slab(int64_t size) : memory(size) {}
  Buffer<float> memory;
  int64_t used = 0;
};

// The slabs of one call. Only one thread at a time holds a slab. The first slabs are small, so a small call wastes
// little.
class Slabs {
 public:
  // Returns a slab with room for `values` numbers: the one given back last if it has room, else a new one.
  std::shared_ptr<Slab> take(int64_t values) {
    int64_t size = 0;
    {
      const std::lock_guard lock(mutex_);
      if (!open_.empty() && open_.back()->memory.size - open_.back()->used >= values) {
        std::shared_ptr<Slab> found = std::move(open_.back());
        open_.pop_back();
        return found;
      }
      size = next_;
      next_ = std::min(2 * next_, kMost);
    }
    return std::make_shared<Slab>(std::max(size, values));
  }
  void give_back(std::shared_ptr<Slab> slab) {
    const std::lock_guard lock(mutex_);
    open_.push_back(std::move(slab));
  }

 private:
  // The number of values in the first slab and in the largest one. The largest has 8 MB, which is four large pages. It
  // is kept for the next call (buffer.cc). Up to 8 MB of a call's slabs may stay unused.
  static constexpr int64_t kLeast = int64_t{16} << 10, kMost = int64_t{2} << 20;

  std::mutex mutex_;
  std::vector<std::shared_ptr<Slab>> open_;
  int64_t next_ = kLeast;
};

// The rows that one block writes to slabs, in order.
class SlabRows {
 public:
  void append(std::span<const float> row, Slabs& slabs) {
    const auto count = static_cast<int64_t>(row.size());
    if (open_ == nullptr || open_->memory.size - open_->used < count) begin_piece(count, slabs);
    std::copy(row.begin(), row.end(), open_->memory.data + open_->used);
    open_->used += count;
    pieces_.back().count += count;
    size_ += count;
  }
  // Ends the writing, so that another block may continue in the same slab.
  void close(Slabs& slabs) {
    if (open_ != nullptr) slabs.give_back(std::move(open_));
    open_ = nullptr;
  }
  int64_t size() const { return size_; }
  void copy_to(float* out) const {
    for (const Piece& piece : pieces_) out = std::copy_n(piece.slab->memory.data + piece.begin, piece.count, out);
  }

 private:
  struct Piece {
    std::shared_ptr<Slab> slab;
    int64_t begin, count;
  };
  void begin_piece(int64_t count, Slabs& slabs) {
    open_ = slabs.take(count);
    pieces_.push_back({open_, open_->used, 0});
  }

  std::vector<Piece> pieces_;
  std::shared_ptr<Slab> open_;
  int64_t size_ = 0;
};

}  // namespace pychunk
