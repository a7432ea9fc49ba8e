// Exact search over the stored vectors of an index: every vector is scored, and a chunk counts as the best of its own.
// Nothing is built; rows are read as they lie in memory-mapped files, once for all queries of a call.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// A chunk, the score of its best row, and that row, the first of equals.
struct ScanHit {
  float score;
  int64_t chunk, row;
};

// How the numbers of a row are stored: float16 by its bits, float32, or bytes followed by their scale, a float32.
enum class StoredAs : uint8_t { kHalves, kFloats, kBytes };

// Rows as they are stored, one after the other.
struct StoredRows {
  const void* data = nullptr;
  int64_t rows = 0;
};

// What chunks score besides, by other means: weight * scores[query, chunk] is added to the score of their best row.
// Chunks without rows count as 0 + that where their scores here are above 0.
struct ScoredBeside {
  Matrix<const float> scores;
  float weight = 0.0f;
};

class HeadsWhenAsked;

// From the second search on, queries look at the first numbers of rows, where those are of use (prefilter.h): 0.4 of
// the rows' bytes in memory.
class Scan {
 public:
  // Rows of several arrays, numbered on from one to the next. Chunk i has the rows offsets[i] .. offsets[i + 1];
  // without offsets each row is a chunk. What is pointed to must outlive it.
  Scan(std::vector<StoredRows> parts, StoredAs kind, int64_t dim, std::span<const int64_t> offsets);

  Scan(Scan&&) noexcept;
  ~Scan();

  int64_t dim() const { return dim_; }
  int64_t rows() const { return first_.back(); }
  int64_t chunks() const { return offsets_.empty() ? rows() : static_cast<int64_t>(offsets_.size()) - 1; }

  // Says in which group each row is, which is its own chunk; of a negative one: in none. A search of groups looks at
  // their rows alone, which lie side by side in memory from the second one on: as if each group had a scan of its own.
  // What is said first stays.
  void set_groups(std::span<const int8_t> groups);
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  // The `count` best chunks of each query, best first, of equal scores the first chunk; those without rows are never
  // among them. allowed: one value a chunk, nullptr for all. The same bits for any number of threads and of queries in
  // a call, and for every instruction set. beside: nullptr for nothing; a hit's score is then the sum, in float32, and
  // its row -1 where its chunk has none. groups: where all that is allowed lies; none: nobody knows.
  // least: of each query what `count` chunks that are allowed score at least, from which the scan goes on, as far as
  // that is known; none: of no query.
  std::vector<std::vector<ScanHit>> top(const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                        int threads, const ScoredBeside* beside = nullptr,
                                        std::span<const int64_t> groups = {}, std::span<const float> least = {}) const;
  // Of chosen chunks the score, the same bits as in top(), and its row; 0 and -1 of those without rows.
  void score_chunks(const float* query, std::span<const int64_t> chunks, float* scores, int64_t* rows) const;
  // Of chosen rows.
  void score_rows(const float* query, std::span<const int64_t> rows, float* scores) const;

 private:
  friend class ScanPass;
  friend class HeadPass;
  int64_t begin_of(int64_t chunk) const { return offsets_.empty() ? chunk : offsets_[static_cast<size_t>(chunk)]; }
  size_t part_of(int64_t row) const {
    return static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
  }
  // Where a row of a part lies.
  const uint8_t* at(size_t part, int64_t row) const {
    const auto dim = static_cast<size_t>(dim_);
    const size_t bytes = kind_ == StoredAs::kHalves   ? dim * sizeof(uint16_t)
                         : kind_ == StoredAs::kFloats ? dim * sizeof(float)
                                                      : dim + sizeof(float);
    return static_cast<const uint8_t*>(parts_[part].data) + static_cast<size_t>(row - first_[part]) * bytes;
  }
  // Numbers of rows [row, row + n) of one part as float32, stride_ apart, and what products with them are multiplied
  // by: nothing is written there unless rows are bytes.
  void read(size_t part, int64_t row, int64_t n, float* out, float* scales) const;
  // Inner products of those rows with a padded query; `room` is for one row as float32.
  void products(size_t part, int64_t row, int64_t n, const float* query, float* room, float* out) const;
  std::vector<float> padded(const float* query) const;

  std::vector<StoredRows> parts_;
  std::vector<int64_t> first_;  // row that each part begins with, and at the end how many there are
  StoredAs kind_;
  int64_t dim_, stride_;  // stride_: dim_ filled up with zeros to what the kernels take
  std::span<const int64_t> offsets_;
  std::vector<int64_t> without_;  // chunks without rows
  std::unique_ptr<HeadsWhenAsked> heads_;
  struct Group {
    std::vector<int64_t> rows;  // rising
    std::unique_ptr<HeadsWhenAsked> heads;
  };
  std::vector<Group> groups_;
  std::unique_ptr<std::once_flag> grouped_;
};

}  // namespace pychunk
