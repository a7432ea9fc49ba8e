#include "parsing/html/html_text.h"

#include <algorithm>

#include "text/utf8_text.h"

namespace pychunk::html {

bool is_blank(std::string_view text) {
  const auto size = static_cast<int64_t>(text.size());
  return trim_begin(text, 0, size) == size;
}

std::string_view without_space(std::string_view text) {
  const Trimmed inner = trim(text, 0, static_cast<int64_t>(text.size()));
  return inner.empty() ? std::string_view{} : slice(text, inner.begin, inner.end);
}

std::string_view without_newlines(std::string_view text) {
  const size_t first = text.find_first_not_of('\n');
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of('\n') - first + 1);
}

void append_words(std::string_view text, std::string& out) {
  const auto size = static_cast<int64_t>(text.size());
  bool first = true;
  for (int64_t i = trim_begin(text, 0, size); i < size;) {
    const int64_t begin = i;
    i = word_end(text, begin);
    if (!first) out.push_back(' ');
    out.append(slice(text, begin, i));
    first = false;
    i = trim_begin(text, i, size);
  }
}

void append_repeated(std::string_view part, int64_t times, std::string& out) {
  for (; times > 0; --times) out.append(part);
}

void append_inset(std::string_view text, std::string_view inset, std::string& out) {
  for (size_t at; (at = text.find('\n')) != text.npos; text.remove_prefix(at + 1)) {
    out.append(text.substr(0, at + 1)).append(inset);
  }
  out.append(text);
}

std::optional<int64_t> number_of(std::string_view text, size_t digits) {
  if (text.empty() || text.size() >= digits) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

std::optional<int64_t> integer_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\f\r"), text.size()));
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const auto value = number_of(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())), 10);
  return value && minus ? -*value : value;
}

}  // namespace pychunk::html
