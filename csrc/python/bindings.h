// The code that all files of the Python module use: NumPy arrays as views, and buffers that NumPy gets without a copy.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/buffer.h"
#include "common/interrupt.h"
#include "common/view.h"
#include "document/plan.h"
#include "python/cancellation.h"
#include "python/gil.h"

#ifdef Py_GIL_DISABLED
#error "pychunk does not support free-threaded Python: build it with an ordinary Python"
#endif

namespace pychunk {

namespace py = pybind11;

// An array that is C-contiguous and of exactly this type, which pychunk/_engine/native.py ensures. Anything else is a
// TypeError.
template <typename T>
using Array = py::array_t<T, py::array::c_style>;
template <typename T>
using Optional = std::optional<Array<T>>;

template <typename T>
std::span<const T> view(const Array<T>& array) {
  return {array.data(), static_cast<size_t>(array.size())};
}

// Return the values of an array, which must have `size` of them.
template <typename T>
std::span<const T> view_of(const Array<T>& array, size_t size, const char* name) {
  PYCHUNK_CHECK(view(array).size() == size, name, " must have ", size, " values, got ", array.size());
  return view(array);
}

template <typename T>
Matrix<const T> matrix(const Array<T>& array, const char* name) {
  PYCHUNK_CHECK(array.ndim() == 2, name, " must have two dimensions, got ", array.ndim());
  return {array.data(), array.shape(0), array.shape(1)};
}

// Return the shape of an array as Python writes it, for a message.
inline std::string shape_of(const py::array& array) { return py::str(array.attr("shape")); }

inline Texts texts(const Array<uint8_t>& text, const Array<int64_t>& offsets) {
  check_offsets(view(offsets), text.size(), "offsets");
  return {reinterpret_cast<const char*>(text.data()), view(offsets)};
}

// Check that all texts are UTF-8, and that none begins or ends inside a character.
void check_utf8(const Array<uint8_t>& text, std::span<const int64_t> offsets);

// The name of capsules that hold a std::shared_ptr<void>, whose memory other owners can share (arrow_batch.cc).
constexpr char kSharedMemory[] = "pychunk.memory";

// Return a Python object that keeps a buffer's memory alive.
template <typename T>
py::capsule owner_of(const Buffer<T>& buffer) {
  return {new std::shared_ptr<void>(buffer.memory), kSharedMemory,
          [](void* p) { delete static_cast<std::shared_ptr<void>*>(p); }};
}

// Pass a buffer to NumPy without a copy.
template <typename T>
Array<T> array(Buffer<T>&& buffer, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {buffer.size};
  return Array<T>(std::move(shape), buffer.data, owner_of(buffer));
}

// Pass one of several buffers in an arena, which share an owner.
template <typename T>
Array<T> array(Buffer<T>&& buffer, const py::capsule& owner) {
  return Array<T>(buffer.size, buffer.data, owner);
}

template <typename T, typename Allocator>
Array<T> array(std::vector<T, Allocator>&& values, std::vector<py::ssize_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<py::ssize_t>(values.size())};
  auto* kept = new std::vector<T, Allocator>(std::move(values));
  const py::capsule owner(kept, [](void* p) { delete static_cast<std::vector<T, Allocator>*>(p); });
  return Array<T>(std::move(shape), kept->data(), owner);
}

// Run work() without Python's lock. On the main thread it ends early if a signal handler raises, as the handler of
// Ctrl-C does, and raises the same exception. On a thread with a current Cancellation it ends early if that is asked
// for.
template <typename Work>
auto without_gil(Work work) {
  using Result = decltype(work());
  if (Call::current() != nullptr) {
    // A signal handler made this call during another call, so the working memory of this thread is in use, and the work
    // runs on another thread.
    const Unlocked unlocked;
    std::optional<Result> result;
    std::exception_ptr error;
    std::thread([&] {
      try {
        result.emplace(work());
      } catch (...) {
        error = std::current_exception();
      }
    }).join();
    if (error) std::rethrow_exception(error);
    return std::move(*result);
  }
  const Cancellation* const cancellation = Cancellation::current();
  if (cancellation != nullptr) cancellation->check();  // Several short calls would never look at it.
  const auto look = [cancellation] {
    if (cancellation != nullptr) cancellation->check();
    if (!on_main_thread()) return;
    const Locked locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  };
  Call call(cancellation != nullptr || on_main_thread() ? std::function<void()>(look) : nullptr);
  try {
    const Unlocked unlocked;
    return work();
  } catch (...) {
    if (call.cause()) std::rethrow_exception(call.cause());
    throw;
  }
}

inline Unit unit_from(const std::string& name) {
  if (name == "characters") return Unit::kCharacters;
  if (name == "words") return Unit::kWords;
  PYCHUNK_CHECK(name == "tokens", "unit must be characters, words or tokens; got '", name, "'");
  return Unit::kTokens;
}

// The functions that bind the parts of the module.
void bind_segment(py::module_& m);
void bind_arrow(py::module_& m);
void bind_encode(py::module_& m);
void bind_json(py::module_& m);
void bind_compression(py::module_& m);
void bind_markup(py::module_& m);
void bind_html(py::module_& m);
void bind_noise(py::module_& m);
void bind_scan(py::module_& m);
void bind_codes(py::module_& m);
void bind_topic(py::module_& m);
void bind_terms(py::module_& m);
void bind_duplicates(py::module_& m);
void bind_levels(py::module_& m);
void bind_cancellation(py::module_& m);
void bind_tokens(py::module_& m);
void bind_sentencepiece(py::module_& m);

struct TopicHead;
// Return the network in an object that bind_topic() binds as TopicHead, or null for None. It lives as long as that
// object.
const TopicHead* topic_head_of(const py::object& kept);

}  // namespace pychunk
