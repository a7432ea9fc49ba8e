// The rows of a table as JSON objects.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tables/arrow_c.h"

namespace pychunk {

// Returns, for each of the n spans of rows [borders[i], borders[i + 1]), a JSON array with an object for each row.
// `type` and `rows` are a struct array without nulls, as a record batch is passed. A key of an object is the name of a
// column. Numbers of 32 bits have the fewest digits that tell them from others of 32 bits. NaN and infinity are null.
// Throws std::invalid_argument, with the name of the column, if a type has no value in JSON, such as times and bytes.
std::vector<std::string> json_rows(const ArrowSchema& type, const ArrowArray& rows, std::span<const int64_t> borders);

}  // namespace pychunk
