// Exact search over the stored vectors of an index. Every vector is scored, and the score of a chunk is the best of its
// vectors' scores. Nothing is built: rows are read from memory-mapped files, once for all queries of a call.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/view.h"

namespace pychunk {

// A chunk, the score of its best row, and that row, which is the first of equals.
struct ScanHit {
  float score;
  int64_t chunk, row;
};

// The storage of a row's numbers: the bits of float16, float32, or bytes followed by their scale, a float32.
enum class StoredAs : uint8_t { kHalves, kFloats, kBytes };

// Rows as they are stored, one after the other.
struct StoredRows {
  const void* data = nullptr;
  int64_t rows = 0;
};

// Scores of chunks from another source. weight * scores[query, chunk] is added to the score of a chunk's best row. A
// chunk without rows gets this value alone, if its score from the other source is above 0.
struct ScoredBeside {
  Matrix<const float> scores;
  float weight = 0.0f;
};

class HeadsWhenAsked;

// A searcher of stored rows. From its second search on, it first checks the first numbers of rows if these are useful
// (prefilter.h). A copy of these numbers takes 0.4 times the rows' bytes of memory.
class Scan {
 public:
  // Open the rows of several arrays, with row numbers that continue from one array to the next. Chunk i has the rows
  // offsets[i] .. offsets[i + 1]. Without offsets, each row is a chunk. The arrays must outlive the scan.
  Scan(std::vector<StoredRows> parts, StoredAs kind, int64_t dim, std::span<const int64_t> offsets);

  Scan(Scan&&) noexcept;
  ~Scan();

  int64_t dim() const { return dim_; }
  int64_t rows() const { return first_.back(); }
  int64_t chunks() const { return offsets_.empty() ? rows() : static_cast<int64_t>(offsets_.size()) - 1; }

  // Set the group of each row, which must be a chunk of its own. A negative number means that it is in none. A search
  // of groups reads only the rows of these groups. From the second search on, the first numbers of a group's rows are
  // side by side in memory, as if each group had a scan of its own. The first call fixes the groups.
  void set_groups(std::span<const int8_t> groups);
  int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  // Return the `count` best chunks of each query, best first, and the first of chunks with equal scores first. Chunks
  // without rows are never among them, unless they have added scores. The result has the same bits for any number of
  // threads, of queries in a call, and for every instruction set.
  // - allowed: one value for each chunk, nullptr for all.
  // - beside: the added scores, nullptr for none. With them, a hit's score is the sum in float32, and its row is -1 if
  //   the chunk has no rows.
  // - groups: the groups that contain all allowed chunks, empty if they are unknown.
  // - least: for each query a score that at least `count` allowed chunks reach, which is the scan's first limit; empty
  //   if it is unknown.
  std::vector<std::vector<ScanHit>> top(const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                        int threads, const ScoredBeside* beside = nullptr,
                                        std::span<const int64_t> groups = {}, std::span<const float> least = {}) const;
  // Score chosen chunks, with the same bits as in top(), and write the row of each. Those without rows get 0 and -1.
  void score_chunks(const float* query, std::span<const int64_t> chunks, float* scores, int64_t* rows) const;
  // Score chosen rows.
  void score_rows(const float* query, std::span<const int64_t> rows, float* scores) const;

 private:
  friend class ScanPass;
  friend class HeadPass;
  int64_t begin_of(int64_t chunk) const { return offsets_.empty() ? chunk : offsets_[static_cast<size_t>(chunk)]; }
  size_t part_of(int64_t row) const {
    return static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
  }
  // Return the address of a row of a part.
  const uint8_t* at(size_t part, int64_t row) const {
    const auto dim = static_cast<size_t>(dim_);
    const size_t bytes = kind_ == StoredAs::kHalves   ? dim * sizeof(uint16_t)
                         : kind_ == StoredAs::kFloats ? dim * sizeof(float)
                                                      : dim + sizeof(float);
    return static_cast<const uint8_t*>(parts_[part].data) + static_cast<size_t>(row - first_[part]) * bytes;
  }
  // Read the numbers of rows [row, row + n) of one part as float32, with stride_ numbers from one row to the next, and
  // the scales by which products with them are multiplied. Scales are written only if the rows are bytes.
  void read(size_t part, int64_t row, int64_t n, float* out, float* scales) const;
  // Compute the inner products of those rows with a padded query. `room` holds one row as float32.
  void products(size_t part, int64_t row, int64_t n, const float* query, float* room, float* out) const;
  std::vector<float> padded(const float* query) const;

  std::vector<StoredRows> parts_;
  std::vector<int64_t> first_;  // the first row of each part, and last the number of all rows
  StoredAs kind_;
  int64_t dim_, stride_;  // stride_: dim_, rounded up to what the kernels take
  std::span<const int64_t> offsets_;
  std::vector<int64_t> without_;  // the chunks without rows
  std::unique_ptr<HeadsWhenAsked> heads_;
  struct Group {
    std::vector<int64_t> rows;  // in rising order
    std::unique_ptr<HeadsWhenAsked> heads;
  };
  std::vector<Group> groups_;
  std::unique_ptr<std::once_flag> grouped_;
};

}  // namespace pychunk
