// An emulator of CUDA on a CPU, for tests without a GPU. A C++ compiler compiles the kernels' own source against this
// header, and it runs thread by thread on fibers. Every collective (shuffle, ballot, barrier) waits for all threads
// that must take part, and a kernel whose threads do not meet is reported. The emulator is slow and exact, and a seed
// shuffles the order of threads.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  explicit dim3(unsigned a = 1) : x(a) {}
};
struct int2 {
  int x, y;
};

namespace emulator {

constexpr size_t kStack = 128 << 10;
constexpr int kLanes = 32;

// A point at which threads wait until a count is reached.
struct Meeting {
  uint64_t arrived = 0;
};

struct Warp {
  Meeting meeting;
  uint64_t slots[2][kLanes] = {};  // values of this exchange and of the previous one, which a slow lane may still read
};

struct BlockState {
  explicit BlockState(int threads) : warps(static_cast<size_t>((threads + kLanes - 1) / kLanes)) {}
  Meeting meeting;
  int counted[2] = {};
  std::vector<Warp> warps;
  std::map<const void*, std::vector<unsigned char>> shared;
};

struct Thread {
  ucontext_t context;
  std::unique_ptr<unsigned char[]> stack;
  dim3 thread_index, block_index, block_size, grid_size;
  BlockState* block = nullptr;
  Warp* warp = nullptr;
  int lane = 0;
  uint64_t exchanges = 0, barriers = 0, counts = 0;
  const uint64_t* waiting_for = nullptr;
  uint64_t wanted = 0;
  bool napping = false, done = false;
};

struct Machine {
  ucontext_t home;
  const void* home_stack = nullptr;
  size_t home_size = 0;
  Thread* current = nullptr;
  const std::function<void()>* body = nullptr;
  std::exception_ptr error;
};
inline Machine& machine() {
  static Machine one;
  return one;
}
inline Thread& self() { return *machine().current; }

inline void to_home() {
  Machine& m = machine();
  Thread& me = *m.current;
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(me.done ? nullptr : &fake, m.home_stack, m.home_size);
#endif
  swapcontext(&me.context, &m.home);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

inline void entry() {
  Machine& m = machine();
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &m.home_stack, &m.home_size);
#endif
  try {
    (*m.body)();
  } catch (...) {
    m.error = std::current_exception();
  }
  m.current->done = true;
  to_home();
}

inline void resume(Thread& thread) {
  Machine& m = machine();
  m.current = &thread;
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, thread.stack.get(), kStack);
#endif
  swapcontext(&m.home, &thread.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

// Arrives, and waits for `members` arrivals in this round.
inline void meet(Meeting& meeting, uint64_t members, uint64_t round) {
  ++meeting.arrived;
  self().waiting_for = &meeting.arrived;
  self().wanted = members * round;
  if (meeting.arrived < self().wanted) to_home();
  self().waiting_for = nullptr;
}

inline std::unique_ptr<Thread> make_thread(BlockState& block, int index, int block_index, int threads, int blocks) {
  auto made = std::make_unique<Thread>();
  made->thread_index.x = static_cast<unsigned>(index), made->block_index.x = static_cast<unsigned>(block_index);
  made->block_size.x = static_cast<unsigned>(threads), made->grid_size.x = static_cast<unsigned>(blocks);
  made->block = &block;
  made->warp = &block.warps[static_cast<size_t>(index / kLanes)];
  made->lane = index % kLanes;
  made->stack.reset(new unsigned char[kStack]);
  getcontext(&made->context);
  made->context.uc_stack.ss_sp = made->stack.get();
  made->context.uc_stack.ss_size = kStack;
  made->context.uc_link = nullptr;
  makecontext(&made->context, entry, 0);
  return made;
}

// Runs all blocks, those of a cooperative launch together, others one after the other.
inline void run(const char* name, int blocks, int threads, bool cooperative, const std::function<void()>& body) {
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  static std::mt19937 shuffle([] {
    const char* seed = std::getenv("PYCHUNK_EMULATOR_SEED");
    return static_cast<unsigned>(seed != nullptr ? std::atoi(seed) : 0);
  }());
  Machine& m = machine();
  m.body = &body;
  m.error = nullptr;
  for (int first = 0; first < blocks; first += cooperative ? blocks : 1) {
    const int live = cooperative ? blocks : 1;
    std::vector<std::unique_ptr<BlockState>> states;
    std::vector<std::unique_ptr<Thread>> all;
    for (int b = 0; b < live; ++b) {
      states.push_back(std::make_unique<BlockState>(threads));
      for (int t = 0; t < threads; ++t) {
        all.push_back(make_thread(*states.back(), t, first + b, threads, blocks));
      }
    }
    std::vector<Thread*> order;
    for (const auto& each : all) order.push_back(each.get());
    std::shuffle(order.begin(), order.end(), shuffle);
    int idle_rounds = 0;
    while (!order.empty() && !m.error) {
      bool ran = false, napped = false;
      for (Thread* each : order) {
        if (each->waiting_for != nullptr && *each->waiting_for < each->wanted) continue;
        const bool was_napping = each->napping;
        each->napping = false;
        resume(*each);
        (was_napping && each->napping ? napped : ran) = true;
        if (m.error) break;
      }
      std::erase_if(order, [](Thread* each) { return each->done; });
      idle_rounds = ran ? 0 : idle_rounds + 1;
      if (!m.error && !order.empty() && !ran && (!napped || idle_rounds > 1000))
        throw std::runtime_error(std::string(name) + ": " + std::to_string(order.size()) +
                                 " threads wait for others that never come");
    }
    if (m.error) std::rethrow_exception(m.error);
  }
}

template <typename T>
uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

// Passes one value of each lane to all lanes, and returns all values.
template <typename T>
const uint64_t* exchange(unsigned mask, T value) {
  if (mask != 0xFFFFFFFFu) throw std::runtime_error("only whole warps are emulated");
  Thread& me = self();
  uint64_t* slots = me.warp->slots[me.exchanges % 2];
  slots[me.lane] = bits_of(value);
  meet(me.warp->meeting, kLanes, ++me.exchanges);
  return slots;
}

template <typename T>
T shuffled(unsigned mask, T value, int from) {
  const uint64_t bits = exchange(mask, value)[from];
  T out;
  std::memcpy(&out, &bits, sizeof(out));
  return out;
}

// Static shared memory of the block, by the address of its declaration. It holds garbage at first, as on a device.
template <typename T>
T& shared_variable(const void* key) {
  auto& bytes = self().block->shared[key];
  if (bytes.empty()) bytes.assign(sizeof(T), 0xA5);
  return *reinterpret_cast<T*>(bytes.data());
}

}  // namespace emulator

#define threadIdx (::emulator::self().thread_index)
#define blockIdx (::emulator::self().block_index)
#define blockDim (::emulator::self().block_size)
#define gridDim (::emulator::self().grid_size)

inline void __syncthreads() {
  auto& me = ::emulator::self();
  ::emulator::meet(me.block->meeting, blockDim.x, ++me.barriers);
}
inline int __syncthreads_count(int predicate) {
  auto& me = ::emulator::self();
  const auto round = me.counts++ % 2;  // the other is of the last count, which a slow thread may still clear
  if (predicate != 0) ++me.block->counted[round];
  __syncthreads();
  const int count = me.block->counted[round];
  __syncthreads();
  me.block->counted[round] = 0;
  return count;
}
inline void __syncwarp() { ::emulator::exchange(0xFFFFFFFFu, 0); }
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return ::emulator::shuffled(mask, value, ::emulator::self().lane ^ bits);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate) {
  const uint64_t* all = ::emulator::exchange(mask, static_cast<uint64_t>(predicate));
  unsigned bits = 0;
  for (int i = 0; i < ::emulator::kLanes; ++i) bits |= static_cast<unsigned>(all[i] & 1) << i;
  return bits;
}
inline void __threadfence() {}
inline void __nanosleep(unsigned) {
  ::emulator::self().napping = true;
  ::emulator::to_home();
}
template <typename T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <typename T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T before = *at;
  *at = std::max(before, value);
  return before;
}
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
using std::max;
using std::min;

