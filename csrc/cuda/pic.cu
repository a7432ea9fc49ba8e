// PIC over a ragged batch, from hidden states, token ids or vectors to cuts, in one cooperative launch.
//
// Every result has the bits of the CPU's result. Vectors are summed in the order of csrc/vectors/similarity.cc,
// thresholds run over integers, and the best of several equal candidates is the first. Blocks take small documents from
// a counter. Then all blocks share each large document: the same code runs with the whole grid as the team.
#include <algorithm>

#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "cuda/row.cuh"

namespace pychunk::cuda {
namespace {

constexpr int kTile = static_cast<int>(kSumRows);  // the rows of a partial sum, and of one step of labelling
static_assert(kTile == kThreads, "a thread has one row of a tile");

constexpr int kPicks = 5;  // the most sentences of an extractive summary

// The values that the threads of a team add up together.
struct Sums {
  unsigned long long best[kPicks];  // the key of the best candidate of each pick
  unsigned long long sum, squares_high, squares_low;
};

// The memory of one team: a partial sum for each tile, the summary, and the cuts in each tile.
struct Workspace {
  float* partial;
  float* summary;
  int32_t* tile_cuts;
  Sums* sums;
};

// Return a key that is larger for a better score, and among equal scores for an earlier sentence. 0 means none.
__device__ unsigned long long candidate(float score, int row) {
  const unsigned bits = __float_as_uint(score + 0.0f);  // -0 counts as 0
  const unsigned ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 | (0xFFFFFFFFu - static_cast<unsigned>(row));
}
__device__ float score_of(unsigned long long key) {
  const auto ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float((ordered & 0x80000000u) != 0 ? ordered ^ 0x80000000u : ~ordered);
}
__device__ int row_of(unsigned long long key) { return static_cast<int>(0xFFFFFFFFu - static_cast<unsigned>(key)); }

// The highest cosine to the chosen sentences: below any cosine if none is chosen yet, and above any for a chosen
// sentence.
constexpr float kNone = -2.0f, kChosen = 2.0f;

template <typename Team>
class Scorer {
 public:
  __device__ Scorer(const PicBatch& batch, const Team& team, const Workspace& work, float* to_mean, float* highest,
                    int64_t document)
      : batch_(batch),
        team_(team),
        work_(work),
        document_(document),
        first_(batch.offsets[document]),
        rows_(static_cast<int>(batch.offsets[document + 1] - first_)),
        tiles_((rows_ + kTile - 1) / kTile),
        dim_(batch.dim),
        vectors_(batch.vectors + first_ * dim_),
        to_mean_(to_mean + first_),
        highest_(highest + first_) {}

  template <typename Source>
  __device__ void run(const Source& source) {
    if (first_block() && threadIdx.x == 0) *work_.sums = Sums{};
    for (int i = team_.block() * kThreads + static_cast<int>(threadIdx.x); i < rows_; i += team_.blocks() * kThreads)
      batch_.close[first_ + i] = 0;
    for (int i = warp(); i < rows_; i += warps()) {
      source.make(first_ + i, vectors_ + static_cast<int64_t>(i) * dim_, dim_);
    }
    team_.sync();
    const float* summary = make_summary();
    score(summary);
    team_.sync();
    label();
    team_.sync();
    count_cuts();
    team_.sync();
    write_cuts();
    team_.sync();  // the next document uses the same workspace
  }

 private:
  __device__ int warp() const { return team_.block() * kWarps + warp_of_block(); }
  __device__ int warps() const { return team_.blocks() * kWarps; }
  __device__ bool first_block() const { return team_.block() == 0; }
  __device__ const float* vector(int i) const { return vectors_ + static_cast<int64_t>(i) * dim_; }

  __device__ const float* make_summary() {
    switch (batch_.summary) {
      case SummaryKind::kGiven:
        return batch_.given + document_ * dim_;
      case SummaryKind::kLead:
        sum_of_first(min(batch_.lead[document_], rows_));
        return work_.summary;
      case SummaryKind::kMean:
        sum_of_first(rows_);
        return work_.summary;
      case SummaryKind::kExtractive:
        sum_of_first(rows_);
        extract();
        return work_.summary;
    }
    return nullptr;
  }

