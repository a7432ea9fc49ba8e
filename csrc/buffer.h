// Flat arrays whose memory is not cleared first; they are handed to Python without a copy.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

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

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

template <typename T>
struct Buffer {
  static_assert(std::is_trivial_v<T>);
  std::unique_ptr<T[], Free> data;
  int64_t size = 0;
  Buffer() = default;
  explicit Buffer(int64_t n) : data(static_cast<T*>(allocate(static_cast<size_t>(n) * sizeof(T)))), size(n) {}
  T& operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
};

}  // namespace pychunk
