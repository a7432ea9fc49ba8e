// The reader of JSON Lines and the writer of rows as JSON, for Python.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "parsing/json_lines.h"
#include "python/bindings.h"
#include "tables/json_rows.h"

namespace pychunk {
namespace {

std::string_view bytes_of(const Array<uint8_t>& data) {
  return {reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.size())};
}

py::tuple read_lines(const Array<uint8_t>& data, const std::vector<std::string>& wanted) {
  JsonRows rows;
  {
    const Unlocked unlocked;
    rows = read_json_lines(bytes_of(data), wanted);
  }
  py::list columns, faults;
  for (JsonColumn& column : rows.columns)
    columns.append(py::make_tuple(array(std::move(column.values)), array(std::move(column.offsets)),
                                  array(std::move(column.kinds))));
  for (const JsonFault& fault : rows.faults)
    faults.append(py::make_tuple(fault.line, fault.begin, fault.end, fault.reason));
  const auto n = static_cast<py::ssize_t>(rows.spans.size() / 3);
  return py::make_tuple(array(std::move(rows.spans), {n, 3}), columns, faults);
}

py::list keys_of(const Array<uint8_t>& data) {
  std::vector<std::pair<std::string, int>> keys;
  {
    const Unlocked unlocked;
    keys = json_keys(bytes_of(data));
  }
  py::list out;
  for (const auto& [key, kinds] : keys) out.append(py::make_tuple(key, kinds));
  return out;
}

// Bytes of Python that are filled without its lock, which is possible because nobody else has them yet.
class NewBytes {
 public:
  explicit NewBytes(size_t size)
      : bytes(py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<py::ssize_t>(size)))) {
    if (!bytes) throw py::error_already_set();
  }
  char* data() const { return PyBytes_AS_STRING(bytes.ptr()); }

  py::bytes bytes;
};

py::list rows_as_json(const py::object& batch, const Array<int64_t>& borders) {
  // The capsules own the memory until they are destroyed.
  const auto both = batch.attr("__arrow_c_array__")().cast<std::pair<py::capsule, py::capsule>>();
  const auto* type = both.first.get_pointer<ArrowSchema>();
  const auto* rows = both.second.get_pointer<ArrowArray>();
  const std::vector<std::string> arrays = without_gil([&] { return json_rows(*type, *rows, view(borders)); });
  std::vector<NewBytes> made;
  made.reserve(arrays.size());
  for (const std::string& each : arrays) made.emplace_back(each.size());
  {
    const Unlocked unlocked;
    for (size_t i = 0; i < arrays.size(); ++i) std::memcpy(made[i].data(), arrays[i].data(), arrays[i].size());
  }
  py::list out;
  for (const NewBytes& each : made) out.append(each.bytes);
  return out;
}

py::bytes joined(const std::vector<py::bytes>& parts) {
  std::vector<std::string_view> views;
  size_t size = 0;
  for (const py::bytes& part : parts) size += views.emplace_back(part).size();
  const NewBytes out(size);
  {
    const Unlocked unlocked;
    char* at = out.data();
    for (const std::string_view each : views) at = std::copy(each.begin(), each.end(), at);
  }
  return out.bytes;
}

}  // namespace

void bind_json(py::module_& m) {
  m.def("read_json_lines", &read_lines, py::arg("data").noconvert(), py::arg("wanted"),
        R"(Read the columns of the wanted keys of JSON Lines, each line one object.

Returns (spans int64[n, 3], columns, faults). spans: the number of each row's line, from 0, and its bytes [begin, end).
columns: for each wanted key (values uint8[], offsets int64[n + 1], kinds uint8[n]). The value of a string is unescaped,
any other is unchanged; kinds index JSON_KINDS. faults: (line, first byte, end, reason) of each line that is neither a
row nor blank.)");
  m.def("json_keys", &keys_of, py::arg("data").noconvert(),
        "Return (key, kinds of its values as bits 1 << index of JSON_KINDS) in the order of first appearance.");
  m.def("json_rows", &rows_as_json, py::arg("batch"), py::arg("borders").noconvert(),
        R"(Return the rows of a record batch as JSON: bytes for each span of rows, an array of objects.

borders int64[n + 1]: the spans are [borders[i], borders[i + 1]).)");
  m.def("joined", &joined, py::arg("parts"), "Return b''.join(parts), which is copied without Python's lock.");
}

}  // namespace pychunk
