// Links and images of pages as Markdown writes them: pychunk/_engine/reference/parsing/html_links.py, which does the
// same.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "parsing/html/html_attributes.h"

namespace pychunk::html {

// Whether a link's target is an image.
bool is_picture(const Attributes& attributes, std::string& scratch);
// The alternative text of an image, empty if it says nothing; one that heads a section may be a word.
std::string alternative(const Attributes& attributes, bool heads, std::string& scratch);
// The target of a link as Markdown has it, empty if it is none to follow: on the page, or a script.
std::string link_target(const Attributes& attributes, std::string& scratch);
// Writes the end of a line as a link of Markdown; not if it is blank, or several lines. Returns how many characters
// that adds.
int64_t write_target(std::string& line, size_t at, std::string_view target);

}  // namespace pychunk::html
