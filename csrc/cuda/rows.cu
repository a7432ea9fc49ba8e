// The kernels that make sentence vectors from hidden states or token ids, and the cosines of neighbours. A warp handles
// a row, and the grid strides over the rows.
#include "cuda/kernels.h"
#include "cuda/launch.h"
#include "cuda/row.cuh"

namespace pychunk::cuda {
namespace {

__device__ int64_t warp_of_grid() { return static_cast<int64_t>(blockIdx.x) * kWarps + warp_of_block(); }
__device__ int64_t warps_of_grid() { return static_cast<int64_t>(gridDim.x) * kWarps; }

__global__ void __launch_bounds__(kThreads, 4) embedding_bags_kernel(Bag source, int64_t rows, int dim, float* out) {
  for (int64_t row = warp_of_grid(); row < rows; row += warps_of_grid()) source.make(row, out + row * dim, dim);
}

template <typename T>
__global__ void __launch_bounds__(kThreads, 6) pool_kernel(States<T> source, const T* states, int64_t rows,
                                                           int64_t width, int dim, const int64_t* chosen, float* out) {
  for (int64_t row = warp_of_grid(); row < rows; row += warps_of_grid())
    source.pool(states + row * width * dim, source.mean ? source.tokens[row] : 1,
                out + (chosen != nullptr ? chosen[row] : row) * dim, dim);
}

// The number of rows that a warp handles in sequence. All of these rows except the first are then in its cache from the
// previous step.
constexpr int kRowsInTurn = 8;

__global__ void adjacent_cosines_kernel(const float* vectors, int64_t pairs, int dim, float* out) {
  for (int64_t first = warp_of_grid() * kRowsInTurn; first < pairs; first += warps_of_grid() * kRowsInTurn) {
    for (int64_t row = first; row < first + kRowsInTurn && row < pairs; ++row) {
      const float cosine = dot(vectors + row * dim, vectors + (row + 1) * dim, dim);
      if (lane() == 0) out[row] = cosine;
    }
  }
}

// Return a shape with enough blocks to fill the device a few times, so that its last wave is a small share.
template <typename Kernel>
Shape shape_for(Kernel kernel, int64_t warps) {
  const int64_t blocks = (warps + kWarps - 1) / kWarps,
                most = 8 * static_cast<int64_t>(resident_blocks(kernel, kThreads));
  return {static_cast<int>(blocks < most ? blocks : most), kThreads};
}

template <typename T>
void pool_as(const void* states, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean, bool unit,
             const int64_t* chosen, float* out, cudaStream_t stream) {
  PYCHUNK_LAUNCH(pool_kernel<T>, shape_for(pool_kernel<T>, rows), stream, States<T>{nullptr, tokens, mean, unit},
                 static_cast<const T*>(states), rows, width, dim, chosen, out);
}

}  // namespace

void embedding_bags(const int8_t* table, const int32_t* ids, const int64_t* id_offsets, int64_t rows, int dim,
                    float* out, cudaStream_t stream) {
  if (rows == 0) return;
  PYCHUNK_LAUNCH(embedding_bags_kernel, shape_for(embedding_bags_kernel, rows), stream, Bag{table, ids, id_offsets},
                 rows, dim, out);
}

void pool(const void* states, bool half, int64_t rows, int64_t width, int dim, const int32_t* tokens, bool mean,
          bool unit, const int64_t* chosen, float* out, cudaStream_t stream) {
  if (rows == 0) return;
  const auto typed = half ? pool_as<Half> : pool_as<float>;
  typed(states, rows, width, dim, tokens, mean, unit, chosen, out, stream);
}

void adjacent_cosines(const float* vectors, int64_t rows, int dim, float* out, cudaStream_t stream) {
  if (rows < 2) return;
  const int64_t turns = (rows - 1 + kRowsInTurn - 1) / kRowsInTurn;
  PYCHUNK_LAUNCH(adjacent_cosines_kernel, shape_for(adjacent_cosines_kernel, turns), stream, vectors, rows - 1, dim,
                 out);
}

}  // namespace pychunk::cuda
