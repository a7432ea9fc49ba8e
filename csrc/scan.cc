#include "scan.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include "best_rows.h"
#include "dispatch.h"
#include "interrupt.h"
#include "parallel.h"
#include "row_heads.h"

namespace pychunk {
namespace {

constexpr int64_t kScanLanes = 32;  // the kernels take rows of a multiple of so many numbers
constexpr int64_t kScanPanel = 16;  // queries that are scored together
// A panel takes as long as so many queries one by one: 35 ms over 200,000 rows of 256, one query 6.7.
constexpr int64_t kWorthAPanel = 6;
// Numbers of a block of rows as float32: 16 KB stay in the first cache for one query after the other, 64 KB in the
// second for panels, which are as large as the first.
constexpr int64_t kScanBlock = 4096, kPanelBlock = 16384;
// Rows of bytes of more numbers are scored without bounds, which whole numbers of 31 bits would say too coarsely.
constexpr int64_t kMostWhole = 8192;
// Sixteen queries together take as long as five of those that are left after them, four at a time.
constexpr int64_t kWorthBounds = 5;
// Bounds by the first numbers of a row, so many eighths of them, are of use where they leave few to be looked at again,
// each of which costs as much as so many numbers of a panel: of vectors whose numbers are principal components three
// eighths leave 2 %, a quarter more than 6. One block in so many is tried, and says it of those after it.
constexpr int64_t kHeadShares[] = {2, 3, 4}, kRowAgain = 1000, kBlocksATrial = 64;
constexpr size_t kHeadLengths = std::size(kHeadShares);
// Runs of rows for each thread, so that one that is held up leaves work to the others, and a run begins with the limits
// of all rows that are done: hybrid search of 64 queries over 970,000 rows on two threads takes 9 ms of processor time
// each with 4 runs, and 7 with 16.
constexpr int64_t kRunsAThread = 16, kLeastRun = 8192;
// Chunks that score best beside are scored first, for a limit to begin with: of 40 hybrid queries for ten chunks of
// 250,954 the tenth best of 32 is within .08 of the tenth best of all, of 160 within .05.
constexpr int64_t kFirst = 4, kLeastFirst = 32;
// Rows whose heads are looked at before any of them is looked at whole, so many that those left can be asked for
// together; fewer queries than kWorthBounds do so.
constexpr int64_t kHeadBlock = 512;
// A search of fewer of all chunks reads those alone.
constexpr int64_t kMostOfAll = 8;
// Scores beside are asked for so many chunks before their turn, two blocks: each query has its own, a megabyte apart,
// which is too many streams for the processor to look ahead in. Without it they took 14 % of a scan for 64 queries.
constexpr int64_t kChunksAhead = 40, kScoresALine = 16;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

bool ranks_before(const ScanHit& a, const ScanHit& b) {
  return a.score > b.score || (a.score == b.score && a.chunk < b.chunk);
}

// The best of hits whose chunks come in rising order. Twice as many as wanted are kept until the worse half goes, which
// takes a few steps a hit, whatever their number.
struct BestHits {
  std::vector<ScanHit> hits;
  float limit = kNothing;  // what cannot be among the best scores at most this

  void add(const ScanHit& hit, size_t count) {
    hits.push_back(hit);
    if (hits.size() >= 2 * count && hits.size() >= 64) cut(count);
  }
  void cut(size_t count) {
    if (hits.size() <= count) return;
    std::nth_element(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(count) - 1, hits.end(), ranks_before);
    hits.resize(count);
    limit = hits.back().score;
  }
};

// For each query the highest limit of the hits of any run, or of those that are done together: what scores less is not
// among the best.
using SharedLimits = std::vector<std::atomic<float>>;

void raise(std::atomic<float>& shared, float limit) {
  float known = shared.load(std::memory_order_relaxed);
  while (known < limit && !shared.compare_exchange_weak(known, limit, std::memory_order_relaxed)) {
  }
}

float with_beside(const ScoredBeside* beside, int64_t q, int64_t chunk, float score) {
  return beside == nullptr ? score : score + beside->weight * beside->scores.row(q)[chunk];
}

// What a row's score must be above where its sum with `added`, or with less, is to be above `limit`: with two roundings
// of the sum and its parts, each at most 2^-24 of them, and one of this.
float limit_without(double added, float limit) {
  if (limit == kNothing || !std::isfinite(added)) return kNothing;
  const double least = static_cast<double>(limit) - added;
  return static_cast<float>(least - 1e-6 * (std::fabs(static_cast<double>(limit)) + std::fabs(added)) - 1e-37);
}

// The length of the numbers [begin, end), rounded up.
float length_from(const float* numbers, int64_t begin, int64_t end) {
  double squares = 0.0;
  for (int64_t c = begin; c < end; ++c) squares += static_cast<double>(numbers[c]) * static_cast<double>(numbers[c]);
  return static_cast<float>(std::sqrt(squares) * (1.0 + 1e-5));
}

// Queries as whole numbers, for rows of bytes x with a scale s: a product s * (x . q) is at most
// s * unit * (x . y) + s * margin, with q = unit * y + what rounding left. |x| <= 128, so that the left-overs d add
// 128 * sum |d|; and the float32 product itself is off by so many roundings of parts of 128 * sum |q|.
struct WholeQueries {
  std::vector<int16_t> numbers;
  std::vector<float> units, margins;
  // Of sixteen queries each: numbers as panel_above takes them, and lengths of queries without their first `heads`.
  std::vector<int16_t> panels;
  std::vector<float> tails[kHeadLengths + 1];
  int64_t heads[kHeadLengths + 1] = {};  // the last: all

