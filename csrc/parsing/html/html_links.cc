#include "parsing/html/html_links.h"

#include <algorithm>
#include <array>

#include "parsing/html/html_scripts.h"
#include "parsing/html/html_text.h"
#include "text/utf8_text.h"

namespace pychunk::html {

namespace {

constexpr std::array<std::string_view, 6> kPictures{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"};
// The limits of pychunk/_engine/reference/parsing/html_links.py.
constexpr int64_t kSaysWords = 3, kSaysCharacters = 6, kSaysMost = 1000, kMostOfTarget = 2000;
constexpr char32_t kNoWords = 0x3000;  // scripts from here on do not separate words

}  // namespace

bool is_picture(const Attributes& attributes, std::string& scratch) {
  scratch.clear();
  append_unescaped(value_in(attributes, "href"), scratch);
  std::ranges::transform(scratch, scratch.begin(), to_small);
  const std::string_view path = std::string_view(scratch).substr(0, scratch.find_first_of("?#"));
  return std::ranges::any_of(kPictures, [&](std::string_view each) { return path.ends_with(each); });
}

std::string alternative(const Attributes& attributes, bool heads, std::string& scratch) {
  scratch.clear();
  append_unescaped(value_in(attributes, "alt"), scratch);
  std::string text;
  append_words(scratch, text);
  const int64_t characters = count_characters(text);
  const bool says = std::ranges::count(text, ' ') + 1 >= kSaysWords ||
                    (!text.empty() && decode_utf8(text, 0).code_point >= kNoWords && characters >= kSaysCharacters);
  return (says || heads) && characters <= kSaysMost ? text : std::string();
}

std::string link_target(const Attributes& attributes, std::string& scratch) {
  scratch.clear();
  append_unescaped(value_in(attributes, "href"), scratch);
  constexpr std::string_view kSpaces = " \t\n\f\r";
  std::string_view target = scratch;
  target.remove_prefix(std::min(target.find_first_not_of(kSpaces), target.size()));
  while (!target.empty() && kSpaces.find(target.back()) != kSpaces.npos) target.remove_suffix(1);
  std::string small(target.substr(0, 11));
  std::ranges::transform(small, small.begin(), to_small);
  if (target.starts_with('#') || small.starts_with("javascript:") || small.starts_with("data:") ||
      count_characters(target) > kMostOfTarget)
    return {};
  std::string out;
  for (const char c : target) {
    if (kSpaces.find(c) == kSpaces.npos && c != '(' && c != ')' && c != '|') {
      out.push_back(c);
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      out.append({'%', kDigits[static_cast<size_t>(c) >> 4], kDigits[static_cast<size_t>(c) & 15]});
    }
  }
  return out;
}

int64_t write_target(std::string& line, size_t at, std::string_view target) {
  if (target.empty() || at >= line.size()) return 0;
  const std::string text = line.substr(at);
  const std::string_view inside = without_space(text);
  if (inside.empty() || text.find(kLineBreak) != text.npos) return 0;
  const auto first = static_cast<size_t>(inside.data() - text.data());
  line.resize(at);
  line.append(text, 0, first).append("[").append(inside).append("](").append(target).append(")");
  line.append(text, first + inside.size());
  return count_characters(target) + 4;
}

}  // namespace pychunk::html
