// The last pass over a page of wikitext, after its brackets: paragraphs, headings, list items and code on lines of
// their own, and the blocks that they make. It equals the reference, pychunk/_engine/reference/parsing/wiki_lines.py.
//
// Lower bound: each byte is read for its line's end and for quotes, copied to its line, and copied once more without
// the marks, so 2 reads and 2 writes. The time is linear in the length of the page.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

// What is outside the text.
struct WikiContext {
  // The texts that were held apart, which replace their marks.
  std::vector<std::string> held;
  // The most blocks of a page that are returned.
  size_t most_blocks = 0;
  // Returns whether a text without letters or digits of ASCII has others.
  std::function<bool(std::string_view)> has_letters;
  // Appends the text of an entity, which is without "&" and ";".
  std::function<void(std::string_view name, std::string& out)> add_entity;
};

// The plain text of a page. Block b has the kind kinds[b], a letter of wiki_lines.py, and lies from start[b] to end[b],
// in characters. If there are too many blocks, none is returned.
struct WikiText {
  bool too_many = false;
  std::string text, kinds;
  std::vector<int64_t> start, end;
};

// Returns the plain text of a page without brackets, and its blocks. Lines of one paragraph are joined with a blank.
// Items that only held something that was left out are left out, too.
WikiText wiki_text(std::string_view page, const WikiContext& context);

}  // namespace pychunk
