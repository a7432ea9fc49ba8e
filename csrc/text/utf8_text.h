// A document as characters at byte offsets, read forwards or backwards. The text must be valid UTF-8.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "text/utf8.h"

namespace pychunk {

inline const uint8_t* as_bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

// Returns the bytes [begin, end) of text.
inline std::string_view slice(std::string_view text, int64_t begin, int64_t end) {
  return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

int64_t count_characters(std::string_view text);

// Decodes the character that begins at text[i].
[[gnu::always_inline]] inline Decoded decode_utf8(std::string_view text, int64_t i) {
  return decode_utf8(as_bytes(text) + i);
}

// Returns the length in bytes of the white-space character that begins at text[i], or 0 if there is none.
[[gnu::always_inline]] inline int space_length(std::string_view text, int64_t i) {
  const auto [c, length] = decode_utf8(text, i);
  return is_space(c) ? length : 0;
}

// The bytes of ASCII that are no white space.
inline constexpr auto kInAsciiWords = [] {
  std::array<bool, 256> table{};
  for (char32_t c = 0; c < 0x80; ++c) table[c] = !is_space(c);
  return table;
}();

// Returns where the characters from text[i] on that are no white space end.
inline int64_t word_end(std::string_view text, int64_t i) {
  const auto size = static_cast<int64_t>(text.size());
  for (;;) {
    while (i < size && kInAsciiWords[as_bytes(text)[i]]) ++i;
    if (i >= size) return size;
    const auto [c, length] = decode_utf8(text, i);
    if (is_space(c)) return i;
    i += length;
  }
}

// Returns where the character before text[i] begins. It requires i > begin, and reads nothing before `begin`.
inline int64_t character_before(std::string_view text, int64_t i, int64_t begin = 0) {
  do --i;
  while (i > begin && continues_character(as_bytes(text)[i]));
  return i;
}

// Returns the first character boundary at or after text[i], but at most `end`.
inline int64_t next_border(std::string_view text, int64_t i, int64_t end) {
  while (i < end && continues_character(as_bytes(text)[i])) ++i;
  return i;
}

// A slice of a text without white space at its ends.
struct Trimmed {
  int64_t begin, end;
  bool empty() const { return begin >= end; }
};

inline int64_t trim_begin(std::string_view text, int64_t begin, int64_t end) {
  for (int length; begin < end && (length = space_length(text, begin)) > 0;) begin += length;
  return begin;
}
inline int64_t trim_end(std::string_view text, int64_t begin, int64_t end) {
  while (end > begin) {
    const int64_t last = character_before(text, end, begin);
    if (space_length(text, last) == 0) break;
    end = last;
  }
  return end;
}
inline Trimmed trim(std::string_view text, int64_t begin, int64_t end) {
  begin = trim_begin(text, begin, end);
  return {begin, trim_end(text, begin, end)};
}

struct Utf8Text {
  explicit Utf8Text(std::string_view bytes) : text(bytes), size(static_cast<int64_t>(bytes.size())) {}

  char byte(int64_t i) const { return text[static_cast<size_t>(i)]; }
  bool is_byte(int64_t i, char c) const { return i >= 0 && i < size && byte(i) == c; }
  char32_t at(int64_t i, int& length) const {
    const Decoded found = decode_utf8(text, i);
    length = found.length;
    return found.code_point;
  }
  char32_t at(int64_t i) const { return i < size ? decode_utf8(text, i).code_point : 0; }  // 0 past the end
  // Returns where the character before i begins. It requires i > 0.
  int64_t before(int64_t i) const { return character_before(text, i); }
  int space_at(int64_t i) const { return i < size ? space_length(text, i) : 0; }
  int space_before(int64_t i) const {
    if (i <= 0) return 0;
    const int64_t b = before(i);
    return space_length(text, b) > 0 ? static_cast<int>(i - b) : 0;
  }
  int64_t skip_space(int64_t i) const { return trim_begin(text, i, size); }
  std::string_view slice(int64_t begin, int64_t end) const { return pychunk::slice(text, begin, end); }

  std::string_view text;
  int64_t size;
};

}  // namespace pychunk
