// JSON Lines, for Python.
#include "parsing/json_lines.h"
#include "python/bindings.h"

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
}

}  // namespace pychunk