  void add(const float* query, int64_t dim) {
    const double most = std::min(32767.0, std::floor(2147483647.0 / (128.0 * static_cast<double>(dim))));
    double largest = 0.0, sum = 0.0, left = 0.0;
    for (int64_t c = 0; c < dim; ++c) {
      largest = std::max(largest, std::fabs(static_cast<double>(query[c])));
      sum += std::fabs(static_cast<double>(query[c]));
    }
    auto unit = static_cast<float>(largest / most);
    if (!(unit > 1e-30f)) unit = 0.0f;
    for (int64_t c = 0; c < dim; ++c) {
      double whole = unit > 0.0f ? std::nearbyint(static_cast<double>(query[c]) / static_cast<double>(unit)) : 0.0;
      whole = std::clamp(whole, -most, most);
      numbers.push_back(static_cast<int16_t>(whole));
      left += std::fabs(static_cast<double>(query[c]) - static_cast<double>(unit) * whole);
    }
    const double rounding = (static_cast<double>(dim) / 32.0 + 16.0) * 0x1p-23;
    units.push_back(unit);
    margins.push_back(static_cast<float>(128.0 * (left + rounding * (sum + left)) * (1.0 + 1e-6)));
  }
  // Up to a multiple of sixteen for panels, then of four, with queries that nothing is above the limit of.
  void fill_up(const float* queries, int64_t dim) {
    const auto count = static_cast<int64_t>(units.size());
    const int64_t whole = (count / kScanPanel + (count % kScanPanel >= kWorthBounds)) * kScanPanel;
    const auto filled = static_cast<size_t>(std::max(whole, (count + 3) / 4 * 4));
    numbers.resize(filled * static_cast<size_t>(dim));
    units.resize(filled), margins.resize(filled);
    panels.resize(static_cast<size_t>(whole * dim));
    for (size_t length = 0; length <= kHeadLengths; ++length) {
      heads[length] = length == kHeadLengths ? dim : dim * kHeadShares[length] / (8 * 32) * 32;
      for (int64_t q = 0; q < whole; ++q)
        tails[length].push_back(q < count ? length_from(queries + q * dim, heads[length], dim) : 0.0f);
    }
    for (int64_t q = 0; q < whole; ++q) {
      int16_t* panel = panels.data() + q / kScanPanel * kScanPanel * dim + 2 * (q % kScanPanel);
      for (int64_t c = 0; c < dim; ++c)
        panel[c / 2 * 2 * kScanPanel + c % 2] = numbers[static_cast<size_t>(q * dim + c)];
    }
  }
};

// The queries of a call as the kernels take them: panels of sixteen, then what is left one by one. For rows of bytes
// all one by one, and as whole numbers.
struct ScanQueries {
  int64_t stride, panels, singles, count;
  bool whole;
  std::vector<float> panel, single;
  WholeQueries bounds;

  ScanQueries(const Matrix<const float>& queries, int64_t width, bool by_bounds)
      : stride(width), count(queries.rows), whole(by_bounds) {
    panels = whole ? 0 : count / kScanPanel;
    if (!whole && count % kScanPanel >= kWorthAPanel) ++panels;
    singles = std::max<int64_t>(0, count - panels * kScanPanel);
    panel.assign(static_cast<size_t>(panels * kScanPanel * stride), 0.0f);
    single.assign(static_cast<size_t>(singles * stride), 0.0f);
    for (int64_t q = 0; q < count; ++q) {
      const float* from = queries.row(q);
      const int64_t own = q - panels * kScanPanel;
      if (own >= 0) {
        std::copy_n(from, queries.cols, single.data() + own * stride);
        if (whole) bounds.add(from, queries.cols);
      } else {
        float* to = panel.data() + q / kScanPanel * kScanPanel * stride + q % kScanPanel;
        for (int64_t c = 0; c < queries.cols; ++c) to[c * kScanPanel] = from[c];
      }
    }
    if (whole) bounds.fill_up(single.data(), stride);
  }
};

}  // namespace

// The best chunks of each query in a run, of rows that come in rising order and could be above the limit; others of
// their chunks may be left out.
class RunHits {
 public:
  RunHits(size_t queries, size_t count, SharedLimits& shared, const ScoredBeside* beside, std::vector<BestHits>& found)
      : count_(count), shared_(shared), beside_(beside), found_(found), pending_(queries, {kNothing, -1, -1}) {}

