#include "head_pass.h"

#include <algorithm>
#include <new>

#include "dispatch.h"
#include "interrupt.h"
#include "scan_queries.h"

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

// chosen: rows that the heads are of, each a chunk; none: all rows of the scan.
class HeadPass {
 public:
  HeadPass(const ScanCall& call, const RowHeads& heads, std::span<const int64_t> chosen, std::vector<BestHits>& found)
      : scan_(call.scan),
        chosen_(chosen),
        heads_(heads),
        queries_(call.queries),
        run_(kernels()),
        hits_(static_cast<size_t>(call.queries.count), call.count, call.shared, call.beside, found),
        above_(kHeadBlock),
        could_(kHeadBlock),
        left_(kHeadBlock) {
    for (int64_t q = 0; q < queries_.count; ++q)
      bounds_.emplace_back(heads, queries_.single.data() + q * scan_.stride_, scan_.stride_);
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
        for (size_t q = 0; q < static_cast<size_t>(queries_.count); ++q)
          look_at(above(rows, q, hits_.limit(q, chunk, last), chunk, allowed), q);
      chunk = last;
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
      for (size_t q = 0; q < static_cast<size_t>(queries_.count); ++q)
        look_at(above(rows, q, hits_.limit(q, own), 0, allowed), q);
    }
    hits_.settle();
  }

 private:
  // Those of a block that are of the run.
  struct Rows {
    int64_t block, first, end;
  };
  // A row that is to be looked at, and what it must score more than.
  struct Left {
    int64_t row, chunk;
    float limit;
  };

  int64_t row_at(int64_t place) const { return chosen_.empty() ? place : chosen_[static_cast<size_t>(place)]; }

  // Rows of a block that could be above the limit of a query, and of their own chunks: those are asked for. `chunk` is
  // not after the first row's; `limit` is of all chunks of the block.
  std::span<const Left> above(const Rows& rows, size_t q, float limit, int64_t chunk, const bool* allowed) {
    const auto at = static_cast<size_t>(rows.block), head = static_cast<size_t>(heads_.head);
    const size_t some =
        run_.heads_above(heads_.codes.data() + at * head / 2, heads_.rests.data() + at, heads_.tails.data() + at,
                         kHeadBlock, head, bounds_[q].query, limit, above_.data(), could_.data());
    size_t left = 0;
    for (size_t k = 0; k < some; ++k) {
      const int64_t place = rows.block + above_[k];
      if (place < rows.first || place >= rows.end) continue;
      const int64_t row = row_at(place);
      if (scan_.offsets_.empty()) chunk = row;
      while (scan_.begin_of(chunk + 1) <= row) ++chunk;
      if (allowed != nullptr && !allowed[chunk]) continue;
      const float own = hits_.has_beside() ? hits_.limit_of(q, chunk) : limit;
      if (could_[k] <= own) continue;
      left_[left++] = {row, chunk, own};
    }
    ask_for(std::span(left_).first(left));
    return std::span(left_).first(left);
  }

  // From memory, all that is needed of the rows that are left.
  void ask_for(std::span<const Left> left) const {
    for (const Left& each : left) {
      const uint8_t* from = scan_.at(scan_.part_of(each.row), each.row);
      for (int64_t c = 0; c <= scan_.stride_; c += 64) __builtin_prefetch(from + c);
    }
  }

  void look_at(std::span<const Left> left, size_t q) {
    const WholeQueries& bounds = queries_.bounds;
    const auto stride = static_cast<size_t>(scan_.stride_);
    for (const auto& [row, chunk, limit] : left) {
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
  const Kernels& run_;
  RunHits hits_;
  std::vector<uint32_t> above_;
  std::vector<float> could_;
  std::vector<Left> left_;
  std::vector<HeadBound> bounds_;
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