  // Write the unit-length sum of the first n sentences to `summary`: first the partial sums of each tile, then their
  // sum.
  __device__ void sum_of_first(int n) {
    const int tiles = (n + kTile - 1) / kTile;
    for (int t = team_.block(); t < tiles; t += team_.blocks()) {
      const int end = min(n, (t + 1) * kTile);
      for (int j = threadIdx.x; j < dim_; j += 2 * kThreads) {  // two columns: twice the loads in flight
        const int other = min(j + kThreads, dim_ - 1);
        float sum = 0.0f, other_sum = 0.0f;
#pragma unroll 8
        for (int i = t * kTile; i < end; ++i) {
          sum += vector(i)[j];
          other_sum += vector(i)[other];
        }
        float* partial = work_.partial + static_cast<int64_t>(t) * dim_;
        partial[j] = sum;
        if (j + kThreads < dim_) partial[other] = other_sum;
      }
    }
    team_.sync();
    if (first_block()) {
      for (int j = threadIdx.x; j < dim_; j += kThreads) {
        float sum = 0.0f;
        for (int t = 0; t < tiles; ++t) sum += work_.partial[static_cast<int64_t>(t) * dim_ + j];
        work_.summary[j] = sum;
      }
      normalize_summary();
    }
    team_.sync();
  }

  __device__ void normalize_summary() {
    __syncthreads();
    if (warp_of_block() == 0) normalize(work_.summary, dim_, dot(work_.summary, work_.summary, dim_));
  }

  // Replace the mean in `summary` by the unit-length sum of the chosen sentences, as extract() in
  // csrc/vectors/similarity.cc does.
  __device__ void extract() {
    const int picks = static_cast<int>(summary_picks(rows_));
    int chosen = -1;
    for (int pick = 0; pick < picks; ++pick) {
      unsigned long long best = 0;
      const float* to = pick == 0 ? work_.summary : vector(chosen);
      for (int first = warp() * kTogether; first < rows_; first += warps() * kTogether) {
        float cosines[kTogether];
        dots(vector(first), rows_ - first, to, dim_, cosines);
        const int i = first + lane();  // a row is always handled by the same lane
        if (lane() >= kTogether || i >= rows_) continue;
        const float cosine = of_lane(cosines);
        if (pick == 0) {
          to_mean_[i] = cosine;
          highest_[i] = kNone;
        } else {
          mark_if_close(i, pick - 1);
          if (highest_[i] < cosine) highest_[i] = cosine;
          if (i == chosen) highest_[i] = kChosen;
        }
        if (highest_[i] != kChosen) best = max(best, candidate(score_at(i, pick), i));
      }
      best = largest(best);
      if (lane() == 0 && best != 0) atomicMax(&work_.sums->best[pick], best);
      team_.sync();
      chosen = row_of(work_.sums->best[pick]);
      if (first_block() && rows_ > 0)
        for (int j = threadIdx.x; j < dim_; j += kThreads)
          work_.summary[j] = (pick == 0 ? 0.0f : work_.summary[j]) + vector(chosen)[j];
    }
    for (int i = warp() * kTogether + lane(); i < rows_; i += warps() * kTogether)
      if (lane() < kTogether) mark_if_close(i, picks - 1);
    if (first_block()) normalize_summary();
    team_.sync();
  }

  // Return the score by which a pick chooses row i, from the values known at that pick.
  __device__ float score_at(int i, int pick) const {
    return pick == 0 ? to_mean_[i] : pick_score(to_mean_[i], highest_[i]);
  }
  __device__ void mark_if_close(int i, int pick) {
    if (highest_[i] != kChosen && score_of(work_.sums->best[pick]) - score_at(i, pick) <= batch_.margin)
      batch_.close[first_ + i] = 1;
  }

