#include "cuda/memory.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "cuda/check.h"

namespace pychunk::cuda {

Pool& Pool::of_device(int device) {
  static std::mutex mutex;
  static std::map<int, std::unique_ptr<Pool>> pools;
  const std::scoped_lock lock(mutex);
  auto& pool = pools[device];
  if (!pool) pool = std::make_unique<Pool>();
  return *pool;
}

size_t Pool::rounded(size_t bytes) {
  const size_t step = std::max<size_t>(std::bit_ceil(bytes) / 16, 256);
  return (bytes + step - 1) / step * step;
}

void* Pool::take(size_t bytes, cudaStream_t stream) {
  const size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  if (const auto found = free_.find({stream, size}); found != free_.end()) {
    void* block = found->second;
    kept_ -= size;
    free_.erase(found);
    return block;
  }
  void* block = nullptr;
  if (cudaMalloc(&block, size) == cudaSuccess) return block;
  cudaGetLastError();
  trim_locked();
  PYCHUNK_CUDA(cudaMalloc(&block, size));
  return block;
}

void Pool::give(void* block, size_t bytes, cudaStream_t stream) noexcept {
  const size_t size = rounded(bytes);
  const std::scoped_lock lock(mutex_);
  try {
    free_.emplace(std::pair{stream, size}, block);
    kept_ += size;
    if (kept_ > kMostKept) trim_locked();
  } catch (...) {
    cudaFree(block);
  }
}

size_t Pool::trim() {
  const std::scoped_lock lock(mutex_);
  return trim_locked();
}

size_t Pool::trim_locked() {
  const size_t freed = kept_;
  for (const auto& [key, block] : free_) cudaFree(block);  // waits for the device
  free_.clear();
  kept_ = 0;
  return freed;
}

size_t Pool::kept() const {
  const std::scoped_lock lock(mutex_);
  return kept_;
}

Memory::Memory(size_t bytes, int device, cudaStream_t stream)
    : bytes_(std::max<size_t>(bytes, 1)), device_(device), stream_(stream) {
  const OnDevice scope(device);
  block_ = Pool::of_device(device).take(bytes_, stream);
}

Memory::~Memory() {
  if (block_ != nullptr) Pool::of_device(device_).give(block_, bytes_, stream_);
}

OnDevice::OnDevice(int device) {
  PYCHUNK_CUDA(cudaGetDevice(&before_));
  if (before_ != device) PYCHUNK_CUDA(cudaSetDevice(device));
}
OnDevice::~OnDevice() { cudaSetDevice(before_); }

}  // namespace pychunk::cuda
