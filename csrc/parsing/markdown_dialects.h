// The additions of Markdown dialects to CommonMark, as far as a single line shows them: mathematics, footnotes,
// definitions, MDX.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// The number of kinds of formula: $$, \[, and the mathematical environments of TeX.
constexpr int kFormulas = 32;

// The mark that opens a formula at the beginning of a line.
struct FormulaMark {
  int kind = -1;  // below kFormulas; -1: no formula
  size_t length = 0;
};
FormulaMark formula_mark(std::string_view line);

// Return the byte of a line, at or after `from`, at which a formula of a kind is closed, or npos if it is not.
size_t formula_close(int kind, std::string_view line, size_t from);

// Return whether a formula that ends in its first line is alone in it, and more than a word: "\[x = 1\]", not
// "\[note\]".
bool is_lone_formula(int kind, std::string_view line, size_t from, size_t close);

// Return the length in bytes of "[^label]:" at the beginning of a line, or 0 if there is none.
size_t footnote_mark(std::string_view line);

// Return whether a line begins a definition, with ":", white space and text.
bool begins_definition(std::string_view line);

// Return whether a line begins a JavaScript import or export, which MDX allows between paragraphs.
bool begins_module(std::string_view line);

// Return whether a line is a key of YAML or TOML with its value.
bool is_front_matter_key(std::string_view line);

}  // namespace pychunk
