#include "search/scan_pass.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "common/dispatch.h"
#include "common/interrupt.h"

namespace pychunk {
namespace {

// The cost of a row that must be read again, relative to the cost of one number of a row in a panel. One block in
// kBlocksATrial tries all lengths of heads, and so decides the length for the blocks after it.
constexpr int64_t kRowAgain = 1000, kBlocksATrial = 64;

}  // namespace

// One thread's walk over a run of chunks. Rows are gathered into blocks, blocks are scored, and the best row of each
// chunk is kept.
class ScanPass {
 public:
  ScanPass(const ScanCall& call, std::vector<BestHits>& found)
      : scan_(call.scan),
        queries_(call.queries),
        count_(call.count),
        beside_(call.beside),
        found_(found),
        run_(kernels()),
        hits_(static_cast<size_t>(call.queries.count), call.count, call.shared, call.beside, found) {
    const ScanQueries& queries = call.queries;
    const int64_t stride = scan_.stride_;
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
    best_.assign(states, kBelowAll);
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
  // The rows of one chunk in the block.
  struct Piece {
    int64_t chunk, first_row, at, n;
    int32_t before;  // the number of the chunk's rows in earlier blocks
    bool ends;
  };

  // Rows of the block that follow each other in memory.
  struct Extent {
    size_t part;
    int64_t row, n;
  };

  // Score the block's rows of bytes. Integers tell which rows could exceed the limit, and only those are scored.
  void flush_whole() {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    const auto count = static_cast<size_t>(queries_.count);
    if (pieces_.empty()) return;
    for (size_t q = 0; q < count; ++q)
      limits_[q] = hits_.limit_of(q, pieces_.front().chunk, pieces_.back().chunk, hits_.limit_of_sums(q));
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

  // Choose the length of heads with which the rows of the block cost least.
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

  // Find rows of the block that could exceed the limit of one of sixteen queries from q on. Rows after the last one
  // belong to an earlier block.
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

  // Score a row of the block for a query. `piece` must not be after the row's piece, and is moved to it.
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
      // The rows of the block after the last one belong to an earlier block, and their scores are not read.
      run_.dot_panel(block_.data(), (n + 7) / 8 * 8, stride,
                     queries_.panel.data() + static_cast<size_t>(first) * stride, scores_.data());
      if (scaled)
        for (size_t i = 0; i < n; ++i)
          for (size_t q = 0; q < kScanPanel; ++q) scores_[i * kScanPanel + q] *= scales_[i];
      float* best = best_.data() + first;
      int32_t* where = where_.data() + first;
      for (const Piece& piece : pieces_) {
        if (piece.before == 0) std::fill_n(best, kScanPanel, kBelowAll);
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
        if (piece.before == 0) best = kBelowAll;
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
  size_t length_ = kHeadLengths;  // the index in bounds.heads of the length that bounds use; see kHeadShares
  std::vector<float> block_, scales_, rests_, scores_, best_;
  std::vector<int32_t> where_;
  std::vector<int16_t> shorts_;
  std::vector<float> limits_;
  std::vector<uint32_t> above_, still_;
  std::vector<Piece> pieces_;
  std::vector<Extent> extents_;
};

void scan_run(const ScanCall& call, int64_t begin, int64_t end, const bool* allowed, std::vector<BestHits>& found) {
  ScanPass(call, found).run(begin, end, allowed);
}

}  // namespace pychunk
