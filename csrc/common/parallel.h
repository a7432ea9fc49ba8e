// Work over documents on one pool of threads, created on first use and made anew after a fork.
#pragma once
#include <cstdint>
#include <functional>

namespace pychunk {

// The most threads that a call may ask for.
constexpr int kMostThreads = 1024;

// Threads that a call uses unless told otherwise: PYCHUNK_THREADS, else the CPUs this process may run on, no
// more than its cgroup's quota pays for. Throws std::invalid_argument where PYCHUNK_THREADS is not a positive
// number.
int default_threads();

// To be called once before parallel_for: a forked child begins with a pool of its own.
void prepare_pool();

// Calls body(item) once for each item in [0, items), on at most `threads` threads, the caller's among them;
// items are handed out in order. The first exception that a call throws reaches the caller, after the calls
// under way have ended; items not yet begun are dropped,
// as they are when the call that the caller works for is cancelled (interrupt.h). Safe from several threads at once.
// Where the system starts no more threads, it runs on those there are.
void parallel_for(int64_t items, int threads, const std::function<void(int64_t)>& body);

}  // namespace pychunk