  // What a row of the chunks [first, last] must score more than.
  float limit(size_t q, int64_t first, int64_t last) const {
    const float limit = shared_limit(q);
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q)) + first;
    for (int64_t k = 0; k < 2; ++k) __builtin_prefetch(scores + kChunksAhead + k * kScoresALine);
    return without_beside(kernels().highest_of(scores, static_cast<size_t>(last - first + 1)), limit);
  }
  // The same of some rows, each of which is a chunk.
  float limit(size_t q, std::span<const int64_t> rows) const {
    const float limit = shared_limit(q);
    if (beside_ == nullptr) return limit;
    const float* scores = beside_->scores.row(static_cast<int64_t>(q));
    float most = kNothing;
    for (const int64_t row : rows) most = scores[row] > most ? scores[row] : most;
    return without_beside(most, limit);
  }
  // The same of one row, which is a chunk.
  float limit_of(size_t q, int64_t row) const {
    const float limit = shared_limit(q);
    return beside_ == nullptr ? limit : without_beside(beside_->scores.row(static_cast<int64_t>(q))[row], limit);
  }
  bool has_beside() const { return beside_ != nullptr; }
  void add(size_t q, const ScanHit& row) {
    if (pending_[q].chunk != row.chunk) {
      settle(q);
      pending_[q].chunk = row.chunk, pending_[q].row = row.row;
    }
    if (row.score > pending_[q].score) pending_[q].score = row.score, pending_[q].row = row.row;
  }
  void settle() {
    for (size_t q = 0; q < pending_.size(); ++q) settle(q);
  }

 private:
  float shared_limit(size_t q) const {
    const float shared = shared_[q].load(std::memory_order_relaxed);  // of equals the first chunk counts: not excluded
    return std::max(found_[q].limit, shared == kNothing ? kNothing : std::nextafterf(shared, kNothing));
  }
  float without_beside(float most, float limit) const {
    return limit_without(static_cast<double>(beside_->weight) * static_cast<double>(most), limit);
  }

  // The chunk that a query's last rows were of is complete.
  void settle(size_t q) {
    ScanHit hit = std::exchange(pending_[q], {kNothing, -1, -1});
    if (hit.chunk < 0) return;
    hit.score = with_beside(beside_, static_cast<int64_t>(q), hit.chunk, hit.score);
    if (!(hit.score > found_[q].limit)) return;
    const float before = found_[q].limit;
    found_[q].add(hit, count_);
    if (found_[q].limit > before) raise(shared_[q], found_[q].limit);
  }

  const size_t count_;
  SharedLimits& shared_;
  const ScoredBeside* const beside_;
  std::vector<BestHits>& found_;
  std::vector<ScanHit> pending_;  // of each query the chunk that its last row was of
};

// One thread's walk over a run of chunks: rows gathered to blocks, blocks scored, and the best row of each chunk kept.
class ScanPass {
 public:
  ScanPass(const Scan& scan, const ScanQueries& queries, size_t count, SharedLimits& shared, const ScoredBeside* beside,
           std::vector<BestHits>& found)
      : scan_(scan),
        queries_(queries),
        count_(count),
        beside_(beside),
        found_(found),
        run_(kernels()),
        hits_(static_cast<size_t>(queries.count), count, shared, beside, found) {
    const int64_t stride = scan.stride_;
    const int64_t numbers = queries.panels > 0 || queries.whole ? kPanelBlock : kScanBlock;
    room_ = std::clamp<int64_t>(numbers / stride / 8 * 8, 8, 64);
    if (queries.whole) {
      if (queries.count > 1) shorts_.resize(static_cast<size_t>(room_ * stride));
      above_.resize(static_cast<size_t>(room_));
      still_.resize(static_cast<size_t>(room_ * kScanPanel));
      rests_.assign(static_cast<size_t>(room_), 0.0f);
      limits_.assign(queries.bounds.units.size(), std::numeric_limits<float>::infinity());
    }
    block_.assign(static_cast<size_t>(room_ * stride), 0.0f);
    scales_.assign(static_cast<size_t>(room_), 0.0f);
    scores_.resize(static_cast<size_t>(room_ * kScanPanel));
    const auto states = static_cast<size_t>(queries.panels * kScanPanel + queries.singles);
    best_.assign(states, kNothing);
    where_.assign(states, 0);
  }

