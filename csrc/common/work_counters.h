// How much text the engine has split and tokenised since it was loaded, in bytes: what tests hold a path against that
// must do either once.
#pragma once
#include <atomic>
#include <cstdint>

namespace pychunk {

struct Work {
  std::atomic<uint64_t> split{0}, tokenized{0};
};

inline Work& work() {
  static Work total;
  return total;
}

}  // namespace pychunk
