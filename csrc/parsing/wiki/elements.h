// The elements of wikitext that must not be parsed, and its comments: they are removed or held apart before brackets
// are read. It equals the reference, pychunk/_engine/reference/parsing/wiki_elements.py.
//
// Lower bound: each byte is read once and copied once. The time is linear: a closing tag that the page lacks is
// searched once for each of 27 names.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace pychunk {

// Returns a page without control characters, comments and elements such as references. Carriage returns become line
// feeds, and a line feed is before and after the page. `opaque` appends what replaces an element whose content is
// shown.
std::string without_elements(
    std::string_view page,
    const std::function<void(std::string_view name, std::string_view content, std::string& out)>& opaque);

}  // namespace pychunk
