// Parallel work over documents, on one pool of threads. The pool is created on first use, and again after a fork.
#pragma once
#include <cstdint>
#include <functional>

namespace pychunk {

// The largest number of threads that a call may ask for.
constexpr int kMostThreads = 1024;

// Returns the number of threads that a call uses by default. This is PYCHUNK_THREADS, or else the number of CPUs that
// this process may run on, limited by its cgroup's quota. Throws std::invalid_argument if PYCHUNK_THREADS is not a
// whole number from 1 to kMostThreads.
int default_threads();

// Registers a fork handler that gives a forked child its own pool. It must be called once before parallel_for.
void prepare_pool();

// Calls body(item) once for each item in [0, items), on at most `threads` threads including the caller's. Threads take
// items in order. If a call throws, the calls under way end, the remaining items are dropped, and the caller gets the
// first exception.
//
// The remaining items are also dropped if the call that the caller works for is cancelled (interrupt.h). Several
// threads may use this function at once. If the system starts no more threads, it uses those that exist.
void parallel_for(int64_t items, int threads, const std::function<void(int64_t)>& body);

}  // namespace pychunk
