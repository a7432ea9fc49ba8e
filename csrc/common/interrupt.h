// The cancellation of a call before its work is done. Long loops check at intervals whether they must stop.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace pychunk {

// Returns whether this is the process's main thread, on which Python runs signal handlers. Returns true if the system
// cannot tell.
bool on_main_thread();

// Registers a fork handler that makes the forking thread the main thread of the child. It must be called once before
// on_main_thread().
void prepare_interrupts();

// The exception that checkpoint() throws. The call's cause() holds the reason.
struct Cancelled {};

// A call from Python, which is the current call of its thread while it lasts. Only that thread calls `poll`, about ten
// times a second. An exception that `poll` throws ends the call. If `poll` is null, nothing ends the call early.
class Call {
 public:
  explicit Call(std::function<void()> poll);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Returns the call that this thread works for, or null.
  static Call* current();
  // Returns whether this thread polls for its call.
  static bool polls();
  // Returns the exception that cancelled the call, or null.
  std::exception_ptr cause() const { return cause_; }

  // The longest time that a polling thread may wait for others.
  static constexpr std::chrono::milliseconds kTick{100};

 private:
  friend class Helping;
  friend void checkpoint();
  void look();

  const std::function<void()> poll_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kTick;
  std::atomic<bool> cancelled_{false};
  std::exception_ptr cause_;
};

// A scope in which a thread works for another thread's call. The call may be null.
class Helping {
 public:
  explicit Helping(Call* call);
  ~Helping();
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

 private:
  Call* const before_;
};

// Throws Cancelled if the thread's call must end. It takes about 25 ns on the polling thread and 3 ns on others. Loops
// should therefore call it only every few milliseconds.
void checkpoint();

// Calls checkpoint() in one of every `turns` turns. `turns` must be a power of two.
inline void checkpoint_each(int64_t turn, int64_t turns) {
  if ((turn & (turns - 1)) == 0) checkpoint();
}

}  // namespace pychunk
