// The conversion of JSON Lines to columns: strict JSON (RFC 8259) in strict UTF-8, without recursion and without
// guessed types. NaN, Infinity and -Infinity, which Python's json writes and reads, are also allowed.
//
// Lower bound on the cost: each byte is read three times, to find the end of its line, to check its UTF-8 and to parse
// it. Each byte of a wanted value is written once. That moves 4 bytes for each byte of text. On Wikipedia articles as
// written by Python's json (an escape every 90 bytes), one core reads 1.0 GB/s. pyarrow.json reads 0.5 GB/s.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

// The type of a value. A column has one byte of it for each row.
enum class JsonKind : uint8_t { kMissing, kNull, kString, kInteger, kFloat, kBoolean, kArray, kObject, kSurrogate };

// The values of one key. Strings are unescaped, other values are as written. A lone surrogate escape becomes U+FFFD,
// and the value gets the kind kSurrogate.
struct JsonColumn {
  Values<uint8_t> values;
  Values<int64_t> offsets;  // rows + 1
  Values<uint8_t> kinds;    // JsonKind
};

// A line that is no row: its number from 0, its bytes [begin, end), and the reason.
struct JsonFault {
  int64_t line, begin, end;
  std::string reason;
};

struct JsonRows {
  Values<int64_t> spans;            // for each row: its line's number from 0, and its bytes [begin, end)
  std::vector<JsonColumn> columns;  // one for each wanted key
  std::vector<JsonFault> faults;
};

// The most levels of arrays and objects in a line.
inline constexpr int kJsonDepth = 512;

// Return the rows of `data`, one for each line, which must be an object. Lines end with LF, CR LF or CR. Lines of only
// white space are no rows. A line that contains a wanted key twice is a fault. Other keys may repeat.
JsonRows read_json_lines(std::string_view data, const std::vector<std::string>& wanted);

// Return the keys of the rows in the order of their first appearance, each with the kinds of its values as bits 1 <<
// JsonKind. Keys with lone surrogates are omitted.
std::vector<std::pair<std::string, int>> json_keys(std::string_view data);

}  // namespace pychunk
