// JSON Lines to columns: strict JSON (RFC 8259) in strict UTF-8, without recursion, and without guessing types; also
// NaN, Infinity and -Infinity, which Python's json writes and reads.
//
// Floor: each byte is read once to find the end of its line, once to check its UTF-8 and once to parse it, and each
// byte of a wanted value is written once: 4 bytes moved for each byte of text. On Wikipedia articles as Python's json
// writes them (an escape every 90 bytes) one core reads 1.0 GB/s, pyarrow.json 0.5.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

// What a value is; a column has one byte of it for each row.
enum class JsonKind : uint8_t { kMissing, kNull, kString, kInteger, kFloat, kBoolean, kArray, kObject, kSurrogate };

// The values of one key: those of a string unescaped, others as they are written. A lone surrogate escape becomes
// U+FFFD and the value's kind kSurrogate.
struct JsonColumn {
  Values<uint8_t> values;
  Values<int64_t> offsets;  // rows + 1
  Values<uint8_t> kinds;    // JsonKind
};

// A line that is no row: its number from 0, the bytes [begin, end) of it, and why.
struct JsonFault {
  int64_t line, begin, end;
  std::string reason;
};

struct JsonRows {
  Values<int64_t> spans;            // of each row: its line's number from 0, and the bytes [begin, end) of it
  std::vector<JsonColumn> columns;  // one for each wanted key
  std::vector<JsonFault> faults;
};

// Levels of arrays and objects that a line may have.
inline constexpr int kJsonDepth = 512;

// Rows of the lines of `data`, each an object; lines end with LF, CR LF or CR, those of nothing but white space are no
// rows. A wanted key that a line has twice is a fault, other keys may repeat.
JsonRows read_json_lines(std::string_view data, const std::vector<std::string>& wanted);

// The keys of the rows in the order of their first appearance, each with the kinds of its values as bits 1 << JsonKind;
// keys with lone surrogates are left out.
std::vector<std::pair<std::string, int>> json_keys(std::string_view data);

}  // namespace pychunk
