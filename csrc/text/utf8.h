// One character of valid UTF-8: its bytes, and whether it is white space or a line break. White space and line breaks
// are defined only here. Functions on longer texts are in utf8_text.h.
//
// All functions are inlined. A call would take as long as the work. The hot loops are built once per instruction set,
// and must leave no copy for the linker to pick (kernels_isa.cc). For the same reason this header includes only integer
// types.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace pychunk {

struct Decoded {
  char32_t code_point;
  int length;  // in bytes
};

// Decodes the character whose first byte p points to.
[[gnu::always_inline]] constexpr Decoded decode_utf8(const uint8_t* p) {
  if (p[0] < 0x80) return {p[0], 1};
  if (p[0] < 0xE0) return {(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu), 2};
  if (p[0] < 0xF0) return {(p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu), 3};
  return {(p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu), 4};
}

// Writes 1 to 4 bytes at p and returns their number.
[[gnu::always_inline]] constexpr int encode_utf8(char32_t c, uint8_t* p) {
  if (c < 0x80) {
    p[0] = static_cast<uint8_t>(c);
    return 1;
  }
  if (c < 0x800) {
    p[0] = static_cast<uint8_t>(0xC0 | c >> 6);
    p[1] = static_cast<uint8_t>(0x80 | (c & 0x3F));
    return 2;
  }
  if (c < 0x10000) {
    p[0] = static_cast<uint8_t>(0xE0 | c >> 12);
    p[1] = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F));
    p[2] = static_cast<uint8_t>(0x80 | (c & 0x3F));
    return 3;
  }
  p[0] = static_cast<uint8_t>(0xF0 | c >> 18);
  p[1] = static_cast<uint8_t>(0x80 | (c >> 12 & 0x3F));
  p[2] = static_cast<uint8_t>(0x80 | (c >> 6 & 0x3F));
  p[3] = static_cast<uint8_t>(0x80 | (c & 0x3F));
  return 4;
}

// Returns whether a byte is the second or a later one of a character.
[[gnu::always_inline]] constexpr bool continues_character(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Returns exactly what Python's str.isspace returns for one character.
[[gnu::always_inline]] constexpr bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

// Returns whether c is a newline of Unicode (UTS 18, RL1.6): LF, VT, FF, CR, U+0085, U+2028 or U+2029. CR LF counts as
// one newline.
[[gnu::always_inline]] constexpr bool is_newline(char32_t c) {
  return (c >= '\n' && c <= '\r') || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Returns whether c ends a line for Python's str.splitlines: a newline, FS, GS or RS. It then also ends a sentence and
// its paragraph. FS, GS and RS separate records, and readers see no line break there. The separators of recursive
// splitting therefore include only newlines. FS, GS and RS count there only as the sentence ends that they cause.
[[gnu::always_inline]] constexpr bool is_line_break(char32_t c) { return is_newline(c) || (c >= 0x1C && c <= 0x1E); }

// Returns how many characters in [p, end) are breaks. CR LF counts as one.
template <typename IsBreak>
[[gnu::always_inline]] constexpr int count_breaks(const uint8_t* p, const uint8_t* end, IsBreak is_break) {
  int breaks = 0;
  while (p < end) {
    const auto [c, length] = decode_utf8(p);
    p += length;
    if (!is_break(c)) continue;
    ++breaks;
    if (c == '\r' && p < end && *p == '\n') ++p;
  }
  return breaks;
}

}  // namespace pychunk
