// The cancellation of the calls of a thread by another thread, such as the one that runs an event loop.
#pragma once
#include <atomic>

namespace pychunk {

// A request to end calls. While it is the current one of a thread, the thread's calls look at it about ten times a
// second, as those of the main thread look for signals (common/interrupt.h).
class Cancellation {
 public:
  void cancel() { cancelled_ = true; }
  // Makes this the current one of the thread, until leave().
  void enter();
  static void leave();
  // Returns the current one of this thread, or null.
  static const Cancellation* current();
  // Raises Python's KeyboardInterrupt if the calls are cancelled. No handler of errors about documents catches it.
  void check() const;

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace pychunk
