// A document as characters at byte offsets, forwards and backwards. The text is valid UTF-8.
#pragma once
#include <cstdint>
#include <string_view>

#include "text.h"

namespace pychunk {

struct Utf8Text {
  explicit Utf8Text(std::string_view bytes) : text(bytes), size(static_cast<int64_t>(bytes.size())) {}

  char byte(int64_t i) const { return text[static_cast<size_t>(i)]; }
  bool is_byte(int64_t i, char c) const { return i >= 0 && i < size && byte(i) == c; }
  char32_t at(int64_t i, int& length) const { return decode(text, static_cast<size_t>(i), length); }
  char32_t at(int64_t i) const {  // 0 past the end
    int length = 0;
    return i < size ? at(i, length) : 0;
  }
  int64_t before(int64_t i) const {  // where the character before i begins; i > 0
    do --i;
    while (i > 0 && (static_cast<unsigned char>(byte(i)) & 0xC0) == 0x80);
    return i;
  }
  int space_at(int64_t i) const { return i < size ? space_length(text, static_cast<size_t>(i)) : 0; }
  int space_before(int64_t i) const {
    if (i <= 0) return 0;
    const int64_t b = before(i);
    return space_length(text, static_cast<size_t>(b)) > 0 ? static_cast<int>(i - b) : 0;
  }
  int64_t skip_space(int64_t i) const {
    for (int length; i < size && (length = space_at(i)) > 0;) i += length;
    return i;
  }
  std::string_view slice(int64_t begin, int64_t end) const {
    return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  std::string_view text;
  int64_t size;
};

}  // namespace pychunk
