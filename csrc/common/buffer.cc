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
// From here on a block is aligned to large pages: writing 60 MB of fresh memory met 16,500 page faults of 4 kB, which
// took from 25 to 200 ms of a call of 400, and meets 30 so.
constexpr size_t kLarge = 2 * kHugePage;
// Large blocks that are kept when they are given back. A service that segments batch after batch would otherwise return
// and fetch the same memory every time, 5 to 20 % of a call on one thread. The system may take their pages meanwhile.
constexpr size_t kKept = size_t{256} << 20;

struct Block {
  void* memory;
  size_t bytes;
};

struct KeptBlocks {
  std::mutex mutex;
  std::vector<Block> blocks;  // the oldest first
  std::vector<Block> larger;  // those in use that were taken for fewer bytes than they have
  size_t bytes = 0;
};

KeptBlocks& kept_blocks() {
  // Never destroyed: arrays may outlive the module. A process is forked while no thread holds the lock, so that the
  // child, which has the forking thread alone, finds it free and the blocks whole.
  static KeptBlocks* const found = [] {
    pthread_atfork([] { kept_blocks().mutex.lock(); }, [] { kept_blocks().mutex.unlock(); },
                   [] { kept_blocks().mutex.unlock(); });
    return new KeptBlocks;
  }();
  return *found;
}

// The size class of a large block: a multiple of an eighth of its power of two, so that calls on like batches meet in
// one. Pages that are not written take no memory.
size_t rounded(size_t bytes) {
  const size_t step = std::max(kHugePage, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// The smallest kept block that holds so many bytes, the last one given back of its size, unless it is more than twice
// as large: batches of one corpus differ by a third, and a class for each of their sizes would seldom have one. Null
// where there is none.
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

// Of how many bytes a block is that was allocated for so many.
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
    if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it all works, slower
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
  madvise(memory, bytes, MADV_FREE);  // the system may take the pages, and does where memory is short
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
