// The chunk table for Arrow: the arrays of its columns as one batch, which shares their memory.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "python/arrow_columns.h"
#include "python/bindings.h"

namespace pychunk {
namespace {

using Owner = std::shared_ptr<const void>;

// Return the memory of an array. It is shared if this module allocated it, and copied if another did, because Arrow may
// not hold objects of Python.
Owner memory_of(const py::array& array) {
  const py::object base = array.base();
  if (base && PyCapsule_IsValid(base.ptr(), kSharedMemory) != 0) {
    const auto* owner = static_cast<std::shared_ptr<void>*>(PyCapsule_GetPointer(base.ptr(), kSharedMemory));
    return {*owner, array.data()};
  }
  const auto bytes = static_cast<size_t>(array.nbytes());
  std::shared_ptr<void> copy = allocate_shared(bytes);
  if (bytes > 0) std::memcpy(copy.get(), array.data(), bytes);
  return copy;
}

template <typename T>
Array<T> array_of(const py::handle& value, const std::string& name) {
  if (py::isinstance<Array<T>>(value)) return py::reinterpret_borrow<Array<T>>(value);
  auto found = Array<T>::ensure(value);
  if (!found) {
    PyErr_Clear();
    throw py::type_error("the column " + name + " must be an array of " + std::string(py::str(py::dtype::of<T>())));
  }
  return found;
}

void check_length(int64_t got, int64_t rows, const std::string& name) {
  PYCHUNK_CHECK(got == rows, "the column ", name, " must have ", rows, " rows, got ", got);
}

// Return the values of a column without nulls.
template <typename T>
ArrowColumn values_of(const Array<T>& values) {
  ArrowColumn out;
  out.length = values.size(), out.buffers = 2;
  out.owned[1] = memory_of(values);
  return out;
}

// Return the values of a column. Those of which is_null() is true are null.
template <typename T, typename IsNull>
ArrowColumn with_nulls(const Array<T>& values, IsNull is_null) {
  ArrowColumn out = values_of(values);
  const std::span<const T> all = view(values);
  out.null_count = std::count_if(all.begin(), all.end(), is_null);
  if (out.null_count == 0) return out;
  const std::shared_ptr<void> valid = allocate_shared((all.size() + 7) / 8);
  auto* bits = static_cast<uint8_t*>(valid.get());
  std::memset(bits, 0, (all.size() + 7) / 8);
  for (size_t i = 0; i < all.size(); ++i)
    if (!is_null(all[i])) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << i % 8);
  out.owned[0] = valid;
  return out;
}

ArrowColumn no_integers(int64_t rows) {
  ArrowColumn out;
  out.length = out.null_count = rows, out.buffers = 2;
  const auto bytes = static_cast<size_t>(rows) * sizeof(int64_t);
  const std::shared_ptr<void> zeros = allocate_shared(bytes);
  std::memset(zeros.get(), 0, bytes);
  out.owned[0] = out.owned[1] = zeros;
  return out;
}

// Return strings of one length, which lie next to each other.
ArrowColumn strings_of_length(const py::array& text, int64_t rows, int64_t length, const std::string& name) {
  check_length(text.nbytes(), rows * length, name);
  Buffer<int64_t> offsets(rows + 1);
  for (int64_t i = 0; i <= rows; ++i) offsets[i] = length * i;
  ArrowColumn out;
  out.length = rows, out.buffers = 3;
  out.owned[1] = offsets.memory, out.owned[2] = memory_of(text);
  return out;
}

// Return the strings of a flat text.
ArrowColumn strings_of(const py::array& text, const Array<int64_t>& offsets, const std::string& name) {
  check_offsets(view(offsets), text.nbytes(), name.c_str());
  ArrowColumn out;
  out.length = offsets.size() - 1, out.buffers = 3;
  out.owned[1] = memory_of(offsets), out.owned[2] = memory_of(text);
  return out;
}

// The columns of the chunk table in their order, each with its kind, as pychunk/chunks/chunk_table.py names them.
class ChunkColumns {
 public:
  enum class Kind { kInteger, kOptional, kPosition, kNumber, kLabel, kDigits, kText, kVector };

  explicit ChunkColumns(const py::list& columns) {
    PYCHUNK_CHECK(columns.size() <= 64, "a chunk table has at most 64 columns, got ", columns.size());
    for (const py::handle each : columns) {
      const auto given = py::cast<py::tuple>(each);
      Column column{given[0].cast<std::string>(), given[0], kind_of(given[1].cast<std::string>()), {}, {}, {}, 0};
      column.offsets_key = py::str(column.name + "_offsets");
      take_labels(given[2].cast<std::vector<std::string>>(), column);
      columns_.push_back(std::move(column));
    }
  }