  void run(int64_t begin, int64_t end, const bool* allowed) {
    size_t part = 0;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      if (allowed != nullptr && !allowed[chunk]) continue;
      const int64_t first = scan_.begin_of(chunk), last = scan_.begin_of(chunk + 1);
      for (int64_t row = first; row < last;) {
        while (row >= scan_.first_[part + 1]) ++part;
        const int64_t n = std::min({room_ - filled_, last - row, scan_.first_[part + 1] - row});
        if (!extents_.empty() && extents_.back().part == part && extents_.back().row + extents_.back().n == row)
          extents_.back().n += n;
        else
          extents_.push_back({part, row, n});
        pieces_.push_back({chunk, first, filled_, n, static_cast<int32_t>(row - first), row + n == last});
        filled_ += n, row += n;
        if (filled_ == room_) flush();
      }
    }
    flush();
    hits_.settle();
  }

 private:
  // Rows of one chunk in the block.
  struct Piece {
    int64_t chunk, first_row, at, n;
    int32_t before;  // rows of the chunk that came earlier
    bool ends;
  };

  // Rows of the block that lie one after the other.
  struct Extent {
    size_t part;
    int64_t row, n;
  };

  // Rows of bytes: whole numbers say which could score above the limit, and those alone are scored.
  void flush_whole() {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    const auto count = static_cast<size_t>(queries_.count);
    if (pieces_.empty()) return;
    for (size_t q = 0; q < count; ++q) limits_[q] = hits_.limit(q, pieces_.front().chunk, pieces_.back().chunk);
    int64_t at = 0;
    for (const Extent& extent : extents_) {
      const uint8_t* rows = scan_.at(extent.part, extent.row);
      if (count == 1) {
        const size_t some =
            run_.bytes_above(reinterpret_cast<const int8_t*>(rows), static_cast<size_t>(extent.n), stride,
                             bounds.numbers.data(), bounds.units[0], bounds.margins[0], limits_[0], above_.data());
        size_t piece = 0;
        for (size_t k = 0; k < some; ++k) score(at + above_[k], piece, 0);
      } else {
        for (int64_t i = 0; i < extent.n; ++i, rows += stride + sizeof(float)) {
          run_.widen_to_shorts(reinterpret_cast<const int8_t*>(rows), stride,
                               shorts_.data() + static_cast<size_t>(at + i) * stride);
          std::memcpy(scales_.data() + at + i, rows + stride, sizeof(float));
        }
      }
      at += extent.n;
    }
    if (count == 1) return;
    const size_t panels = bounds.tails[0].size();
    if (tried_++ % kBlocksATrial == 0) choose_heads(panels);
    for (size_t q = 0; q < panels; q += kScanPanel) {
      const std::span<const uint32_t> above = above_of_panel(q);
      const uint32_t asked = q + kScanPanel <= count ? 0xFFFF : (1u << (count - q)) - 1;
      size_t piece = 0;
      for (size_t k = 0; k < above.size() && above[k] >> 16 < filled_; ++k)
        for (uint32_t own = above[k] & asked; own != 0; own &= own - 1)
          score(above[k] >> 16, piece, q + static_cast<size_t>(std::countr_zero(own)));
    }
    for (size_t q = panels; q < count; q += 4) {
      const size_t some = run_.shorts_above(shorts_.data(), scales_.data(), static_cast<size_t>(filled_), stride,
                                            bounds.numbers.data() + q * stride, bounds.units.data() + q,
                                            bounds.margins.data() + q, limits_.data() + q, above_.data());
      size_t piece = 0;
      for (size_t k = 0; k < some; ++k)
        for (size_t own = 0; own < 4 && q + own < count; ++own)
          if ((above_[k] >> own & 1) != 0) score(above_[k] >> 4, piece, q + own);
    }
  }

  // The heads by which the rows of the block cost least.
  void choose_heads(size_t panels) {
    size_t best = kHeadLengths;
    int64_t least = queries_.bounds.heads[best] * filled_ * static_cast<int64_t>(panels);
    for (length_ = 0; length_ < kHeadLengths; ++length_) {
      if (queries_.bounds.heads[length_] == 0) continue;
      int64_t left = 0;
      for (size_t q = 0; q < panels; q += kScanPanel) {
        const size_t some = above_by_heads(q);
        for (size_t k = 0; k < some; ++k) left += std::popcount(above_[k] & 0xFFFF);
      }
      const int64_t all = queries_.bounds.heads[length_] * filled_ * static_cast<int64_t>(panels) + left * kRowAgain;
      if (all < least) least = all, best = length_;
    }
    length_ = best;
  }

  // Rows of the block that could be above the limit of one of sixteen queries from q on; those behind the last are of
  // an earlier block.
  size_t above_by_heads(size_t q) {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_), head = static_cast<size_t>(bounds.heads[length_]);
    const auto n = static_cast<size_t>((filled_ + 7) / 8 * 8);
    if (q == 0) run_.norms_of_shorts(shorts_.data(), n, head, stride, rests_.data());
    return run_.panel_above(shorts_.data(), scales_.data(), rests_.data(), n, stride, head,
                            bounds.panels.data() + q * stride, bounds.units.data() + q, bounds.margins.data() + q,
                            bounds.tails[length_].data() + q, limits_.data() + q, above_.data());
  }
  std::span<const uint32_t> above_of_panel(size_t q) {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    const size_t some = above_by_heads(q);
    if (length_ == kHeadLengths) return std::span(above_).first(some);
    const size_t left = run_.still_above(shorts_.data(), scales_.data(), stride, bounds.numbers.data() + q * stride,
                                         bounds.units.data() + q, bounds.margins.data() + q, limits_.data() + q,
                                         above_.data(), some, still_.data());
    return std::span(still_).first(left);
  }

  // Scores a row of the block for a query; `piece` is not after the row's, and is moved to it.
  void score(int64_t at, size_t& piece, size_t q) {
    while (at >= pieces_[piece].at + pieces_[piece].n) ++piece;
    const Piece& own = pieces_[piece];
    const int64_t row = own.first_row + own.before + (at - own.at);
    float score = 0.0f;
    scan_.products(scan_.part_of(row), row, 1, queries_.single.data() + q * static_cast<size_t>(scan_.stride_),
                   block_.data(), &score);
    hits_.add(q, {score, own.chunk, row});
  }

  void flush() {
    checkpoint_each(blocks_++, 64);
    if (queries_.whole) {
      flush_whole();
      pieces_.clear(), extents_.clear();
      filled_ = 0;
      return;
    }
    const auto stride = static_cast<size_t>(scan_.stride_), n = static_cast<size_t>(filled_);
    const bool widened = queries_.panels > 0;
    const bool scaled = scan_.kind_ == StoredAs::kBytes;
    int64_t read = 0;
    for (const Extent& extent : extents_) {
      if (widened)
        scan_.read(extent.part, extent.row, extent.n, block_.data() + read * scan_.stride_, scales_.data() + read);
      read += extent.n;
    }
    for (int64_t p = 0; p < queries_.panels; ++p) {
      const int64_t first = p * kScanPanel, own = std::min(kScanPanel, queries_.count - first);
      // What lies in the block behind the last row is of an earlier block, and is not read.
      run_.dot_panel(block_.data(), (n + 7) / 8 * 8, stride,
                     queries_.panel.data() + static_cast<size_t>(first) * stride, scores_.data());
      if (scaled)
        for (size_t i = 0; i < n; ++i)
          for (size_t q = 0; q < kScanPanel; ++q) scores_[i * kScanPanel + q] *= scales_[i];
      float* best = best_.data() + first;
      int32_t* where = where_.data() + first;
      for (const Piece& piece : pieces_) {
        if (piece.before == 0) std::fill_n(best, kScanPanel, kNothing);
        run_.keep_best(scores_.data() + piece.at * kScanPanel, static_cast<size_t>(piece.n), piece.before, best, where);
        if (!piece.ends) continue;
        for (int64_t q = 0; q < own; ++q) offer(static_cast<size_t>(first + q), piece, best[q], where[q]);
      }
    }
    for (int64_t s = 0; s < queries_.singles; ++s) {
      const auto q = static_cast<size_t>(queries_.panels * kScanPanel + s);
      const float* query = queries_.single.data() + static_cast<size_t>(s) * stride;
      if (widened) {
        run_.dot_floats(block_.data(), n, stride, query, scores_.data());
        if (scaled)
          for (size_t i = 0; i < n; ++i) scores_[i] *= scales_[i];
      } else {
        float* out = scores_.data();
        for (const Extent& extent : extents_) {
          scan_.products(extent.part, extent.row, extent.n, query, block_.data(), out);
          out += extent.n;
        }
      }
      float best = best_[q];
      int32_t where = where_[q];
      for (const Piece& piece : pieces_) {
        if (piece.before == 0) best = kNothing;
        for (int64_t i = 0; i < piece.n; ++i) {
          const float score = scores_[static_cast<size_t>(piece.at + i)];
          if (score > best) best = score, where = piece.before + static_cast<int32_t>(i);
        }
        if (piece.ends) offer(q, piece, best, where);
      }
      best_[q] = best, where_[q] = where;
    }
    pieces_.clear(), extents_.clear();
    filled_ = 0;
  }

  void offer(size_t q, const Piece& piece, float best, int32_t where) {
    const float score = with_beside(beside_, static_cast<int64_t>(q), piece.chunk, best);
    if (score > found_[q].limit) found_[q].add({score, piece.chunk, piece.first_row + where}, count_);
  }

  const Scan& scan_;
  const ScanQueries& queries_;
  const size_t count_;
  const ScoredBeside* const beside_;
  std::vector<BestHits>& found_;
  const Kernels& run_;
  RunHits hits_;
  int64_t room_, filled_ = 0, blocks_ = 0;
  int64_t tried_ = 0;
  size_t length_ = kHeadLengths;  // of heads that bounds are by; see kHeadShares
  std::vector<float> block_, scales_, rests_, scores_, best_;
  std::vector<int32_t> where_;
  std::vector<int16_t> shorts_;
  std::vector<float> limits_;
  std::vector<uint32_t> above_, still_;
  std::vector<Piece> pieces_;
  std::vector<Extent> extents_;
};

