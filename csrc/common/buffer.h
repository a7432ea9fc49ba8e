// Flat arrays whose memory is not cleared first. Python receives them without a copy.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace pychunk {

// Allocates `bytes` bytes. The caller returns them with release() and the same number. Large blocks use 2 MB pages if
// the system has them. release() keeps some of these blocks for the next call (buffer.cc).
void* allocate(size_t bytes);
void release(void* memory, size_t bytes);

// Creates the list of kept blocks, which the first use would otherwise create.
void prepare_buffers();

template <typename T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(pychunk::allocate(n * sizeof(T))); }
  void deallocate(T* memory, size_t n) { release(memory, n * sizeof(T)); }
  bool operator==(const PageAllocator&) const { return true; }
};

// A vector that may grow to many megabytes.
template <typename T>
using Values = std::vector<T, PageAllocator<T>>;

// Allocates memory with shared ownership. The last owner releases it.
inline std::shared_ptr<void> allocate_shared(size_t bytes) {
  return {allocate(bytes), [bytes](void* memory) { release(memory, bytes); }};
}

template <typename T>
struct Buffer {
  static_assert(std::is_trivial_v<T>);
  std::shared_ptr<void> memory;
  T* data = nullptr;
  int64_t size = 0;
  Buffer() = default;
  explicit Buffer(int64_t n)
      : memory(allocate_shared(static_cast<size_t>(n) * sizeof(T))), data(static_cast<T*>(memory.get())), size(n) {}
  T& operator[](int64_t i) { return data[i]; }
};

// Releases the memory of vectors that a huge document filled. Otherwise their thread would keep it for good.
template <typename... Vectors>
void forget_if_huge(Vectors&... values) {
  const auto forget = [](auto& v) {
    if (v.capacity() * sizeof(v[0]) > (size_t{16} << 20)) std::remove_reference_t<decltype(v)>().swap(v);
  };
  (forget(values), ...);
}

// A block of memory for several buffers with the same lifetime. Each of ten columns of 0.8 MB, for example, is too
// small for large pages, but all together are not.
class Arena {
 public:
  explicit Arena(size_t bytes) : memory_(allocate_shared(bytes)), next_(static_cast<char*>(memory_.get())) {}
  // Returns the number of bytes that a buffer of n values occupies in the arena.
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
