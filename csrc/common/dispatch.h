// Which instruction set runs the hot loops: chosen once, overridable by PYCHUNK_ISA.
#pragma once
#include <string>
#include <vector>

#include "common/kernels.h"

namespace pychunk {

// The kernels of the chosen instruction set. The first call reads PYCHUNK_ISA (baseline | avx2 | avx512 | avx512vnni)
// and throws std::invalid_argument where this CPU cannot run what was asked for.
const Kernels& kernels();

// Instruction sets that this build holds and this CPU can run, slowest first.
std::vector<std::string> available_isas();

}  // namespace pychunk