// The heads of a scan's rows, made for its second search.
class HeadsWhenAsked {
 public:
  // Null for the first search, and where they are of no use or there is no memory for them.
  const RowHeads* get(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen, int threads) {
    if (!asked_.exchange(true)) return nullptr;
    std::call_once(made_, [&] {
      try {
        heads_ = RowHeads::of(parts, dim, chosen, kHeadBlock, threads);
      } catch (const std::bad_alloc&) {
        heads_.reset();
      }
    });
    return heads_.get();
  }

 private:
  std::atomic<bool> asked_{false};
  std::once_flag made_;
  std::unique_ptr<RowHeads> heads_;
};

// The same walk over a run of chunks by the heads of their rows: blocks of heads, and of the rows that these leave, all
// numbers. chosen: rows that the heads are of, each a chunk; none: all rows of the scan.
class HeadPass {
 public:
  HeadPass(const Scan& scan, const RowHeads& heads, std::span<const int64_t> chosen, const ScanQueries& queries,
           size_t count, SharedLimits& shared, const ScoredBeside* beside, std::vector<BestHits>& found)
      : scan_(scan),
        chosen_(chosen),
        heads_(heads),
        queries_(queries),
        run_(kernels()),
        hits_(static_cast<size_t>(queries.count), count, shared, beside, found),
        above_(kHeadBlock),
        could_(kHeadBlock),
        limits_(kHeadBlock) {
    for (int64_t q = 0; q < queries.count; ++q) {
      const float* numbers = queries.single.data() + q * scan.stride_;
      tails_.push_back(length_from(numbers, heads.head, scan.stride_));
    }
  }

  void run(int64_t begin, int64_t end, const bool* allowed) {
    const int64_t first_row = scan_.begin_of(begin), last_row = scan_.begin_of(end);
    int64_t chunk = begin;
    for (int64_t at = first_row / kHeadBlock * kHeadBlock; at < last_row; at += kHeadBlock) {
      checkpoint_each(at / kHeadBlock, 64);
      const Rows rows{at, std::max(at, first_row), std::min(at + kHeadBlock, last_row)};
      while (scan_.begin_of(chunk + 1) <= rows.first) ++chunk;
      int64_t last = chunk;
      while (scan_.begin_of(last + 1) < rows.end) ++last;
      if (allowed == nullptr || std::any_of(allowed + chunk, allowed + last + 1, [](bool each) { return each; }))
        block(rows, chunk, last, allowed);
    }
    hits_.settle();
  }

