#include "common/dispatch.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdlib>
#include <stdexcept>

namespace pychunk {

const Kernels& kernels_baseline();
#if defined(__x86_64__)
const Kernels& kernels_avx2();
const Kernels& kernels_avx512();
const Kernels& kernels_avx512vnni();
#endif

namespace {

#if defined(__x86_64__)
// Returns whether the CPU converts float16. Not every compiler's __builtin_cpu_supports knows this feature.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> found{&kernels_baseline()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && has_f16c()) {
    found.push_back(&kernels_avx2());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
      found.push_back(&kernels_avx512());
      if (__builtin_cpu_supports("avx512vnni")) found.push_back(&kernels_avx512vnni());
    }
  }
#endif
  return found;
}

const Kernels& choose() {
  const auto found = runnable();
  const char* wish = std::getenv("PYCHUNK_ISA");
  if (wish == nullptr || *wish == '\0') return *found.back();
  std::string names;
  for (const Kernels* k : found) {
    if (std::string(wish) == k->name) return *k;
    names += (names.empty() ? "" : ", ") + std::string(k->name);
  }
  throw std::invalid_argument("PYCHUNK_ISA must be one of: " + names + " on this CPU; got '" + wish + "'");
}

}  // namespace

const Kernels& kernels() {
  static const Kernels& chosen = choose();
  return chosen;
}

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Kernels* k : runnable()) names.emplace_back(k->name);
  return names;
}

}  // namespace pychunk
