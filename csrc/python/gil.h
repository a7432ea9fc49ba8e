// Python's lock, given up and taken so that a thread which Python no longer wants, because it is ending, waits for the
// process's end instead of crashing it.
#pragma once
#include <pybind11/pybind11.h>
#include <unistd.h>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace pychunk {

// Calls a function that takes Python's lock. Before 3.14 it ends the thread if Python is ending, by unwinding its
// stack: through destructors, which may not throw, and which touch Python objects without the lock. So, as in 3.14, the
// thread stops here for good.
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

// Gives up the lock for a scope. In place of pybind11::gil_scoped_release.
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

// Takes the lock for a scope, on any thread, whether it has it or not. In place of pybind11::gil_scoped_acquire.
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
