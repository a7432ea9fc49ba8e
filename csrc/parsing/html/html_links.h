// The links and images of pages in Markdown. pychunk/_engine/reference/parsing/html_links.py does the same.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "parsing/html/html_attributes.h"

namespace pychunk::html {

// Return whether a link's target is an image.
bool is_picture(const Attributes& attributes, std::string& scratch);
// Return the alternative text of an image, or an empty text if it is not informative. In a heading, one word is
// informative enough.
std::string alternative(const Attributes& attributes, bool heads, std::string& scratch);
// Return the target of a link for Markdown. It is empty if the target is a place on the page or a script.
std::string link_target(const Attributes& attributes, std::string& scratch);
// Write the end of `line`, from `at` on, as the text of a Markdown link to `target`, unless it is blank or has several
// lines. Return the number of characters that this adds.
int64_t write_target(std::string& line, size_t at, std::string_view target);

}  // namespace pychunk::html