  // Return a batch for Arrow, as a capsule with an ArrowArray, and a bit for each column that it has.
  py::tuple batch(const py::dict& arrays) const {
    ArrowColumn out;
    out.buffers = 1;
    out.children.reserve(columns_.size());
    uint64_t found = 0;
    out.length = py::len(arrays["document_index"]);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      const py::handle value = PyDict_GetItemWithError(arrays.ptr(), column.key.ptr());
      if (!value && column.kind != Kind::kOptional) continue;
      out.children.push_back(column_of(column, value, arrays, out.length));
      check_length(out.children.back().length, out.length, column.name);
      found |= uint64_t{1} << i;
    }
    auto passed = std::make_unique<ArrowArray>();
    pass_to_arrow(std::move(out), *passed);
    // Arrow takes the content of the struct. If it does not come to that, the capsule releases it.
    const py::capsule capsule(passed.release(), [](void* p) {
      const std::unique_ptr<ArrowArray> own(static_cast<ArrowArray*>(p));
      if (own->release != nullptr) own->release(own.get());
    });
    return py::make_tuple(capsule, found);
  }

 private:
  struct Column {
    std::string name;
    py::object key;
    Kind kind;
    py::object offsets_key;
    Owner label_offsets, label_text;
    int64_t labels;
  };

  static Kind kind_of(const std::string& name) {
    const std::pair<const char*, Kind> kinds[] = {{"integer", Kind::kInteger},   {"optional", Kind::kOptional},
                                                  {"position", Kind::kPosition}, {"number", Kind::kNumber},
                                                  {"label", Kind::kLabel},       {"digits", Kind::kDigits},
                                                  {"text", Kind::kText},         {"vector", Kind::kVector}};
    for (const auto& [known, kind] : kinds)
      if (name == known) return kind;
    fail("unknown kind of column '", name, "'");
  }

  static void take_labels(const std::vector<std::string>& labels, Column& column) {
    const std::string text = std::accumulate(labels.begin(), labels.end(), std::string());
    Buffer<int32_t> offsets(static_cast<int64_t>(labels.size()) + 1);
    offsets[0] = 0;
    for (size_t i = 0; i < labels.size(); ++i)
      offsets[static_cast<int64_t>(i) + 1] = offsets[static_cast<int64_t>(i)] + static_cast<int32_t>(labels[i].size());
    Buffer<char> letters(static_cast<int64_t>(text.size()));
    std::copy(text.begin(), text.end(), letters.data);
    column.label_offsets = offsets.memory, column.label_text = letters.memory;
    column.labels = static_cast<int64_t>(labels.size());
  }

  static ArrowColumn column_of(const Column& column, const py::handle& value, const py::dict& arrays, int64_t rows) {
    const std::string& name = column.name;
    switch (column.kind) {
      case Kind::kOptional:
        return value ? values_of(array_of<int64_t>(value, name)) : no_integers(rows);
      case Kind::kInteger:
        return values_of(array_of<int64_t>(value, name));
      case Kind::kPosition:
        return with_nulls(array_of<int64_t>(value, name), [](int64_t at) { return at < 0; });
      case Kind::kNumber:
        return with_nulls(array_of<float>(value, name), [](float number) { return std::isnan(number); });
      case Kind::kLabel: {
        ArrowColumn out = with_nulls(array_of<int8_t>(value, name), [](int8_t label) { return label < 0; });
        out.dictionary = std::make_unique<ArrowColumn>();
        out.dictionary->length = column.labels, out.dictionary->buffers = 3;
        out.dictionary->owned[1] = column.label_offsets, out.dictionary->owned[2] = column.label_text;
        return out;
      }
      case Kind::kDigits:
        return strings_of_length(bytes_in(value, name), rows, 32, name);
      case Kind::kText:
        return strings_of(bytes_in(value, name), array_of<int64_t>(arrays[column.offsets_key], name), name);
      case Kind::kVector: {
        const Array<float> vectors = array_of<float>(value, name);
        PYCHUNK_CHECK(vectors.ndim() == 2, "the column ", name, " must have two dimensions, got ", vectors.ndim());
        ArrowColumn out;
        out.length = vectors.shape(0), out.buffers = 1;
        out.children.push_back(values_of(vectors));
        return out;
      }
    }
    fail("unknown kind of column");
  }

  static py::array bytes_in(const py::handle& value, const std::string& name) {
    const auto array = py::array::ensure(value, py::array::c_style);
    if (!array || array.itemsize() != 1) throw py::type_error("the column " + name + " must be an array of bytes");
    return array;
  }

  std::vector<Column> columns_;
};

}  // namespace

void bind_arrow(py::module_& m) {
  py::class_<ChunkColumns>(m, "ChunkColumns", "The columns of the chunk table, with their kinds.")
      .def(py::init<const py::list&>(), py::arg("columns"))
      .def("batch", &ChunkColumns::batch, py::arg("arrays"),
           "Return (a capsule with an ArrowArray, a bit for each column that it has) of the arrays of the engine.");
}

}  // namespace pychunk
