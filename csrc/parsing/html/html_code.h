// The code of pages: the class names of line numbers and of cells of code, and the language.
#pragma once
#include <array>
#include <string_view>

#include "parsing/html/html_attributes.h"

namespace pychunk::html {

// The classes of line numbers, of buttons that copy code, and of table cells that contain code.
constexpr std::array<std::string_view, 11> kLineNumbers{
    "lineno",   "linenos",         "linenodiv",        "ln", "gutter", "rouge-gutter", "line-number", "line-numbers",
    "blob-num", "hljs-ln-numbers", "line-numbers-rows"};
constexpr std::array<std::string_view, 3> kCopyButtons{"copybtn", "copy-btn", "copy-button"};
constexpr std::array<std::string_view, 4> kCodeCells{"code", "blob-code", "rouge-code", "hljs-ln-code"};
constexpr std::array<std::string_view, 1> kCodeLine{"line"}, kListing{"fragment"};

// Return whether a text consists only of line numbers. Pages also use the class "line-numbers" for the code itself.
bool is_numbers(std::string_view text);
// Return whether an element may name a language. Most do not, and cost only one look at each attribute.
bool may_name_language(const Attributes& attributes);
// Return the language that an element names for its code, by a class such as "language-python" or by `data-lang`. It is
// empty if the element names none.
std::string_view language_in(const Attributes& attributes);

}  // namespace pychunk::html
