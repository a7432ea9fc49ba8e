// What dialects of Markdown add to CommonMark, as single lines say it: mathematics, footnotes, definitions, MDX.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

// $$, \[, and the environments of TeX that are mathematics.
constexpr int kFormulas = 32;

// What opens a formula at the beginning of a line.
struct FormulaMark {
  int kind = -1;  // below kFormulas; -1: nothing does
  size_t length = 0;
};
FormulaMark formula_mark(std::string_view line);

// The byte of a line at or after `from` at which a formula of a kind is closed; npos: it is not.
size_t formula_close(int kind, std::string_view line, size_t from);

// Whether a formula that ends in its first line is alone in it, and more than a word: "\[x = 1\]", not "\[note\]".
bool is_lone_formula(int kind, std::string_view line, size_t from, size_t close);

// The bytes of "[^label]:" at the beginning of a line, 0: there is none.
size_t footnote_mark(std::string_view line);

// Whether a line begins a definition: ":", white space, text.
bool begins_definition(std::string_view line);

// Whether a line is JavaScript as MDX has it between paragraphs: an import, an export.
bool begins_module(std::string_view line);

// Whether a line is a key of YAML, TOML with its value.
bool is_front_matter_key(std::string_view line);

}  // namespace pychunk
