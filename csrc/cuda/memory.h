// Device memory that is kept for the next call, and pinned host memory.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace pychunk::cuda {

// A pool of device memory. A block that one stream returned serves that stream again without waiting, because all work
// that still reads it is earlier in the stream. cudaMalloc takes 100 us or more, and cudaFree waits for the device.
class Pool {
 public:
  static Pool& of_device(int device);

  // Return at least `bytes` bytes. Throw OutOfMemory if the device has none left even after all kept blocks are freed.
  void* take(size_t bytes, cudaStream_t stream);
  void give(void* block, size_t bytes, cudaStream_t stream) noexcept;
  // Free the kept blocks, and return the number of bytes.
  size_t trim();
  size_t kept() const;

  // Round a size to one of the block sizes. There are eight between two powers of two, so that a kept block often fits.
  static size_t rounded(size_t bytes);

 private:
  size_t trim_locked();

  // The total size of kept blocks above which all of them are freed. Other libraries in the process need memory, too.
  static constexpr size_t kMostKept = size_t{4} << 30;
  mutable std::mutex mutex_;
  std::multimap<std::pair<cudaStream_t, size_t>, void*> free_;
  size_t kept_ = 0;
};

// An owner of a block of the pool. The work that uses the block must be in `stream`.
class Memory {
 public:
  Memory() = default;
  Memory(size_t bytes, int device, cudaStream_t stream);
  ~Memory();
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(block_, other.block_), std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_), std::swap(stream_, other.stream_);
    return *this;
  }

  template <typename T>
  T* as() const {
    return static_cast<T*>(block_);
  }
  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

 private:
  void* block_ = nullptr;
  size_t bytes_ = 0;
  int device_ = 0;
  cudaStream_t stream_ = nullptr;
};

// A scope in which a device is the current one of this thread.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace pychunk::cuda
