// Python's lock, released and taken in a safe way. When Python is ending and no longer wants a thread, the thread waits
// for the end of the process instead of crashing it.
#pragma once
#include <pybind11/pybind11.h>
#include <unistd.h>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace pychunk {

// Call a function that takes Python's lock. Before 3.14, if Python is ending, this function ends the thread by
// unwinding its stack. That runs destructors, which may not throw, and which touch Python objects without the lock.
// Therefore the thread stops here for good, as it does in 3.14.
template <typename Take>
auto take_lock(Take take) {
#ifdef __GLIBCXX__
  try {
    return take();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return take();
#endif
}

// A scope without the lock. It replaces pybind11::gil_scoped_release.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  ~Unlocked() {
    take_lock([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* const state_;
};

// A scope that holds the lock, on any thread, whether or not the thread already had it. It replaces
// pybind11::gil_scoped_acquire.
class Locked {
 public:
  Locked() : state_(take_lock([] { return PyGILState_Ensure(); })) {}
  ~Locked() { PyGILState_Release(state_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const PyGILState_STATE state_;
};

}  // namespace pychunk
