// Hard-wrapped text: documents most of whose lines are filled to a common width (e-mail, a wrapped README).
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

// The width that the document's lines are filled to, in characters, or 0 where it is not wrapped. line_breaks are
// the offsets of its line feeds, rising. A line is full where the next line's first word would not have fitted. The
// document is wrapped where at least three lines are followed by another of their block and nearly all of those are
// full, or 3 in 4 of them are nearly so and few begin with a capital; not where most begin and end as records do.
int64_t wrap_width(std::string_view text, const std::vector<int64_t>& line_breaks);

// Whether the line at whose feed `at` is ends in a letter and a hyphen, and the next one goes on in a small letter.
bool hyphen_parts(std::string_view text, int64_t at);

// Whether the line feed at `at` still separates in a document of that width: a blank line, a list item, a
// heading or a table row lies on either side of it, or the line is short. Of a width of 0 no line is.
bool line_break_separates(std::string_view text, int64_t at, int64_t width);

}  // namespace pychunk
