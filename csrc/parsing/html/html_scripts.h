// Superscripts, subscripts and ruby readings in a line, such as 10^6, H2O and [3].
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "parsing/html/html_scan.h"
#include "parsing/html/html_text.h"

namespace pychunk::html {

constexpr char kLineBreak = '\0';

// Return whether a text is a number with or without a sign, or one character. Such an exponent needs no braces.
bool is_one_token(std::string_view text);

// Return what is written in place of `text`, the content of a sup or sub that follows the text `before`. See
// pychunk/_engine/data/superscripts.py.
std::string script_text(bool raised, bool note, std::string& before, std::string_view text);

constexpr bool is_script(HtmlKind kind) {
  return kind == HtmlKind::kRaised || kind == HtmlKind::kLowered || kind == HtmlKind::kReading;
}

// The superscripts, subscripts and ruby annotations of the current line.
class Scripts {
 public:
  void enter(HtmlKind kind, bool note, const std::string& line) { open_.push_back({kind, note, line.size()}); }
  void see_link(bool fragment) {
    if (!open_.empty()) open_.back().note |= fragment;
  }
  bool any_open() const { return !open_.empty(); }
  // End the innermost superscript, subscript or reading. Return whether the line has changed.
  bool leave(std::string& line) {
    const Script script = open_.back();
    open_.pop_back();
    if (script.at == std::string::npos || script.at > line.size()) return false;
    const std::string_view inside = std::string_view(line).substr(script.at);
    if (is_blank(inside) || inside.find(kLineBreak) != inside.npos) return false;
    const bool spaced = without_space(inside).end() != inside.end();
    text_.clear();
    append_words(inside, text_);
    line.resize(script.at);
    line.append(script.kind == HtmlKind::kReading
                    ? "(" + text_ + ")"
                    : script_text(script.kind == HtmlKind::kRaised, script.note, line, text_));
    if (spaced) line.push_back(' ');
    ends_in_digit_ = is_digit(line.back());
    return true;
  }
  // Add a space if the line ends with the digit of a script, and `text`, which is added next, begins with a digit.
  void follow(std::string_view text, std::string& line) {
    if (ends_in_digit_ && !text.empty() && is_digit(text.front())) line.push_back(' ');
    ends_in_digit_ = false;
  }
  // End the line.
  void forget() {
    for (Script& each : open_) each.at = std::string::npos;
    ends_in_digit_ = false;
  }

 private:
  struct Script {
    HtmlKind kind;
    bool note;
    size_t at;
  };
  std::vector<Script> open_;
  std::string text_;
  bool ends_in_digit_ = false;
};

}  // namespace pychunk::html
