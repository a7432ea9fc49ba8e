// The CRC-32 of zlib.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace pychunk {

inline constexpr auto kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
    table[byte] = value;
  }
  return table;
}();

// Returns the CRC-32 of a string whose beginning has the CRC-32 `crc`, and whose other bytes are `bytes`.
constexpr uint32_t crc32_of(std::string_view bytes, uint32_t crc = 0) {
  crc = ~crc;
  for (const char c : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

}  // namespace pychunk
