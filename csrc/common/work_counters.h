// The number of bytes that the engine has split and tokenized since it was loaded. Tests use it to check that a code
// path does each of them only once.
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
