#include "search/prefilter_scan.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "search/scan_queries.h"

namespace pychunk {

const RowHeads* HeadsWhenAsked::get(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                    int threads) {
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

namespace {

constexpr size_t kTogether = 4;  // the number of queries that are compared with heads at a time

}  // namespace

// One thread's walk by heads. chosen: the rows that the heads belong to, each a chunk; empty: all rows of the scan.
class HeadPass {
 public:
  HeadPass(const ScanCall& call, const RowHeads& heads, std::span<const int64_t> chosen, std::vector<BestHits>& found)
      : scan_(call.scan),
        chosen_(chosen),
        heads_(heads),
        queries_(call.queries),
        count_(static_cast<size_t>(call.queries.count)),
        block_(count_ > 1 ? kHeadBlockOfMany : kHeadBlock),
        run_(kernels()),
        hits_(count_, call.count, call.shared, call.beside, found),
        asked_(count_ > 1 ? (count_ + kTogether - 1) / kTogether * kTogether : 1),
        limits_of_sums_(count_),
        chunks_(static_cast<size_t>(block_)),
        room_(static_cast<size_t>(RowHeads::kGroup * heads.head)),
        above_(asked_ * static_cast<size_t>(block_)),
        could_(above_.size()),
        counts_(asked_) {
    for (size_t q = 0; q < count_; ++q)
      bounds_.emplace_back(heads, queries_.single.data() + static_cast<int64_t>(q) * scan_.stride_, scan_.stride_);
    for (size_t q = 0; q < asked_; ++q) asks_.push_back(bounds_[std::min(q, count_ - 1)].query);
    limits_.assign(asked_, std::numeric_limits<int32_t>::max());
  }

  void run(int64_t begin, int64_t end, const bool* allowed) {
    const int64_t first_row = scan_.begin_of(begin), last_row = scan_.begin_of(end);
    int64_t chunk = begin;
    for (int64_t at = first_row / block_ * block_; at < last_row; at += block_) {
      checkpoint_each(at / block_, 64);
      const Rows rows{at, std::max(at, first_row), std::min(at + block_, last_row)};
      while (scan_.begin_of(chunk + 1) <= rows.first) ++chunk;
      int64_t last = chunk;
      while (scan_.begin_of(last + 1) < rows.end) ++last;
      if (allowed == nullptr || std::any_of(allowed + chunk, allowed + last + 1, [](bool each) { return each; })) {
        for (size_t q = 0; q < count_; ++q) set_limit(q, hits_.limit_of(q, chunk, last, limit_of_sums(q)));
        look_at(rows, chunk, allowed);
      }
      chunk = last;
    }
    look_at(left_);
    hits_.settle();
  }

  // Search the chosen rows [begin, end). `begin` must be a multiple of kHeadBlock.
  void run_chosen(int64_t begin, int64_t end, const bool* allowed) {
    for (int64_t at = begin; at < end; at += block_) {
      checkpoint_each(at / block_, 64);
      const Rows rows{at, at, std::min(at + block_, end)};
      const auto own = chosen_.subspan(static_cast<size_t>(at), static_cast<size_t>(rows.end - at));
      if (allowed != nullptr && std::none_of(own.begin(), own.end(), [&](int64_t row) { return allowed[row]; }))
        continue;
      for (size_t q = 0; q < count_; ++q) set_limit(q, hits_.limit_of(q, own, limit_of_sums(q)));
      look_at(rows, 0, allowed);
    }
    look_at(left_);
    hits_.settle();
  }

 private:
  // The rows of a block that belong to the run.
  struct Rows {
    int64_t block, first, end;
  };
  // A row that must be scored for a query, and the limit that it must exceed.
  struct Left {
    int64_t row, chunk;
    size_t q;
    float limit;
  };

  float limit_of_sums(size_t q) { return limits_of_sums_[q] = hits_.limit_of_sums(q); }
  void set_limit(size_t q, float limit) { limits_[q] = whole_limit(asks_[q], limit); }

  // Find the remaining rows of this block, then score those of the previous block, which have come from memory by then.
  // `chunk` must not be after the first row's chunk.
  void look_at(const Rows& rows, int64_t chunk, const bool* allowed) {
    std::swap(left_, before_);
    find_left(rows, chunk, allowed);
    look_at(before_);
  }

  // Find the rows of a block that could exceed both the limit of a query and the limit of their own chunk, and prefetch
  // them.
  void find_left(const Rows& rows, int64_t chunk, const bool* allowed) {
    left_.clear();
    const auto at = static_cast<size_t>(rows.block), head = static_cast<size_t>(heads_.head);
    const auto block = static_cast<size_t>(block_);
    if (count_ > kTogether) find_chunks(rows, chunk);
    run_.heads_above(heads_.codes.data + at * head / 2, heads_.lengths.data + at, block, head, asks_.data(), asked_,
                     limits_.data(), room_.data(), above_.data(), could_.data(), counts_.data());
    for (size_t q = 0; q < count_; ++q)
      keep_left(rows, q, std::span(above_).subspan(q * block, counts_[q]), could_.data() + q * block, chunk, allowed);
  }

  // Find the chunk of each row once, because many queries need it.
  void find_chunks(const Rows& rows, int64_t chunk) {
    if (scan_.offsets_.empty()) return;
    for (int64_t row = rows.first; row < rows.end; ++row) {
      while (scan_.begin_of(chunk + 1) <= row) ++chunk;
      chunks_[static_cast<size_t>(row - rows.block)] = chunk;
    }
  }

  void keep_left(const Rows& rows, size_t q, std::span<const uint32_t> above, const float* could, int64_t chunk,
                 const bool* allowed) {
    for (size_t k = 0; k < above.size(); ++k) {
      const int64_t place = rows.block + above[k];
      if (place < rows.first || place >= rows.end) continue;
      const int64_t row = chosen_.empty() ? place : chosen_[static_cast<size_t>(place)];
      if (scan_.offsets_.empty())
        chunk = row;
      else if (count_ > kTogether)
        chunk = chunks_[above[k]];
      while (scan_.begin_of(chunk + 1) <= row) ++chunk;
      if (allowed != nullptr && !allowed[chunk]) continue;
      const float own = hits_.limit_of(q, chunk, limits_of_sums_[q]);
      if (could[k] <= own) continue;
      left_.push_back({row, chunk, q, own});
      // Prefetch all bytes of the row that are needed.
      const uint8_t* from = scan_.at(scan_.part_of(row), row);
      for (int64_t c = 0; c <= scan_.stride_; c += 64) __builtin_prefetch(from + c);
    }
  }

  void look_at(std::span<const Left> rows) {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    for (const auto& [row, chunk, q, limit] : rows) {
      const auto* from = reinterpret_cast<const int8_t*>(scan_.at(scan_.part_of(row), row));
      uint32_t place = 0;
      if (run_.bytes_above(from, 1, stride, bounds.numbers.data() + q * stride, bounds.units[q], bounds.margins[q],
                           limit, &place) == 0)
        continue;
      float score = 0.0f;
      run_.dot_bytes(from, 1, stride, queries_.single.data() + q * stride, &score);
      hits_.add(q, {score, chunk, row});
    }
  }

  const Scan& scan_;
  const std::span<const int64_t> chosen_;
  const RowHeads& heads_;
  const ScanQueries& queries_;
  const size_t count_;
  const int64_t block_;
  const Kernels& run_;
  RunHits hits_;
  const size_t asked_;  // the number of queries, including added ones whose limit nothing exceeds
  std::vector<float> limits_of_sums_;
  std::vector<int32_t> limits_;  // one for each query, for this block
  std::vector<int64_t> chunks_;
  std::vector<uint8_t> room_;
  std::vector<uint32_t> above_;
  std::vector<float> could_;
  std::vector<size_t> counts_;
  std::vector<Left> left_, before_;  // rows that remained in this block and in the previous one
  std::vector<HeadBound> bounds_;
  std::vector<HeadQuery> asks_;
};

void scan_run_by_heads(const ScanCall& call, const RowHeads& heads, int64_t begin, int64_t end, const bool* allowed,
                       std::vector<BestHits>& found) {
  HeadPass(call, heads, {}, found).run(begin, end, allowed);
}

void scan_chosen_by_heads(const ScanCall& call, const RowHeads& heads, std::span<const int64_t> chosen, int64_t begin,
                          int64_t end, const bool* allowed, std::vector<BestHits>& found) {
  HeadPass(call, heads, chosen, found).run_chosen(begin, end, allowed);
}

}  // namespace pychunk
