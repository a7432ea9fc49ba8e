#include "tables/json_rows.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/check.h"
#include "common/interrupt.h"

namespace pychunk {
namespace json {
namespace {

// For each byte of a JSON string: 0 if it stands for itself, else the letter after the backslash, 'u' for the others.
constexpr std::array<char, 256> escapes() {
  std::array<char, 256> found{};
  for (int c = 0; c < 0x20; ++c) found[c] = 'u';
  found['"'] = '"';
  found['\\'] = '\\';
  found['\n'] = 'n';
  found['\r'] = 'r';
  found['\t'] = 't';
  found['\b'] = 'b';
  found['\f'] = 'f';
  return found;
}
constexpr std::array<char, 256> kEscapes = escapes();

void append_string(std::string& out, std::string_view text) {
  out += '"';
  const char* plain = text.data();
  const char* const end = plain + text.size();
  for (const char* at = plain; at < end; ++at) {
    const char letter = kEscapes[static_cast<unsigned char>(*at)];
    if (letter == 0) continue;
    out.append(plain, at);
    out += '\\';
    out += letter;
    if (letter == 'u') {
      out += *at < 0x10 ? "000" : "001";
      out += "0123456789abcdef"[*at & 15];
    }
    plain = at + 1;
  }
  out.append(plain, end);
  out += '"';
}

template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[32];
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) {
      out += "null";
      return;
    }
  }
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end - digits);
  if constexpr (std::is_floating_point_v<Number>) {
    const std::string_view said(digits, end - digits);
    if (said.find_first_of(".e") == said.npos) out += ".0";  // or a reader would take it for a whole number
  }
}

// A writer of the values of one array. Row i is the i-th of the array itself, before its offset.
class Values {
 public:
  explicit Values(const ArrowArray& array)
      : offset_(array.offset),
        valid_(array.null_count != 0 && array.n_buffers > 0 ? static_cast<const uint8_t*>(array.buffers[0]) : nullptr) {
  }
  virtual ~Values() = default;

  void append(std::string& out, int64_t row) const {
    const int64_t at = row + offset_;
    if (valid_ != nullptr && (valid_[at >> 3] >> (at & 7) & 1) == 0) {
      out += "null";
    } else {
      write(out, at);
    }
  }

 protected:
  virtual void write(std::string& out, int64_t at) const = 0;

 private:
  const int64_t offset_;
  const uint8_t* const valid_;
};

using Writer = std::unique_ptr<Values>;
Writer values_of(const ArrowSchema& type, const ArrowArray& array, std::string_view column);

class Nulls final : public Values {
 public:
  using Values::Values;

 protected:
  void write(std::string& out, int64_t) const override { out += "null"; }
};

class Booleans final : public Values {
 public:
  explicit Booleans(const ArrowArray& array) : Values(array), bits_(static_cast<const uint8_t*>(array.buffers[1])) {}

 protected:
  void write(std::string& out, int64_t at) const override { out += bits_[at >> 3] >> (at & 7) & 1 ? "true" : "false"; }

 private:
  const uint8_t* const bits_;
};

template <typename Number>
class Numbers final : public Values {
 public:
  explicit Numbers(const ArrowArray& array) : Values(array), numbers_(static_cast<const Number*>(array.buffers[1])) {}

 protected:
  void write(std::string& out, int64_t at) const override { append_number(out, numbers_[at]); }

 private:
  const Number* const numbers_;
};

template <typename Offset>
class Strings final : public Values {
 public:
  explicit Strings(const ArrowArray& array)
      : Values(array),
        offsets_(static_cast<const Offset*>(array.buffers[1])),
        text_(static_cast<const char*>(array.buffers[2])) {}

 protected:
  void write(std::string& out, int64_t at) const override {
    append_string(out, {text_ + offsets_[at], static_cast<size_t>(offsets_[at + 1] - offsets_[at])});
  }

 private:
  const Offset* const offsets_;
  const char* const text_;
};

// The strings of a dictionary, or other values, by their numbers.
template <typename Number>
class Coded final : public Values {
 public:
  Coded(const ArrowSchema& type, const ArrowArray& array, std::string_view column)
      : Values(array),
        numbers_(static_cast<const Number*>(array.buffers[1])),
        values_(values_of(*type.dictionary, *array.dictionary, column)) {}

 protected:
  void write(std::string& out, int64_t at) const override { values_->append(out, static_cast<int64_t>(numbers_[at])); }

 private:
  const Number* const numbers_;
  const Writer values_;
};

class Lists : public Values {
 public:
  Lists(const ArrowSchema& type, const ArrowArray& array, std::string_view column)
      : Values(array), items_(values_of(*type.children[0], *array.children[0], column)) {}

 protected:
  void write_items(std::string& out, int64_t begin, int64_t end) const {
    out += '[';
    for (int64_t at = begin; at < end; ++at) {
      if (at > begin) out += ',';
      items_->append(out, at);
    }
    out += ']';
  }

