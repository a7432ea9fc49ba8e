#include "parsing/html/html_attributes.h"

#include "parsing/html/html_text.h"
#include "text/utf8_text.h"

namespace pychunk::html {

namespace {

// Return the value of a style's property, or an empty text if it is not set. The style must be in lower case and
// without spaces.
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

// Return whether a value is zero, such as 0, 0px, 0.0em or 0%.
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

// Return whether a style, in lower case and without spaces, hides an element's text.
bool style_hides(std::string_view style, bool container) {
  const auto has = [&](std::string_view part) { return style.find(part) != style.npos; };
  if (has("display:none") || has("visibility:hidden")) return true;
  // A container with font size 0 hides no text: it only closes the gaps between its parts, which have sizes of their
  // own.
  if (!container && has("font-size:") && is_zero(property_of(style, "font-size"))) return true;
  // An element that fades in is not hidden: it has opacity 0 at first, and names a transition or an animation.
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
