#include "parsing/markdown_dialects.h"

#include <algorithm>
#include <array>

namespace pychunk {
namespace {

constexpr size_t kAbsent = std::string_view::npos;

// In the order of their kinds. The names of TeX's environments begin with the third, in increasing order.
constexpr std::array<std::string_view, kFormulas> kNames{
    "$$",      "\\[",       "CD",       "Vmatrix",     "align",  "alignat",      "aligned",   "alignedat",
    "array",   "bmatrix",   "cases",    "displaymath", "dcases", "empheq",       "eqnarray",  "equation",
    "flalign", "gather",    "gathered", "math",        "matrix", "multline",     "multlined", "numcases",
    "pmatrix", "prooftree", "rcases",   "smallmatrix", "split",  "subequations", "tikzcd",    "vmatrix"};
constexpr std::string_view kBegin = "\\begin{", kEnd = "\\end{";

constexpr bool is_inner_space(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_key_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_inner_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_inner_space(text.back())) text.remove_suffix(1);
  return text;
}

// Return the length of "name}" or "name*}" at the beginning, or 0 for another name.
size_t name_length(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return 0;
  const size_t star = text.substr(name.size()).starts_with('*') ? 1 : 0;
  return text.substr(name.size() + star).starts_with('}') ? name.size() + star + 1 : 0;
}

}  // namespace

FormulaMark formula_mark(std::string_view line) {
  for (const int kind : {0, 1})
    if (line.starts_with(kNames[static_cast<size_t>(kind)])) return {kind, 2};
  if (!line.starts_with(kBegin)) return {};
  for (size_t kind = 2; kind < kNames.size(); ++kind)
    if (const size_t length = name_length(line.substr(kBegin.size()), kNames[kind]); length > 0)
      return {static_cast<int>(kind), kBegin.size() + length};
  return {};
}

size_t formula_close(int kind, std::string_view line, size_t from) {
  if (kind < 2) return line.find(kind == 0 ? "$$" : "\\]", from);
  for (size_t at = line.find(kEnd, from); at != kAbsent; at = line.find(kEnd, at + 1))
    if (name_length(line.substr(at + kEnd.size()), kNames[static_cast<size_t>(kind)]) > 0) return at;
  return kAbsent;
}

bool is_lone_formula(int kind, std::string_view line, size_t from, size_t close) {
  const size_t end = kind < 2 ? close + 2 : line.find('}', close) + 1;
  const std::string_view after = without_blanks(line.substr(end));
  return after.find_first_not_of(".,;:") == kAbsent &&
         line.substr(from, close - from).find_first_of("\\^_={}<>+") != kAbsent;
}

size_t footnote_mark(std::string_view line) {
  if (!line.starts_with("[^")) return 0;
  const size_t end = line.find_first_of(" \t[]", 2);
  return end != kAbsent && end > 2 && line.substr(end).starts_with("]:") ? end + 2 : 0;
}

bool begins_definition(std::string_view line) {
  return line.size() > 2 && line[0] == ':' && is_inner_space(line[1]) && !without_blanks(line.substr(1)).empty();
}

bool begins_module(std::string_view line) {
  line = without_blanks(line);
  if (line.starts_with("import ")) {
    if (line == "import {") return true;
    const size_t quote = line.find_first_of("'\"");
    if (quote == kAbsent) return false;
    const size_t close = line.find(line[quote], quote + 1);
    if (close == kAbsent || line.substr(close + 1).find_first_not_of("; \t") != kAbsent) return false;
    const std::string_view names = without_blanks(line.substr(6, quote - 6));
    return names.empty() || names.ends_with(" from");
  }
  if (!line.starts_with("export ")) return false;
  line = without_blanks(line.substr(7));
  for (const std::string_view word :
       {"const ", "let ", "var ", "function ", "class ", "async function ", "{", "* from "})
    if (line.starts_with(word)) return true;
  return line.starts_with("default ") && line.find_first_of("({;") != kAbsent;
}

bool is_front_matter_key(std::string_view line) {
  size_t end = 0;
  while (end < line.size() && (is_key_letter(line[end]) || line[end] == '_' || line[end] == '-' ||
                               (end > 0 && line[end] >= '0' && line[end] <= '9')))
    ++end;
  const std::string_view rest = without_blanks(line.substr(end));
  return end > 0 && (rest.starts_with(':') || rest.starts_with('='));
}

}  // namespace pychunk