  __device__ void score(const float* summary) {
    Moments moments;
    for (int first = warp() * kTogether; first < rows_; first += warps() * kTogether) {
      float cosines[kTogether] = {}, nexts[kTogether] = {};
      const float* rows = vector(first);
#pragma unroll 2
      for (int j = lane(); j < dim_; j += kWarp) {
        const float to = summary[j];
        float row = rows[j];
#pragma unroll
        for (int r = 0; r < kTogether; ++r) {
          const float next = rows[min(r + 1, rows_ - 1 - first) * dim_ + j];
          cosines[r] += row * to;
          nexts[r] += row * next;
          row = next;
        }
      }
#pragma unroll
      for (int r = 0; r < kTogether; ++r) {
        cosines[r] = tree_sum(cosines[r]);
        nexts[r] = tree_sum(nexts[r]);
      }
      const int i = first + lane();
      if (lane() >= kTogether || i >= rows_) continue;
      batch_.scores[first_ + i] = of_lane(cosines);
      batch_.adjacent[first_ + i] = i + 1 < rows_ ? of_lane(nexts) : 0.0f;
      moments.add(of_lane(cosines));
    }
    moments.sum = integer_sum(moments.sum);
    moments.squares_high = integer_sum(moments.squares_high);
    moments.squares_low = integer_sum(moments.squares_low);
    if (lane() == 0) {
      atomicAdd(&work_.sums->sum, static_cast<unsigned long long>(moments.sum));
      atomicAdd(&work_.sums->squares_high, static_cast<unsigned long long>(moments.squares_high));
      atomicAdd(&work_.sums->squares_low, static_cast<unsigned long long>(moments.squares_low));
    }
  }

  // Return the value whose number is that of the lane.
  __device__ static float of_lane(const float (&values)[kTogether]) {
    float own = values[0];
#pragma unroll
    for (int r = 1; r < kTogether; ++r)
      if (lane() == r) own = values[r];
    return own;
  }

  __device__ void label() {
    Moments moments;
    moments.count = rows_;
    moments.sum = static_cast<int64_t>(work_.sums->sum);
    moments.squares_high = static_cast<int64_t>(work_.sums->squares_high);
    moments.squares_low = static_cast<int64_t>(work_.sums->squares_low);
    const MeanThreshold threshold(moments, batch_.k);
    for (int i = team_.block() * kThreads + static_cast<int>(threadIdx.x); i < rows_; i += team_.blocks() * kThreads)
      batch_.labels[first_ + i] = threshold.reached(batch_.scores[first_ + i]);
  }

  // Return whether row i of the document begins a run.
  __device__ bool begins(int i) const {
    if (i >= rows_) return false;
    return i == 0 || batch_.labels[first_ + i] != batch_.labels[first_ + i - 1];
  }

  __device__ void count_cuts() {
    for (int t = team_.block(); t < tiles_; t += team_.blocks()) {
      const int cuts = __syncthreads_count(begins(t * kTile + static_cast<int>(threadIdx.x)));
      if (threadIdx.x == 0) work_.tile_cuts[t] = cuts;
    }
  }

  // Write the cuts of each tile after those of the tiles before it.
  __device__ void write_cuts() {
    for (int t = team_.block(); t < tiles_; t += team_.blocks()) {
      int before = 0;
      for (int earlier = lane(); earlier < t; earlier += kWarp) before += work_.tile_cuts[earlier];
      before = static_cast<int>(integer_sum(before));
      const int i = t * kTile + static_cast<int>(threadIdx.x);
      for (int w = 0; w < kWarps; ++w) {  // every warp reads the rows before its own: a few bytes in cache
        if (w == warp_of_block()) break;
        before += __popc(__ballot_sync(kAll, begins(t * kTile + w * kWarp + lane())));
      }
      const unsigned own = __ballot_sync(kAll, begins(i));
      if (begins(i)) batch_.cuts[first_ + before + __popc(own & ((1u << lane()) - 1))] = i;
      if (t == tiles_ - 1 && threadIdx.x == 0) batch_.cut_counts[document_] = before + work_.tile_cuts[t];
    }
    if (tiles_ == 0 && first_block() && threadIdx.x == 0) batch_.cut_counts[document_] = 0;
  }

  const PicBatch& batch_;
  const Team& team_;
  const Workspace& work_;
  int64_t document_, first_;
  int rows_, tiles_, dim_;
  float* vectors_;
  float* to_mean_;
  float* highest_;
};

// The memory of the launch: that of each block's team, then that of the grid's team.
struct Memories {
  float* floats;  // [blocks + 1] of partial sums and summary
  int64_t block_floats;
  int32_t* tile_cuts;
  int64_t block_tiles;
  Sums* sums;          // [blocks + 1]
  float* to_mean;      // [rows]
  float* highest;      // [rows]
  unsigned* counters;  // documents taken, arrivals at the barrier

