// The choice of the instruction set for the hot loops. It is made once, and PYCHUNK_ISA overrides it.
#pragma once
#include <string>
#include <vector>

#include "common/kernels.h"

namespace pychunk {

// Returns the kernels of the chosen instruction set. The first call reads PYCHUNK_ISA (baseline | avx2 | avx512 |
// avx512vnni). It throws std::invalid_argument if this CPU cannot run the requested set.
const Kernels& kernels();

// Returns the instruction sets that this build contains and this CPU can run, slowest first.
std::vector<std::string> available_isas();

}  // namespace pychunk
