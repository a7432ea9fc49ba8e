#include "common/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#ifdef __linux__
#include <sys/syscall.h>
#endif

namespace pychunk {
namespace {

thread_local Call* t_call = nullptr;
thread_local bool t_polls = false;
// Whether this is the main thread; -1 if not yet known. The value is cached because the system call takes longer than a
// short call may.
thread_local signed char t_main = -1;

}  // namespace

bool on_main_thread() {
  if (t_main < 0) {
#if defined(__linux__)
    t_main = syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    t_main = pthread_main_np() != 0;
#else
    t_main = 1;
#endif
  }
  return t_main != 0;
}

void prepare_interrupts() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { t_main = 1; });
  (void)registered;
}

Call::Call(std::function<void()> poll) : poll_(std::move(poll)) {
  t_call = this;
  t_polls = static_cast<bool>(poll_);
}

Call::~Call() {
  t_call = nullptr;
  t_polls = false;
}

Call* Call::current() { return t_call; }
bool Call::polls() { return t_polls; }

void Call::look() {
  if (std::chrono::steady_clock::now() < next_) return;
  try {
    poll_();
  } catch (...) {
    cause_ = std::current_exception();
    cancelled_ = true;
    throw Cancelled{};
  }
  next_ = std::chrono::steady_clock::now() + kTick;
}

Helping::Helping(Call* call) : before_(std::exchange(t_call, call)) {}
Helping::~Helping() { t_call = before_; }

void checkpoint() {
  Call* const call = t_call;
  if (call == nullptr) return;
  if (call->cancelled_.load(std::memory_order_relaxed)) throw Cancelled{};
  if (t_polls) call->look();
}

}  // namespace pychunk