// ---- the runtime: device memory is host memory, of which there may be little (PYCHUNK_EMULATOR_BYTES) ----
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDevice = 101,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
constexpr unsigned cudaHostAllocDefault = 0, cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;
using cudaStream_t = struct EmulatedStream*;
using cudaEvent_t = struct EmulatedEvent*;
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount;
};

namespace emulator {

// Allocations by address, to check that freed memory was allocated, and to know what is in use.
struct Heap {
  std::mutex mutex;
  std::map<void*, size_t> blocks;
  size_t used = 0;
  static size_t limit() {
    const char* bytes = std::getenv("PYCHUNK_EMULATOR_BYTES");
    return bytes != nullptr ? std::strtoull(bytes, nullptr, 10) : size_t{8} << 30;
  }
};
inline Heap& heap() {
  static Heap one;
  return one;
}

}  // namespace emulator

inline cudaError_t cudaMalloc(void** out, size_t bytes) {
  auto& heap = ::emulator::heap();
  const std::scoped_lock lock(heap.mutex);
  if (heap.used + bytes > ::emulator::Heap::limit()) return cudaErrorMemoryAllocation;
  *out = std::malloc(bytes);
  std::memset(*out, 0xA5, bytes);
  heap.blocks[*out] = bytes;
  heap.used += bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* block) {
  auto& heap = ::emulator::heap();
  const std::scoped_lock lock(heap.mutex);
  const auto found = heap.blocks.find(block);
  if (found == heap.blocks.end()) return cudaErrorInvalidValue;
  heap.used -= found->second;
  heap.blocks.erase(found);
  std::free(block);
  return cudaSuccess;
}
inline cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  *out = std::malloc(std::max<size_t>(bytes, 1));
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* block) {
  std::free(block);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "emulated error";
}
inline const char* cudaGetErrorName(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaError";
}
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int) {
  *out = {"emulator", ::emulator::Heap::limit(), 0, 0, 2};
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 3;
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, size_t) {
  *blocks = 1;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
