#include "python/cancellation.h"

#include "python/bindings.h"

namespace pychunk {
namespace {

thread_local const Cancellation* t_cancellation = nullptr;

}  // namespace

void Cancellation::enter() { t_cancellation = this; }
void Cancellation::leave() { t_cancellation = nullptr; }
const Cancellation* Cancellation::current() { return t_cancellation; }

void Cancellation::check() const {
  if (!cancelled_.load(std::memory_order_relaxed)) return;
  const Locked locked;
  PyErr_SetString(PyExc_KeyboardInterrupt, "the call was cancelled");
  throw py::error_already_set();
}

void bind_cancellation(py::module_& m) {
  py::class_<Cancellation>(m, "Cancellation", "A request to end the calls of the thread that is in its with block.")
      .def(py::init<>())
      .def("cancel", &Cancellation::cancel, "End the calls within about 0.1 s; they raise KeyboardInterrupt.")
      .def(
          "__enter__",
          [](Cancellation& self) -> Cancellation& {
            self.enter();
            return self;
          },
          py::return_value_policy::reference)
      .def("__exit__", [](Cancellation&, const py::args&) { Cancellation::leave(); });
}

}  // namespace pychunk
