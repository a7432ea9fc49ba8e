#include "search/scan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

#include "common/check.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "search/added_scores.h"
#include "search/prefilter_scan.h"
#include "search/scan_hits.h"
#include "search/scan_pass.h"
#include "search/scan_queries.h"

namespace pychunk {
namespace {

constexpr int64_t kScanLanes = 32;  // the kernels take rows whose length is a multiple of this
// The longest rows of bytes that are scored with bounds. For longer ones, integers of 31 bits would make bounds too
// coarse.
constexpr int64_t kMostWhole = 8192;
// The number of runs of rows for each thread, and their least size. Many runs let other threads continue if one is held
// up, and a run begins with the limits from all rows that are done. Hybrid search of 64 queries over 970,000 rows on
// two threads takes 9 ms of processor time for each query with 4 runs, and 7 ms with 16.
constexpr int64_t kRunsAThread = 16, kLeastRun = 8192;
// If fewer than one in this many chunks are allowed, a search reads only the allowed chunks.
constexpr int64_t kMostOfAll = 8;
constexpr int64_t kMaskBlock = 128;  // the number of mask values that are counted in a byte

// Return how many values of a mask are true, counting sixteen at a time. A million values take 16 us, and 416 us if
// they are counted one by one.
int64_t count_true(const bool* mask, int64_t n) {
  int64_t total = 0, at = 0;
  for (; at + kMaskBlock <= n; at += kMaskBlock) {
    uint8_t some = 0;
    for (int64_t i = 0; i < kMaskBlock; ++i) some = static_cast<uint8_t>(some + mask[at + i]);
    total += some;
  }
  for (; at < n; ++at) total += mask[at];
  return total;
}

}  // namespace

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

void Scan::read(size_t part, int64_t row, int64_t n, float* out, float* scales) const {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(dim_);
  if (dim_ == stride_ && kind_ == StoredAs::kHalves)
    return run.widen_halves(reinterpret_cast<const uint16_t*>(at(part, row)), static_cast<size_t>(n) * dim, out);
  for (int64_t i = 0; i < n; ++i) {  // the numbers after a row, up to the stride, are zero and stay zero
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

void Scan::set_groups(std::span<const int8_t> groups) {
  PYCHUNK_CHECK(offsets_.empty(), "groups require that each row is a chunk of its own, got ", offsets_.size(),
                " offsets; leave out offsets");
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
                                            int threads, const ScoredBeside* beside, std::span<const int64_t> groups,
                                            std::span<const float> least) const {
  const auto asked = static_cast<size_t>(queries.rows);
  std::vector<std::vector<ScanHit>> out(asked);
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, chunks()));
  if (asked == 0 || wanted == 0) return out;
  const bool whole = kind_ == StoredAs::kBytes && dim_ == stride_ && dim_ <= kMostWhole;
  const ScanQueries prepared(queries, stride_, whole);
  SharedLimits shared(asked);
  for (size_t q = 0; q < asked; ++q) shared[q].store(least.empty() ? kBelowAll : least[q], std::memory_order_relaxed);
  if (beside != nullptr)
    parallel_for(queries.rows, threads, [&](int64_t q) {
      const float limit = least_with_beside(*this, queries.row(q), q, static_cast<int64_t>(wanted), allowed, *beside);
      raise_limit(shared[static_cast<size_t>(q)], limit);
    });
  // A walk over rows: by their heads if not null, over these rows (empty: all rows), in `runs` runs from run `first`
  // on.
  struct Walk {
    const RowHeads* heads;
    std::span<const int64_t> rows;
    int64_t first, runs;
  };
  std::vector<Walk> walks;
  int64_t grouped = 0, runs = 0;
  for (const int64_t group : groups) grouped += static_cast<int64_t>(groups_[static_cast<size_t>(group)].rows.size());
  const int64_t among = groups.empty() ? chunks() : grouped;
  const int64_t there = allowed == nullptr ? among : count_true(allowed, chunks());
  const bool few = there * kMostOfAll < among;
  const bool by_heads = whole && !few;
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
  // Return the first chunk of a run, such that all runs have about the same number of rows.
  const auto border = [&](int64_t run) {
    const int64_t row = rows() / runs * run;
    if (run == runs || offsets_.empty()) return run == runs ? chunks() : row;
    const auto at = std::lower_bound(offsets_.begin(), offsets_.end(), row) - offsets_.begin();
    return std::min<int64_t>(at, chunks());
  };
  const ScanCall call{*this, prepared, wanted, beside, shared};
  std::vector<BestHits> best(asked);  // of the runs that are done
  std::mutex joining;
  parallel_for(runs, threads, [&](int64_t run) {
    const Walk& walk = *(std::upper_bound(walks.begin(), walks.end(), run,
                                          [](int64_t number, const Walk& each) { return number < each.first; }) -
                         1);
    std::vector<BestHits> found(asked);
    if (walk.heads == nullptr) {
      scan_run(call, run == 0 ? 0 : border(run), border(run + 1), allowed, found);
    } else if (walk.rows.empty()) {
      scan_run_by_heads(call, *walk.heads, run == 0 ? 0 : border(run), border(run + 1), allowed, found);
    } else {
      const auto size = static_cast<int64_t>(walk.rows.size());
      const auto edge = [&](int64_t of) {
        return of == walk.runs ? size : size / walk.runs * of / kHeadBlock * kHeadBlock;
      };
      scan_chosen_by_heads(call, *walk.heads, walk.rows, edge(run - walk.first), edge(run - walk.first + 1),
                           there == among ? nullptr : allowed, found);
    }
    const std::scoped_lock lock(joining);
    for (size_t q = 0; q < asked; ++q) {
      best[q].hits.insert(best[q].hits.end(), found[q].hits.begin(), found[q].hits.end());
      best[q].cut(wanted);
      raise_limit(shared[q], best[q].limit);
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
    scores[i] = first == last ? 0.0f : kBelowAll;
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