  // The same of the chosen rows [begin, end), begin being a multiple of kHeadBlock.
  void run_chosen(int64_t begin, int64_t end, const bool* allowed) {
    for (int64_t at = begin; at < end; at += kHeadBlock) {
      checkpoint_each(at / kHeadBlock, 64);
      const Rows rows{at, at, std::min(at + kHeadBlock, end)};
      const auto own = chosen_.subspan(static_cast<size_t>(at), static_cast<size_t>(rows.end - at));
      if (allowed != nullptr && std::none_of(own.begin(), own.end(), [&](int64_t row) { return allowed[row]; }))
        continue;
      for (size_t q = 0; q < static_cast<size_t>(queries_.count); ++q) {
        const size_t some = above(rows, q, hits_.limit(q, own), allowed);
        for (size_t k = 0; k < some; ++k) look_at(own[above_[k]], own[above_[k]], q, limits_[k]);
      }
    }
    hits_.settle();
  }

 private:
  // Those of a block that are of the run.
  struct Rows {
    int64_t block, first, end;
  };

  // Rows of the chunks from `first` on to `last`.
  void block(const Rows& rows, int64_t first, int64_t last, const bool* allowed) {
    for (size_t q = 0; q < static_cast<size_t>(queries_.count); ++q) {
      const size_t some = above(rows, q, hits_.limit(q, first, last), scan_.offsets_.empty() ? allowed : nullptr);
      int64_t chunk = first;
      for (size_t k = 0; k < some; ++k) {
        const int64_t row = rows.block + above_[k];
        while (scan_.begin_of(chunk + 1) <= row) ++chunk;
        if (allowed == nullptr || allowed[chunk]) look_at(row, chunk, q, limits_[k]);
      }
    }
  }

  int64_t row_at(int64_t place) const { return chosen_.empty() ? place : chosen_[static_cast<size_t>(place)]; }

  // How many rows of a block could be above the limit of a query: above_ holds them, limits_ what each must score more
  // than, and they are asked for. allowed: of rows, as in top(); nullptr where chunks have several.
  size_t above(const Rows& rows, size_t q, float limit, const bool* allowed) {
    const WholeQueries& bounds = queries_.bounds;
    const auto at = static_cast<size_t>(rows.block);
    const auto head = static_cast<size_t>(heads_.head), stride = static_cast<size_t>(scan_.stride_);
    const size_t some =
        run_.heads_above(heads_.numbers.data() + at * head, heads_.scales.data() + at, heads_.rests.data() + at,
                         kHeadBlock, head, bounds.numbers.data() + q * stride, bounds.units[q], bounds.margins[q],
                         tails_[q], limit, above_.data(), could_.data());
    const bool by_row = hits_.has_beside() && scan_.offsets_.empty();
    size_t left = 0;
    for (size_t k = 0; k < some; ++k) {
      const int64_t place = rows.block + above_[k];
      if (place < rows.first || place >= rows.end) continue;
      if (allowed != nullptr && !allowed[row_at(place)]) continue;
      const float own = by_row ? hits_.limit_of(q, row_at(place)) : limit;
      if (could_[k] <= own) continue;
      above_[left] = above_[k], limits_[left++] = own;
    }
    ask_for(rows, left);
    return left;
  }

  // From memory, all that is needed of the rows that are left.
  void ask_for(const Rows& rows, size_t some) const {
    for (size_t k = 0; k < some; ++k) {
      const int64_t row = row_at(rows.block + above_[k]);
      const uint8_t* from = scan_.at(scan_.part_of(row), row);
      for (int64_t c = 0; c <= scan_.stride_; c += 64) __builtin_prefetch(from + c);
    }
  }

  void look_at(int64_t row, int64_t chunk, size_t q, float limit) {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    const auto* from = reinterpret_cast<const int8_t*>(scan_.at(scan_.part_of(row), row));
    uint32_t place = 0;
    if (run_.bytes_above(from, 1, stride, bounds.numbers.data() + q * stride, bounds.units[q], bounds.margins[q], limit,
                         &place) == 0)
      return;
    float score = 0.0f;
    run_.dot_bytes(from, 1, stride, queries_.single.data() + q * stride, &score);
    hits_.add(q, {score, chunk, row});
  }

  const Scan& scan_;
  const std::span<const int64_t> chosen_;
  const RowHeads& heads_;
  const ScanQueries& queries_;
  const Kernels& run_;
  RunHits hits_;
  std::vector<uint32_t> above_;
  std::vector<float> could_, limits_, tails_;
};

Scan::Scan(Scan&&) noexcept = default;
Scan::~Scan() = default;

Scan::Scan(std::vector<StoredRows> parts, StoredAs kind, int64_t dim, std::span<const int64_t> offsets)
    : parts_(std::move(parts)),
      kind_(kind),
      dim_(dim),
      stride_((dim + kScanLanes - 1) / kScanLanes * kScanLanes),
      offsets_(offsets),
      heads_(std::make_unique<HeadsWhenAsked>()),
      grouped_(std::make_unique<std::once_flag>()) {
  PYCHUNK_CHECK(dim >= 1, "dim must be at least 1, got ", dim);
  first_.push_back(0);
  for (const StoredRows& part : parts_) first_.push_back(first_.back() + part.rows);
  if (offsets.empty()) return;
  check_offsets(offsets, rows(), "offsets");
  for (size_t i = 1; i < offsets.size(); ++i)
    PYCHUNK_CHECK(offsets[i] - offsets[i - 1] <= std::numeric_limits<int32_t>::max(), "chunk ", i - 1, " has ",
                  offsets[i] - offsets[i - 1], " rows, more than 2^31 - 1");
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] == offsets[i - 1]) without_.push_back(static_cast<int64_t>(i) - 1);
}

size_t Scan::part_of(int64_t row) const {
  return static_cast<size_t>(std::upper_bound(first_.begin(), first_.end(), row) - first_.begin()) - 1;
}

