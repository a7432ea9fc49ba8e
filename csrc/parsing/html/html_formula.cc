#include "parsing/html/html_formula.h"

#include <algorithm>

#include "parsing/html/html_scripts.h"

namespace pychunk::html {

namespace {

std::string braced(std::string text) { return is_one_token(text) ? text : "{" + text + "}"; }

std::string grouped(std::string text) {
  const bool word = std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
  return word || is_one_token(text) ? text : "(" + text + ")";
}

}  // namespace

std::string Formula::written(Part& part) {
  const std::string_view name = part.name;
  auto& kids = part.children;
  if (name == "mphantom" || name.starts_with("annotation")) return {};
  if (name == "mspace") return " ";
  if (kids.size() == 2) {
    if (name == "msup" || name == "mover") return kids[0] + "^" + braced(kids[1]);
    if (name == "msub" || name == "munder") return kids[0] + "_" + braced(kids[1]);
    if (name == "mfrac") return grouped(kids[0]) + "/" + grouped(kids[1]);
    if (name == "mroot") return "root(" + kids[1] + ", " + kids[0] + ")";
  }
  if (kids.size() == 3 && (name == "msubsup" || name == "munderover")) {
    return kids[0] + "_" + braced(kids[1]) + "^" + braced(kids[2]);
  }
  std::string text;
  if (name == "msqrt") text = "sqrt(";
  if (name == "mtext") text = " ";
  if (text.empty() && kids.size() == 1 && name != "mtd" && name != "mtr") return std::move(kids[0]);
  for (const std::string& each : kids) text.append(each);
  if (name == "msqrt") text.append(")");
  if (name == "mtext" || name == "mtd") text.append(" ");
  if (name == "mtr") text.append("; ");
  return text;
}

std::string plain_tex(std::string_view written) {
  std::string tex;
  append_words(written, tex);
  for (const std::string_view around : {"{\\displaystyle ", "{\\textstyle "}) {
    if (tex.starts_with(around) && tex.ends_with('}')) {
      tex = tex.substr(around.size(), tex.size() - around.size() - 1);
      break;
    }
  }
  const std::string_view inner = without_space(tex);
  return std::string(inner);
}

}  // namespace pychunk::html
