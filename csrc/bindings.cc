// The only file that knows Python: arrays to views, the GIL released, one call. No arithmetic.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "dispatch.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, m) {
  m.doc() = "pychunk's native core. Use the functions of the package pychunk instead.";
  m.attr("__version__") = PYCHUNK_VERSION;
  m.def("isa", [] { return pychunk::kernels().name; }, "Instruction set that runs.");
  m.def("available_isas", &pychunk::available_isas, "Instruction sets that this CPU could run, slowest first.");
}
