#include "common/buffer.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>

#ifdef __unix__
#include <sys/mman.h>
#endif

namespace pychunk {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Blocks of at least this size are aligned to large pages. Writing 60 MB of fresh memory met 16,500 page faults of
// 4 kB, which took 25 to 200 ms of a call of 400 ms. With large pages it meets 30.
constexpr size_t kLarge = 2 * kHugePage;
// The total size of released large blocks that are kept. Otherwise a service that segments batch after batch would
// return and fetch the same memory every time. This took 5 to 20 % of a call on one thread. The system may reclaim the
// pages of kept blocks.
constexpr size_t kKept = size_t{256} << 20;

struct Block {
  void* memory;
  size_t bytes;
};

struct KeptBlocks {
  std::mutex mutex;
  std::vector<Block> blocks;  // the oldest first
  std::vector<Block> larger;  // blocks in use that are larger than the allocation that took them
  size_t bytes = 0;
};

KeptBlocks& kept_blocks() {
  // The list is never destroyed, since arrays may outlive the module. The fork handlers hold its lock during a fork.
  // The child has only the forking thread, and so finds the lock free and the list consistent.
  static KeptBlocks* const found = [] {
    pthread_atfork([] { kept_blocks().mutex.lock(); }, [] { kept_blocks().mutex.unlock(); },
                   [] { kept_blocks().mutex.unlock(); });
    return new KeptBlocks;
  }();
  return *found;
}

// Returns the size class of a large block: a multiple of an eighth of its power of two. Calls on similar batches
// therefore use the same class. Pages that are never written take no memory.
size_t rounded(size_t bytes) {
  const size_t step = std::max(kHugePage, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// Takes the smallest kept block that has at least `bytes` bytes. Of blocks of equal size it takes the one released
// last. It takes none that is more than twice as large, and returns null if it finds none. Batches of one corpus differ
// by a third, so a class for each exact size would rarely hold a block.
void* take(size_t bytes) {
  KeptBlocks& all = kept_blocks();
  const std::lock_guard lock(all.mutex);
  auto best = all.blocks.rend();
  for (auto block = all.blocks.rbegin(); block != all.blocks.rend(); ++block)
    if (block->bytes >= bytes && block->bytes <= 2 * bytes && (best == all.blocks.rend() || block->bytes < best->bytes))
      best = block;
  if (best == all.blocks.rend()) return nullptr;
  const Block found = *best;
  if (found.bytes > bytes) all.larger.push_back(found);
  all.blocks.erase(std::next(best).base());
  all.bytes -= found.bytes;
  return found.memory;
}

// Returns the real size of a block that was allocated for `bytes` bytes.
size_t bytes_of(KeptBlocks& all, const void* memory, size_t bytes) {
  const auto found =
      std::find_if(all.larger.begin(), all.larger.end(), [&](const Block& b) { return b.memory == memory; });
  if (found == all.larger.end()) return bytes;
  const size_t whole = found->bytes;
  all.larger.erase(found);
  return whole;
}

}  // namespace

void prepare_buffers() { kept_blocks(); }

void* allocate(size_t bytes) {
  void* memory = nullptr;
  if (bytes < kLarge) {
    memory = std::malloc(std::max<size_t>(bytes, 1));
  } else {
    bytes = rounded(bytes);
    memory = take(bytes);
    if (memory != nullptr) return memory;
    memory = std::aligned_alloc(kHugePage, bytes);
#ifdef MADV_HUGEPAGE
    // Discards the small pages of a freed block, which malloc may return, and asks for large ones. It works without,
    // but slower.
    if (memory != nullptr) madvise(memory, bytes, MADV_DONTNEED), madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory, size_t bytes) {
  if (memory == nullptr || bytes < kLarge) return std::free(memory);
  bytes = rounded(bytes);
  {
    KeptBlocks& all = kept_blocks();
    const std::lock_guard lock(all.mutex);
    bytes = bytes_of(all, memory, bytes);
  }
  if (bytes > kKept) return std::free(memory);
#ifdef MADV_FREE
  madvise(memory, bytes, MADV_FREE);  // the system may reclaim the pages, and does if memory is short
#endif
  std::vector<Block> old;
  {
    KeptBlocks& all = kept_blocks();
    const std::lock_guard lock(all.mutex);
    all.blocks.push_back({memory, bytes});
    all.bytes += bytes;
    while (all.bytes > kKept) {
      old.push_back(all.blocks.front());
      all.bytes -= all.blocks.front().bytes;
      all.blocks.erase(all.blocks.begin());
    }
  }
  for (const Block& block : old) std::free(block.memory);
}

}  // namespace pychunk