 private:
  const Writer items_;
};

template <typename Offset>
class OffsetLists final : public Lists {
 public:
  OffsetLists(const ArrowSchema& type, const ArrowArray& array, std::string_view column)
      : Lists(type, array, column), offsets_(static_cast<const Offset*>(array.buffers[1])) {}

 protected:
  void write(std::string& out, int64_t at) const override { write_items(out, offsets_[at], offsets_[at + 1]); }

 private:
  const Offset* const offsets_;
};

class FixedLists final : public Lists {
 public:
  FixedLists(const ArrowSchema& type, const ArrowArray& array, std::string_view column)
      : Lists(type, array, column), size_(std::atoll(type.format + 3)) {}

 protected:
  void write(std::string& out, int64_t at) const override { write_items(out, at * size_, (at + 1) * size_); }

 private:
  const int64_t size_;
};

class Objects final : public Values {
 public:
  Objects(const ArrowSchema& type, const ArrowArray& array, std::string_view column) : Values(array) {
    for (int64_t i = 0; i < type.n_children; ++i) {
      const std::string_view name = type.children[i]->name;
      std::string key(1, i == 0 ? '{' : ',');
      append_string(key, name);
      key += ':';
      fields_.emplace_back(std::move(key),
                           values_of(*type.children[i], *array.children[i], column.empty() ? name : column));
    }
  }

 protected:
  void write(std::string& out, int64_t at) const override {
    if (fields_.empty()) out += '{';
    for (const auto& [key, values] : fields_) {
      out += key;
      values->append(out, at);
    }
    out += '}';
  }

 private:
  std::vector<std::pair<std::string, Writer>> fields_;
};

// Return a writer for each of the types of whole numbers, by Arrow's letters for them, or null.
template <template <typename> typename Kind, typename... Arguments>
Writer whole_numbers(char letter, const Arguments&... arguments) {
  switch (letter) {
    case 'c':
      return std::make_unique<Kind<int8_t>>(arguments...);
    case 'C':
      return std::make_unique<Kind<uint8_t>>(arguments...);
    case 's':
      return std::make_unique<Kind<int16_t>>(arguments...);
    case 'S':
      return std::make_unique<Kind<uint16_t>>(arguments...);
    case 'i':
      return std::make_unique<Kind<int32_t>>(arguments...);
    case 'I':
      return std::make_unique<Kind<uint32_t>>(arguments...);
    case 'l':
      return std::make_unique<Kind<int64_t>>(arguments...);
    case 'L':
      return std::make_unique<Kind<uint64_t>>(arguments...);
    default:
      return nullptr;
  }
}

Writer values_of(const ArrowSchema& type, const ArrowArray& array, std::string_view column) {
  const std::string_view format = type.format;
  if (type.dictionary != nullptr) return whole_numbers<Coded>(format[0], type, array, column);
  if (format == "+s") return std::make_unique<Objects>(type, array, column);
  if (format == "+l") return std::make_unique<OffsetLists<int32_t>>(type, array, column);
  if (format == "+L") return std::make_unique<OffsetLists<int64_t>>(type, array, column);
  if (format.starts_with("+w:")) return std::make_unique<FixedLists>(type, array, column);
  if (format == "n") return std::make_unique<Nulls>(array);
  if (format == "b") return std::make_unique<Booleans>(array);
  if (format == "f") return std::make_unique<Numbers<float>>(array);
  if (format == "g") return std::make_unique<Numbers<double>>(array);
  if (format == "u") return std::make_unique<Strings<int32_t>>(array);
  if (format == "U") return std::make_unique<Strings<int64_t>>(array);
  Writer numbers = format.size() == 1 ? whole_numbers<Numbers>(format[0], array) : nullptr;
  if (numbers == nullptr) fail("column '", column, "' has values that JSON has not: convert it to text");
  return numbers;
}

}  // namespace
}  // namespace json

std::vector<std::string> json_rows(const ArrowSchema& type, const ArrowArray& rows, std::span<const int64_t> borders) {
  PYCHUNK_CHECK(std::string_view(type.format) == "+s", "rows must be a struct array");
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    PYCHUNK_CHECK(0 <= borders[i] && borders[i] <= borders[i + 1] && borders[i + 1] <= rows.length,
                  "borders must rise from 0 to at most ", rows.length);
  }
  const json::Objects objects(type, rows, "");
  std::vector<std::string> arrays(borders.empty() ? 0 : borders.size() - 1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string& out = arrays[i];
    out += '[';
    for (int64_t row = borders[i]; row < borders[i + 1]; ++row) {
      checkpoint_each(row, 1024);  // about a millisecond
      if (row > borders[i]) out += ',';
      objects.append(out, row);
    }
    out += ']';
  }
  return arrays;
}

}  // namespace pychunk
