// Flat arrays whose memory is not cleared first; they are handed to Python without a copy.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pychunk {

// Memory for `bytes` bytes, to be given back with std::free. Large blocks ask for 2 MB pages: writing 60 MB of fresh
// memory met 16,500 page faults of 4 kB, which took from 25 to 200 ms of a call of 400, and meets 50 so.
inline void* allocate(size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  void* memory = nullptr;
  if (bytes < 2 * kHugePage) {
    memory = std::malloc(bytes > 0 ? bytes : 1);
  } else {
    bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    memory = std::aligned_alloc(kHugePage, bytes);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it all works, slower
#endif
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

template <typename T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(pychunk::allocate(n * sizeof(T))); }
  void deallocate(T* memory, size_t) { std::free(memory); }
  bool operator==(const PageAllocator&) const { return true; }
};

// A vector that may grow to many megabytes.
template <typename T>
using Values = std::vector<T, PageAllocator<T>>;

template <typename T>
struct Buffer {
  static_assert(std::is_trivial_v<T>);
  std::shared_ptr<void> memory;
  T* data = nullptr;
  int64_t size = 0;
  Buffer() = default;
  explicit Buffer(int64_t n)
      : memory(allocate(static_cast<size_t>(n) * sizeof(T)), std::free), data(static_cast<T*>(memory.get())), size(n) {}
  T& operator[](int64_t i) { return data[i]; }
};

// One block of memory for several buffers that live and die together: ten columns of 0.8 MB are too small for large
// pages one by one.
class Arena {
 public:
  explicit Arena(size_t bytes) : memory_(allocate(bytes), std::free), next_(static_cast<char*>(memory_.get())) {}
  // What a buffer of n takes of the arena.
  template <typename T>
  static size_t bytes(int64_t n) {
    return (static_cast<size_t>(n) * sizeof(T) + 63) / 64 * 64;
  }
  template <typename T>
  void take(int64_t n, Buffer<T>& out) {
    out.memory = memory_, out.data = reinterpret_cast<T*>(next_), out.size = n;
    next_ += bytes<T>(n);
  }

 private:
  std::shared_ptr<void> memory_;
  char* next_;
};

}  // namespace pychunk
