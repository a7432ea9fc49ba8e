// Formulas as TeX, or as the text of their MathML elements in a line.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parsing/html/html_scan.h"
#include "parsing/html/html_text.h"

namespace pychunk::html {

// The formula that is being read: its TeX, or the text of its elements.
class Formula {
 public:
  void begin(std::string_view name, const std::vector<HtmlAttribute>& attributes) {
    open_.push_back({std::string(name), {}});
    if (name != "annotation") return;
    for (const auto& [key, value] : attributes) {
      if (key == "encoding") in_tex_ = value.find("tex") != value.npos || value.find("TeX") != value.npos;
    }
  }
  void add(std::string_view text) {
    if (in_tex_) return void(tex_.append(text));
    std::string word;
    append_words(text, word);
    if (word == "\u2062" || word == "\u2063" || word == "\u2064" || word.empty()) return;
    open_.back().children.push_back(word == "\u2061" ? " " : word);
  }
  void end() {
    Part part = std::move(open_.back());
    open_.pop_back();
    in_tex_ = false;
    std::string text = written(part);
    if (open_.empty()) {
      line_ = std::move(text);
    } else if (!text.empty()) {
      open_.back().children.push_back(std::move(text));
    }
  }
  const std::string& tex() const { return tex_; }
  const std::string& line() const { return line_; }

 private:
  struct Part {
    std::string name;
    std::vector<std::string> children;
  };

  static std::string written(Part& part);

  std::vector<Part> open_;
  std::string tex_, line_;
  bool in_tex_ = false;
};

// Return TeX without the commands that MediaWiki puts around it, with one space between words.
std::string plain_tex(std::string_view written);

}  // namespace pychunk::html
