#include "html_attributes.h"

#include "html_scripts.h"
#include "html_text.h"
#include "utf8_text.h"

namespace pychunk::html {

namespace {

constexpr std::array<std::string_view, 6> kPictures{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"};
// As in pychunk/parsing/html_attributes.py.
constexpr int64_t kSaysWords = 3, kSaysCharacters = 6, kSaysMost = 1000, kMostOfTarget = 2000;
constexpr char32_t kNoWords = 0x3000;  // from here on scripts set no words apart

// The value of a style's property, in small letters and without blanks; empty where it is not set.
std::string_view property_of(std::string_view style, std::string_view name) {
  std::string_view found;
  while (!style.empty()) {
    const std::string_view each = style.substr(0, style.find(';'));
    style.remove_prefix(std::min(style.size(), each.size() + 1));
    if (each.size() > name.size() && each.starts_with(name) && each[name.size()] == ':') {
      found = each.substr(name.size() + 1);
      if (found.ends_with("!important")) found.remove_suffix(10);
    }
  }
  return found;
}

// 0, 0px, 0.0em, 0%.
bool is_zero(std::string_view value) {
  const size_t end = std::min(value.find_first_not_of("0."), value.size());
  return end > 0 && value.substr(0, end).find('0') != value.npos && value.find_first_of("123456789") == value.npos &&
         value.find('(') == value.npos;
}

std::string_view plain_color(std::string_view color) {
  if (color == "#fff" || color == "#ffffff" || color == "rgb(255,255,255)") return "white";
  if (color == "#000" || color == "#000000" || color == "rgb(0,0,0)") return "black";
  return color;
}

// Whether a style, in small letters and without blanks, takes an element's text out of sight.
bool style_hides(std::string_view style, bool container) {
  const auto has = [&](std::string_view part) { return style.find(part) != style.npos; };
  if (has("display:none") || has("visibility:hidden")) return true;
  // Containers of size 0 close the gaps between their parts, which have sizes of their own.
  if (!container && has("font-size:") && is_zero(property_of(style, "font-size"))) return true;
  // Pages that fade in begin with opacity 0, and say how.
  if (has("opacity:") && is_zero(property_of(style, "opacity")) && !has("trans") && !has("anim")) return true;
  if (has("text-indent:-") && property_of(style, "text-indent").size() >= 7) return true;
  if (has("position:absolute") || has("position:fixed")) {
    for (const std::string_view side : {"left", "top", "right"}) {
      const std::string_view value = property_of(style, side);
      if (value.starts_with('-') && value.ends_with("px") && value.size() >= 7) return true;
    }
  }
  if (has("color:") && has("background")) {
    const std::string_view color = plain_color(property_of(style, "color"));
    std::string_view ground = property_of(style, "background-color");
    if (ground.empty()) ground = property_of(style, "background");
    return !color.empty() && color != "transparent" && color != "inherit" && color.find('(') == color.npos &&
           color == plain_color(ground);
  }
  return false;
}

}  // namespace

bool hides(const HtmlTag& tag, const std::vector<HtmlAttribute>& attributes, std::string& scratch) {
  const HtmlAttribute* style = nullptr;
  for (const auto& each : attributes) {
    if (each.name == "hidden") return true;
    if (style == nullptr && each.name == "style") style = &each;
  }
  if (style == nullptr) return false;
  scratch.clear();
  append_unescaped(style->value, scratch);
  std::erase(scratch, ' ');
  std::ranges::transform(scratch, scratch.begin(), to_small);
  return style_hides(scratch, tag.is(kBlockLevel | kDashed) && tag.name != "p");
}

bool is_in_line(const Attributes& attributes, std::string& scratch) {
  const std::string_view style = value_in(attributes, "style");
  if (style.find("inline") == style.npos) return false;
  scratch.clear();
  append_unescaped(style, scratch);
  std::erase(scratch, ' ');
  std::ranges::transform(scratch, scratch.begin(), to_small);
  return property_of(scratch, "display") == "inline";
}

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

bool is_permalink_mark(std::string_view text) {
  const auto size = static_cast<int64_t>(text.size());
  if (size > 16) return false;
  for (int64_t i = 0; i < size;) {
    const auto [c, length] = decode_utf8(text, i);
    const bool mark = c < 0x80 ? c == '#' || is_space(c)
                               : c == 0xB6 || c == 0xA7 || c == 0xA0 || (c >= 0x2000 && c <= 0x206F) ||
                                     (c >= 0x2190 && c <= 0x2BFF) || (c >= 0xE000 && c <= 0xF8FF) || c == 0xFE0F ||
                                     c == 0xFEFF || c >= 0x1F000;
    if (!mark) return false;
    i += length;
  }
  return true;
}

bool is_permalink(const std::vector<HtmlAttribute>& attributes, bool heading) {
  for (const auto& [name, value] : attributes) {
    if (heading && name == "href" && value.starts_with('#')) return true;
    if (name != "class") continue;
    if (value.find("anchor") != value.npos) return true;
    if (value.find("link") == value.npos) continue;
    for (const std::string_view each : {"headerlink", "hash-link", "permalink"}) {
      if (value.find(each) != value.npos) return true;
    }
  }
  return false;
}

bool is_note(const std::vector<HtmlAttribute>& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name == "class")
      return value.find("footnote") != value.npos || value.find("reference") != value.npos ||
             value.find("noteref") != value.npos;
  }
  return false;
}

bool is_fragment(const std::vector<HtmlAttribute>& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name == "href") return value.starts_with('#');
  }
  return false;
}

bool has_class(const std::vector<HtmlAttribute>& attributes, std::string_view wanted) {
  for (const auto& [name, value] : attributes) {
    if (name == "class") return value.find(wanted) != value.npos;
  }
  return false;
}

std::string_view value_in(const std::vector<HtmlAttribute>& attributes, std::string_view wanted) {
  for (const auto& [name, value] : attributes) {
    if (name == wanted) return value;
  }
  return {};
}

}  // namespace pychunk::html
