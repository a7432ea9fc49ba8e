// How a call ends before its work is done: long loops look now and then whether it should.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>

namespace pychunk {

// Whether this is the process's main thread, on which Python runs signal handlers; true where that cannot be told.
bool on_main_thread();

// To be called once before on_main_thread(): in a forked child the thread that forked is the main one.
void prepare_interrupts();

// Thrown by checkpoint(). What ends the call is its cause().
struct Cancelled {};

// A call from Python, while it lasts the one of its thread. `poll` is called on that thread alone, some ten times a
// second; what it throws ends the call. Null: nothing ends it.
class Call {
 public:
  explicit Call(std::function<void()> poll);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The call that this thread works for, or null.
  static Call* current();
  // Whether this thread polls for it.
  static bool polls();
  // Why it was cancelled, or null.
  std::exception_ptr cause() const { return cause_; }

  // How long a thread that polls may wait for others.
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

// A thread that works for another thread's call, for a scope; the call may be null.
class Helping {
 public:
  explicit Helping(Call* call);
  ~Helping();
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

 private:
  Call* const before_;
};

// Throws Cancelled where the thread's call is to end. Takes some 25 ns on the thread that polls and 3 ns on others: for
// every so many turns of a loop, such that some milliseconds lie between two.
void checkpoint();

// checkpoint() in one of `turns` turns, a power of two.
inline void checkpoint_each(int64_t turn, int64_t turns) {
  if ((turn & (turns - 1)) == 0) checkpoint();
}

}  // namespace pychunk
