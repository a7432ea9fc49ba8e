// The detection of hard-wrapped text: documents in which most lines are filled to a common width, such as e-mail or a
// wrapped README.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

// Returns the width, in characters, to which the document's lines are filled, or 0 if it is not wrapped. `line_breaks`
// are the increasing offsets of its line feeds. A line is full if the next line's first word would not have fitted.
//
// The function looks at lines that are followed by another line of their block. The document is wrapped if it has at
// least three such lines and nearly all are full. It is also wrapped if 3 in 4 of them are nearly full and few begin
// with a capital. It is not wrapped if most lines begin and end as records do.
int64_t wrap_width(std::string_view text, const std::vector<int64_t>& line_breaks);

// Returns whether a text with this many line feeds has lines too long on average to be wrapped. Its width is then 0.
bool has_long_lines(std::string_view text, size_t line_breaks);

// Returns whether a hyphen divides a word at the line feed at `at`. Then a letter and a hyphen precede it, and a
// lower-case letter begins the next line.
bool hyphen_parts(std::string_view text, int64_t at);

// Returns whether the line feed at `at` is a real line break, and not a wrap, in a document wrapped to `width`. It is
// one if a blank line, list item, heading or table row is on either side, or if the line is short. With a width of 0 no
// line is short.
bool line_break_separates(std::string_view text, int64_t at, int64_t width);

}  // namespace pychunk
