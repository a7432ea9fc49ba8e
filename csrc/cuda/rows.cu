// Sentence vectors from hidden states or token ids, and the cosines of neighbours: a warp a row, a grid that strides.
#include "kernels.h"
#include "launch.h"
#include "row.cuh"

namespace pychunk::cuda {
namespace {

__device__ int64_t warp_of_grid() { return static_cast<int64_t>(blockIdx.x) * kWarps + warp_of_block(); }
__device__ int64_t warps_of_grid() { return static_cast<int64_t>(gridDim.x) * kWarps; }

template <typename Source>
__global__ void __launch_bounds__(kThreads, 6)
    make_rows_kernel(Source source, int64_t rows, int dim, const int64_t* chosen, float* out) {
  for (int64_t row = warp_of_grid(); row < rows; row += warps_of_grid())
    source.make(row, out + (chosen != nullptr ? chosen[row] : row) * dim, dim);
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 6)
    pool_batch_kernel(States<T> source, const T* states, int64_t rows, int64_t width, int dim, const int64_t* chosen,
                      float* out) {
  for (int64_t row = warp_of_grid(); row < rows; row += warps_of_grid())
    source.pool(states + row * width * dim, source.mean ? source.tokens[row] : 1,
                out + (chosen != nullptr ? chosen[row] : row) * dim, dim);
}

// A warp takes so many rows in turn, so that all but the first are in its cache from the turn before.
constexpr int kRowsInTurn = 8;

__global__ void adjacent_kernel(const float* vectors, int64_t pairs, int dim, float* out) {
  for (int64_t first = warp_of_grid() * kRowsInTurn; first < pairs; first += warps_of_grid() * kRowsInTurn) {
    for (int64_t row = first; row < first + kRowsInTurn && row < pairs; ++row) {
      const float cosine = dot(vectors + row * dim, vectors + (row + 1) * dim, dim);
      if (lane() == 0) out[row] = cosine;
    }
  }
}

// Enough blocks to fill the device a few times over, so that its last wave is a small share.
template <typename Kernel>
Shape shape_for(Kernel kernel, int64_t warps) {
  const int64_t blocks = (warps + kWarps - 1) / kWarps,
                most = 8 * static_cast<int64_t>(resident_blocks(kernel, kThreads));
  return {static_cast<int>(blocks < most ? blocks : most), kThreads};
}

template <typename Source>
void run(const Source& source, int64_t rows, int dim, const int64_t* chosen, float* out, cudaStream_t stream) {
  PYCHUNK_LAUNCH(make_rows_kernel<Source>, shape_for(make_rows_kernel<Source>, rows), stream, source, rows, dim, chosen,
                 out);
}

template <typename T>
void pool_as(const void* states, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean, bool unit,
             const int64_t* chosen, float* out, cudaStream_t stream) {
  PYCHUNK_LAUNCH(pool_batch_kernel<T>, shape_for(pool_batch_kernel<T>, rows), stream,
                 States<T>{nullptr, tokens, mean, unit}, static_cast<const T*>(states), rows, width, dim, chosen, out);
}

}  // namespace

void make_rows(const RowSource& source, int64_t rows, int dim, const int64_t* chosen, float* out, cudaStream_t stream) {
  if (rows == 0) return;
  const auto states = [&]<typename T>(T) {
    run(States<T>{source.first_state, source.tokens, source.mean, source.unit}, rows, dim, chosen, out, stream);
  };
  if (source.kind == RowSource::Kind::kHalfStates) states(Half{});
  if (source.kind == RowSource::Kind::kFloatStates) states(0.0f);
  if (source.kind == RowSource::Kind::kBag)
    run(Bag{source.table, source.ids, source.id_offsets}, rows, dim, chosen, out, stream);
}

void pool_batch(const void* states, bool half, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean,
                bool unit, const int64_t* chosen, float* out, cudaStream_t stream) {
  if (rows == 0) return;
  const auto pool = half ? pool_as<Half> : pool_as<float>;
  pool(states, rows, width, dim, tokens, mean, unit, chosen, out, stream);
}

void adjacent(const float* vectors, int64_t rows, int dim, float* out, cudaStream_t stream) {
  if (rows < 2) return;
  const int64_t turns = (rows - 1 + kRowsInTurn - 1) / kRowsInTurn;
  PYCHUNK_LAUNCH(adjacent_kernel, shape_for(adjacent_kernel, turns), stream, vectors, rows - 1, dim, out);
}

}  // namespace pychunk::cuda