  __device__ Workspace of(int team, int dim) const {
    float* own = floats + team * block_floats;
    return {own + dim, own, tile_cuts + team * block_tiles, sums + team};
  }
};

template <typename Source>
__global__ void __launch_bounds__(kThreads, 4) pic_kernel(PicBatch batch, Source source, Memories memories) {
  PYCHUNK_SHARED(int64_t, taken);
  const Block block;
  const Workspace own = memories.of(static_cast<int>(blockIdx.x), batch.dim);
  while (true) {
    if (threadIdx.x == 0) taken = atomicAdd(&memories.counters[0], 1u);
    __syncthreads();
    const int64_t document = taken;
    __syncthreads();
    if (document >= batch.documents) break;
    if (batch.offsets[document + 1] - batch.offsets[document] > kBlockRows) continue;
    Scorer<Block>(batch, block, own, memories.to_mean, memories.highest, document).run(source);
  }
  if (batch.large_count == 0) return;
  const Grid grid{&memories.counters[1]};
  const Workspace shared = memories.of(static_cast<int>(gridDim.x), batch.dim);
  grid.sync();
  for (int64_t i = 0; i < batch.large_count; ++i)
    Scorer<Grid>(batch, grid, shared, memories.to_mean, memories.highest, batch.large[i]).run(source);
}

template <typename Source>
void run(const PicBatch& batch, const Source& source, int device, cudaStream_t stream) {
  const auto kernel = pic_kernel<Source>;
  const int64_t wanted = batch.large_count > 0 ? INT32_MAX : batch.documents;
  const auto blocks = static_cast<int>(std::min<int64_t>(wanted, resident_blocks(kernel, kThreads)));
  const auto tiles = [](int64_t rows) { return (rows + kTile - 1) / kTile; };
  const int64_t block_tiles = tiles(std::min(batch.longest, kBlockRows)), grid_tiles = tiles(batch.longest);

  Memories memories{};
  memories.block_floats = (block_tiles + 1) * batch.dim;
  memories.block_tiles = block_tiles;
  const int64_t floats = blocks * memories.block_floats + (grid_tiles + 1) * batch.dim;
  const Memory kept_floats(static_cast<size_t>(floats + 2 * batch.rows) * sizeof(float), device, stream);
  const Memory kept_cuts(static_cast<size_t>(blocks * block_tiles + grid_tiles) * sizeof(int32_t), device, stream);
  const Memory kept_sums(static_cast<size_t>(blocks + 1) * sizeof(Sums), device, stream);
  const Memory kept_counters(2 * sizeof(unsigned), device, stream);
  memories.floats = kept_floats.as<float>();
  memories.to_mean = memories.floats + floats;
  memories.highest = memories.to_mean + batch.rows;
  memories.tile_cuts = kept_cuts.as<int32_t>();
  memories.sums = kept_sums.as<Sums>();
  memories.counters = kept_counters.as<unsigned>();
  PYCHUNK_CUDA(cudaMemsetAsync(memories.counters, 0, 2 * sizeof(unsigned), stream));
  PYCHUNK_LAUNCH(kernel, (Shape{blocks, kThreads, true}), stream, batch, source, memories);
}

}  // namespace

void pic(const PicBatch& batch, int device, cudaStream_t stream) {
  if (batch.documents == 0) return;
  const RowSource& source = batch.source;
  switch (source.kind) {
    case RowSource::Kind::kGiven:
      return run(batch, Given{}, device, stream);
    case RowSource::Kind::kHalfStates:
      return run(batch, States<Half>{source.first_state, source.tokens, source.mean, source.unit}, device, stream);
    case RowSource::Kind::kFloatStates:
      return run(batch, States<float>{source.first_state, source.tokens, source.mean, source.unit}, device, stream);
    case RowSource::Kind::kBag:
      return run(batch, Bag{source.table, source.ids, source.id_offsets}, device, stream);
  }
}

}  // namespace pychunk::cuda
