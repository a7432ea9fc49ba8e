// Code of pages: what is named for numbers of lines, for cells of code, for its language.
#pragma once
#include <array>
#include <string_view>

#include "parsing/html/html_attributes.h"

namespace pychunk::html {

// Classes of the numbers of lines of code, of buttons that copy it, and of cells that hold it.
constexpr std::array<std::string_view, 11> kLineNumbers{
    "lineno",   "linenos",         "linenodiv",        "ln", "gutter", "rouge-gutter", "line-number", "line-numbers",
    "blob-num", "hljs-ln-numbers", "line-numbers-rows"};
constexpr std::array<std::string_view, 3> kCopyButtons{"copybtn", "copy-btn", "copy-button"};
constexpr std::array<std::string_view, 4> kCodeCells{"code", "blob-code", "rouge-code", "hljs-ln-code"};
constexpr std::array<std::string_view, 1> kCodeLine{"line"}, kListing{"fragment"};

// Whether a text is numbers of lines and nothing else: pages also name the code itself "line-numbers".
bool is_numbers(std::string_view text);
// Whether an element may say a language: most do not, and cost one look at each attribute.
bool may_name_language(const Attributes& attributes);
// The language that an element says its code is in, by a class as "language-python" or by `data-lang`; empty: none.
std::string_view language_in(const Attributes& attributes);

}  // namespace pychunk::html
