// CUDA errors as exceptions with file and line. Out of memory has an exception of its own, because callers handle it.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace pychunk::cuda {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct OutOfMemory : Error {
  using Error::Error;
};

inline void check(cudaError_t status, const char* what, const char* file, int line) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears an error that is not sticky, which the next call would report
  const std::string text = std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) +
                           ") at " + file + ":" + std::to_string(line);
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(text);
  throw Error(text);
}

#define PYCHUNK_CUDA(call) ::pychunk::cuda::check((call), #call, __FILE_NAME__, __LINE__)

}  // namespace pychunk::cuda
