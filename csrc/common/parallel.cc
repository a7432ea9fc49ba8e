#include "common/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "common/interrupt.h"
#include "common/view.h"

namespace pychunk {
namespace {

int affinity() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

// Returns the number of CPUs that the cgroup's quota allows, rounded up, or 0 if there is no limit.
int quota() {
  std::string limit;
  int64_t period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> limit >> period) {
    if (limit == "max" || period <= 0) return 0;
    return static_cast<int>((std::stoll(limit) + period - 1) / period);
  }
  int64_t budget = 0;
  std::ifstream q("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), p("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (q >> budget && p >> period && budget > 0 && period > 0) return static_cast<int>((budget + period - 1) / period);
  return 0;
}

// Returns the quota, read again at most once a second. Opening the file takes 70 us, longer than segmenting a short
// text.
int known_quota() {
  static std::atomic<int64_t> stale{0};
  static std::atomic<int> known{0};
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
  if (now >= stale) {
    known = quota();
    stale = now + 1000;
  }
  return known;
}

// The state of one parallel_for: the next item to hand out, and the number of helpers still at work.
struct Job {
  Job(const std::function<void(int64_t)>& work, int64_t count) : body(work), items(count) {}

  const std::function<void(int64_t)>& body;
  const int64_t items;
  Call* const call = Call::current();  // the call that the caller works for
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  std::condition_variable done;
  int helpers = 0;
  std::exception_ptr error;

  void work() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < items;) {
      try {
        checkpoint();
        body(i);
      } catch (...) {
        fail();
      }
    }
  }
  // Ends the job with the exception that is being handled, unless another one came first.
  void fail() {
    next = items;
    const std::lock_guard lock(mutex);
    if (!error) error = std::current_exception();
  }
};

class Pool {
 public:
  // Queues up to `helpers` turns at the job and stores their number in it. The pool adds threads until it has one for
  // each turn requested at once. If the system starts no more threads, because of a limit on processes or memory, the
  // existing ones do the work, or the caller alone.
  void help(const std::shared_ptr<Job>& job, int helpers) {
    const std::lock_guard lock(mutex_);
    try {
      for (; threads_ < helpers; ++threads_) std::thread([this] { loop(); }).detach();
    } catch (const std::exception&) {
    }
    try {
      for (; job->helpers < std::min(helpers, threads_); ++job->helpers) queue_.push_back(job);
    } catch (const std::bad_alloc&) {
    }
    wake_.notify_all();
  }
  // Removes the turns that no thread has begun, and returns their number.
  int withdraw(const Job* job) {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::erase_if(queue_, [&](const auto& queued) { return queued.get() == job; }));
  }

 private:
  void loop() {
    for (std::unique_lock lock(mutex_);; lock.lock()) {
      const auto queued = [&] { return !queue_.empty(); };
      while (!queued()) {
        if (threads_ <= kept_) {
          wake_.wait(lock, queued);
        } else if (!wake_.wait_for(lock, kPatience, queued) && threads_ > kept_) {
          --threads_;
          return;
        }
      }
      const std::shared_ptr<Job> job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      {
        const Helping helping(job->call);
        job->work();
      }
      const std::lock_guard job_lock(job->mutex);
      if (--job->helpers == 0) job->done.notify_all();
    }
  }

  // The time after which an idle thread ends if the pool has more threads than CPUs. Such threads exist only because a
  // call asked for more threads than CPUs.
  static constexpr std::chrono::seconds kPatience{1};
  const int kept_ = affinity();
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> queue_;
  int threads_ = 0;
};

// The pool is never destroyed: its threads wait until the process ends. A forked child has none of these threads and
// starts with a new pool. It leaves the memory of the old pool alone, because threads that no longer exist may hold its
// locks.
std::atomic<Pool*> g_pool{nullptr};

Pool& pool() {
  Pool* current = g_pool.load();
  if (current == nullptr) {
    auto fresh = std::make_unique<Pool>();
    if (g_pool.compare_exchange_strong(current, fresh.get())) current = fresh.release();
  }
  return *current;
}

}  // namespace

void prepare_pool() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { g_pool = nullptr; });
  (void)registered;
}

int default_threads() {
  if (const char* wish = std::getenv("PYCHUNK_THREADS"); wish != nullptr && *wish != '\0') {
    char* end = nullptr;
    const long value = std::strtol(wish, &end, 10);
    PYCHUNK_CHECK(*end == '\0' && value >= 1 && value <= kMostThreads,
                  "PYCHUNK_THREADS must be a whole number from 1 to ", kMostThreads, ", got '", wish, "'");
    return static_cast<int>(value);
  }
  const int cpus = affinity(), paid = known_quota();
  return paid > 0 ? std::min(cpus, paid) : cpus;
}

void parallel_for(int64_t items, int threads, const std::function<void(int64_t)>& body) {
  const auto job = std::make_shared<Job>(body, items);
  const int helpers = static_cast<int>(std::min<int64_t>(threads, items)) - 1;
  if (helpers > 0) pool().help(job, helpers);
  job->work();
  if (helpers > 0) {
    const int unused = pool().withdraw(job.get());
    std::unique_lock lock(job->mutex);
    job->helpers -= unused;
    const auto done = [&] { return job->helpers == 0; };
    if (!Call::polls()) job->done.wait(lock, done);
    while (!job->done.wait_for(lock, Call::kTick, done)) {
      lock.unlock();
      try {
        checkpoint();
      } catch (const Cancelled&) {  // the helpers notice the cancellation, too
        job->fail();
      }
      lock.lock();
    }
  }
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace pychunk
