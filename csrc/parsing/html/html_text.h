// Functions on letters, words and numbers in a page's text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pychunk::html {

constexpr bool is_small(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr char to_small(char c) { return is_capital(c) ? static_cast<char>(c + 32) : c; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return is_small(c) || is_capital(c); }

bool is_blank(std::string_view text);
std::string_view without_space(std::string_view text);
std::string_view without_newlines(std::string_view text);
// Append the words of a text, with one space between two words.
void append_words(std::string_view text, std::string& out);
void append_repeated(std::string_view part, int64_t times, std::string& out);
// Append text, with `inset` after each of its line breaks.
void append_inset(std::string_view text, std::string_view inset, std::string& out);
// Return the number that a text of fewer than `digits` ASCII digits denotes, or nothing for any other text.
std::optional<int64_t> number_of(std::string_view text, size_t digits);
// Return an integer as HTML reads it: white space, a sign, digits. Text after the digits is ignored.
std::optional<int64_t> integer_of(std::string_view text);

}  // namespace pychunk::html