const uint8_t* Scan::at(size_t part, int64_t row) const {
  const auto dim = static_cast<size_t>(dim_);
  const size_t bytes = kind_ == StoredAs::kHalves   ? dim * sizeof(uint16_t)
                       : kind_ == StoredAs::kFloats ? dim * sizeof(float)
                                                    : dim + sizeof(float);
  return static_cast<const uint8_t*>(parts_[part].data) + static_cast<size_t>(row - first_[part]) * bytes;
}

void Scan::read(size_t part, int64_t row, int64_t n, float* out, float* scales) const {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(dim_);
  if (dim_ == stride_ && kind_ == StoredAs::kHalves)
    return run.widen_halves(reinterpret_cast<const uint16_t*>(at(part, row)), static_cast<size_t>(n) * dim, out);
  for (int64_t i = 0; i < n; ++i) {  // what follows each row to the stride is zero, and stays
    const uint8_t* from = at(part, row + i);
    if (kind_ == StoredAs::kHalves) {
      run.widen_halves(reinterpret_cast<const uint16_t*>(from), dim, out);
    } else if (kind_ == StoredAs::kFloats) {
      std::memcpy(out, from, dim * sizeof(float));
    } else {
      run.widen_bytes(reinterpret_cast<const int8_t*>(from), dim, out);
      std::memcpy(scales + i, from + dim, sizeof(float));
    }
    out += stride_;
  }
}

void Scan::products(size_t part, int64_t row, int64_t n, const float* query, float* room, float* out) const {
  const Kernels& run = kernels();
  const auto stride = static_cast<size_t>(stride_), rows = static_cast<size_t>(n);
  const uint8_t* from = at(part, row);
  if (dim_ != stride_) {
    for (int64_t i = 0; i < n; ++i) {
      float scale = 1.0f;
      read(part, row + i, 1, room, &scale);
      run.dot_floats(room, 1, stride, query, out + i);
      out[i] *= scale;
    }
  } else if (kind_ == StoredAs::kHalves) {
    run.dot_halves(reinterpret_cast<const uint16_t*>(from), rows, stride, query, out);
  } else if (kind_ == StoredAs::kFloats) {
    run.dot_floats(reinterpret_cast<const float*>(from), rows, stride, query, out);
  } else {
    run.dot_bytes(reinterpret_cast<const int8_t*>(from), rows, stride, query, out);
  }
}

std::vector<float> Scan::padded(const float* query) const {
  std::vector<float> out(static_cast<size_t>(stride_), 0.0f);
  std::copy_n(query, dim_, out.begin());
  return out;
}

float Scan::least(const float* query, int64_t q, int64_t count, const bool* allowed, const ScoredBeside& beside) const {
  const int64_t first = std::max(count * kFirst, kLeastFirst);
  std::vector<int64_t> chosen;
  const auto best = best_rows(beside.scores.slice(q, q + 1), first, allowed, 1);
  for (const ScoredRow& each : best[0]) chosen.push_back(each.row);
  if (static_cast<int64_t>(chosen.size()) < count) return kNothing;
  std::vector<float> scores(chosen.size());
  std::vector<int64_t> rows(chosen.size());
  score_chunks(query, chosen, scores.data(), rows.data());
  for (size_t i = 0; i < chosen.size(); ++i) scores[i] = with_beside(&beside, q, chosen[i], scores[i]);
  std::nth_element(scores.begin(), scores.begin() + count - 1, scores.end(), std::greater<>());
  return scores[static_cast<size_t>(count) - 1];
}

void Scan::set_groups(std::span<const int8_t> groups) {
  PYCHUNK_CHECK(offsets_.empty(), "groups are of rows that are their own chunks");
  PYCHUNK_CHECK(static_cast<int64_t>(groups.size()) == rows(), "groups must hold ", rows(), " values, got ",
                groups.size());
  std::call_once(*grouped_, [&] {
    for (size_t row = 0; row < groups.size(); ++row) {
      if (groups[row] < 0) continue;
      const auto group = static_cast<size_t>(groups[row]);
      if (group >= groups_.size()) groups_.resize(group + 1);
      groups_[group].rows.push_back(static_cast<int64_t>(row));
    }
    for (Group& group : groups_) group.heads = std::make_unique<HeadsWhenAsked>();
  });
}

