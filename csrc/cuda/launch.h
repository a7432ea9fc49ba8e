// Checked kernel launches, with one function for both kinds: plain, and cooperative, in which all blocks run at once
// and may wait for each other.
#pragma once
#include <cuda_runtime.h>

#include <tuple>

#include "cuda/check.h"

namespace pychunk::cuda {

struct Shape {
  int blocks, threads;
  bool cooperative = false;
};

#if defined(PYCHUNK_CUDA_EMULATED)

template <typename... Parameters>
void launch(const char* name, void (*kernel)(Parameters...), const Shape& shape, cudaStream_t,
            std::type_identity_t<Parameters>... arguments) {
  emulator::run(name, shape.blocks, shape.threads, shape.cooperative, [&] { kernel(arguments...); });
}

#else

template <typename... Parameters>
void launch(const char* name, void (*kernel)(Parameters...), const Shape& shape, cudaStream_t stream,
            std::type_identity_t<Parameters>... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  const auto* entry = reinterpret_cast<const void*>(kernel);
  const dim3 blocks(static_cast<unsigned>(shape.blocks)), threads(static_cast<unsigned>(shape.threads));
  const auto status = shape.cooperative ? cudaLaunchCooperativeKernel(entry, blocks, threads, pointers, 0, stream)
                                        : cudaLaunchKernel(entry, blocks, threads, pointers, 0, stream);
  check(status, name, __FILE_NAME__, __LINE__);
}

#endif

// PYCHUNK_LAUNCH(kernel, shape, stream, arguments...) launches a kernel and names it in errors.
#define PYCHUNK_LAUNCH(kernel, ...) ::pychunk::cuda::launch(#kernel, kernel, __VA_ARGS__)

// Return the number of blocks of a kernel that a device runs at once.
template <typename Kernel>
int resident_blocks(Kernel kernel, int threads) {
  int device = 0, processors = 0, each = 0;
  PYCHUNK_CUDA(cudaGetDevice(&device));
  PYCHUNK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  PYCHUNK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, reinterpret_cast<const void*>(kernel), threads, 0));
  return processors * each;
}

}  // namespace pychunk::cuda
