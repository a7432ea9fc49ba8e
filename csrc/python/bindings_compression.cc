// Decompression, for Python.
#include "compression/bzip2.h"
#include "python/bindings.h"

namespace pychunk {
namespace {

void feed_bzip2(Bzip2Reader& reader, const Array<uint8_t>& data) {
  reader.feed({reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.size())});
}

py::object next_bzip2(Bzip2Reader& reader) {
  int64_t size = 0;
  {
    const Unlocked unlocked;
    size = reader.next_size();
  }
  if (size < 0) return py::none();
  // The bytes are written into Python's own object: a block can have 47 MB, of which there should not be two copies.
  auto out = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, size));
  if (!out) throw py::error_already_set();
  bool is_good = false;
  {
    const Unlocked unlocked;
    is_good = reader.take(reinterpret_cast<uint8_t*>(PyBytes_AS_STRING(out.ptr())));
  }
  if (!is_good) return py::none();
  return out;
}

}  // namespace

void bind_compression(py::module_& m) {
  py::class_<Bzip2Reader>(m, "Bzip2Reader", "A reader of consecutive bzip2 streams; see csrc/compression/bzip2.h.")
      .def(py::init<>())
      .def("feed", &feed_bzip2, py::arg("data").noconvert(), "Add compressed bytes, of any number.")
      .def("next", &next_bzip2,
           "Return the bytes of the next block, whose checksum matched; None if it needs more compressed bytes or "
           "fails.")
      .def_property_readonly("error", &Bzip2Reader::error, "The reason why next() fails; empty if it does not.")
      .def_property_readonly("stream_begin", &Bzip2Reader::stream_begin,
                             "Where the current stream, or the one that failed, begins in the last fed bytes; may be "
                             "negative.")
      .def_property_readonly("is_unfinished", &Bzip2Reader::is_unfinished, "Whether a stream has begun and not ended.")
      .def_property_readonly("is_proven", &Bzip2Reader::is_proven, "Whether a block or a stream matched its checksum.");
}

}  // namespace pychunk