std::vector<std::vector<ScanHit>> Scan::top(const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                            int threads, const ScoredBeside* beside,
                                            std::span<const int64_t> groups) const {
  const auto asked = static_cast<size_t>(queries.rows);
  std::vector<std::vector<ScanHit>> out(asked);
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, chunks()));
  if (asked == 0 || wanted == 0) return out;
  const bool whole = kind_ == StoredAs::kBytes && dim_ == stride_ && dim_ <= kMostWhole;
  const ScanQueries prepared(queries, stride_, whole);
  SharedLimits shared(asked);
  for (auto& limit : shared) limit.store(kNothing, std::memory_order_relaxed);
  if (beside != nullptr)
    parallel_for(queries.rows, threads, [&](int64_t q) {
      const float limit = least(queries.row(q), q, static_cast<int64_t>(wanted), allowed, *beside);
      shared[static_cast<size_t>(q)].store(limit, std::memory_order_relaxed);
    });
  // Heads, the rows that they are of, if not all, and how these are shared out.
  struct Walk {
    const RowHeads* heads;
    std::span<const int64_t> rows;
    int64_t first, runs;
  };
  std::vector<Walk> walks;
  int64_t grouped = 0, runs = 0;
  for (const int64_t group : groups) grouped += static_cast<int64_t>(groups_[static_cast<size_t>(group)].rows.size());
  const int64_t among = groups.empty() ? chunks() : grouped;
  const int64_t there = allowed == nullptr ? among : std::count(allowed, allowed + chunks(), true);
  const bool few = there * kMostOfAll < among;
  const bool by_heads = whole && !few && queries.rows < kWorthBounds;
  const auto runs_of = [&](int64_t count_of_rows) {
    return std::clamp<int64_t>(count_of_rows / kLeastRun, 1, threads <= 1 ? 1 : threads * kRunsAThread);
  };
  for (size_t i = 0; i < groups.size() && by_heads; ++i) {
    const Group& group = groups_[static_cast<size_t>(groups[i])];
    const auto size = static_cast<int64_t>(group.rows.size());
    if (size == 0) continue;
    const RowHeads* heads = group.heads->get(parts_, dim_, group.rows, threads);
    walks.push_back({heads, group.rows, runs, runs_of(size)});
    runs += walks.back().runs;
  }
  if (walks.empty() || std::any_of(walks.begin(), walks.end(), [](const Walk& each) { return !each.heads; })) {
    walks.clear();
    const bool all = by_heads && groups.empty();
    runs = runs_of(rows());
    walks.push_back({all ? heads_->get(parts_, dim_, {}, threads) : nullptr, {}, 0, runs});
  }
  const auto border = [&](int64_t run) {  // the chunks [border(run), border(run + 1)) have about as many rows as others
    const int64_t row = rows() / runs * run;
    if (run == runs || offsets_.empty()) return run == runs ? chunks() : row;
    const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), row) - offsets_.begin();
    return std::min<int64_t>(at, chunks());
  };
  std::vector<BestHits> best(asked);  // of the runs that are done
  std::mutex joining;
  parallel_for(runs, threads, [&](int64_t run) {
    const Walk& walk = *(std::upper_bound(walks.begin(), walks.end(), run,
                                          [](int64_t number, const Walk& each) { return number < each.first; }) -
                         1);
    std::vector<BestHits> found(asked);
    if (walk.heads == nullptr) {
      ScanPass(*this, prepared, wanted, shared, beside, found)
          .run(run == 0 ? 0 : border(run), border(run + 1), allowed);
    } else {
      HeadPass pass(*this, *walk.heads, walk.rows, prepared, wanted, shared, beside, found);
      if (walk.rows.empty()) {
        pass.run(run == 0 ? 0 : border(run), border(run + 1), allowed);
      } else {
        const auto size = static_cast<int64_t>(walk.rows.size());
        const auto edge = [&](int64_t of) {
          return of == walk.runs ? size : size / walk.runs * of / kHeadBlock * kHeadBlock;
        };
        pass.run_chosen(edge(run - walk.first), edge(run - walk.first + 1), there == among ? nullptr : allowed);
      }
    }
    const std::scoped_lock lock(joining);
    for (size_t q = 0; q < asked; ++q) {
      best[q].hits.insert(best[q].hits.end(), found[q].hits.begin(), found[q].hits.end());
      best[q].cut(wanted);
      raise(shared[q], best[q].limit);
    }
  });
  for (size_t q = 0; q < asked && beside != nullptr; ++q) {
    for (const int64_t chunk : without_)
      if ((allowed == nullptr || allowed[chunk]) && beside->scores.row(static_cast<int64_t>(q))[chunk] > 0.0f)
        best[q].hits.push_back({with_beside(beside, static_cast<int64_t>(q), chunk, 0.0f), chunk, -1});
    best[q].cut(wanted);
  }
  for (size_t q = 0; q < asked; ++q) {
    std::sort(best[q].hits.begin(), best[q].hits.end(), ranks_before);
    out[q] = std::move(best[q].hits);
  }
  return out;
}

void Scan::score_chunks(const float* query, std::span<const int64_t> chunks, float* scores, int64_t* rows) const {
  const std::vector<float> wanted = padded(query);
  const int64_t room = std::max<int64_t>(1, kScanBlock / stride_);
  std::vector<float> block(static_cast<size_t>(stride_), 0.0f), found(static_cast<size_t>(room));
  for (size_t i = 0; i < chunks.size(); ++i) {
    checkpoint_each(static_cast<int64_t>(i), 1024);
    const int64_t first = begin_of(chunks[i]), last = begin_of(chunks[i] + 1);
    scores[i] = first == last ? 0.0f : kNothing;
    rows[i] = first == last ? -1 : first;
    for (int64_t row = first; row < last;) {
      const size_t part = part_of(row);
      const int64_t n = std::min({room, last - row, first_[part + 1] - row});
      products(part, row, n, wanted.data(), block.data(), found.data());
      for (int64_t k = 0; k < n; ++k)
        if (found[static_cast<size_t>(k)] > scores[i]) scores[i] = found[static_cast<size_t>(k)], rows[i] = row + k;
      row += n;
    }
  }
}

void Scan::score_rows(const float* query, std::span<const int64_t> rows, float* scores) const {
  const std::vector<float> wanted = padded(query);
  std::vector<float> row(static_cast<size_t>(stride_), 0.0f);
  for (size_t i = 0; i < rows.size(); ++i) {
    checkpoint_each(static_cast<int64_t>(i), 1024);
    products(part_of(rows[i]), rows[i], 1, wanted.data(), row.data(), scores + i);
  }
}

}  // namespace pychunk
