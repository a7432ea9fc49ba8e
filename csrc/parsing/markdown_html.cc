#include "parsing/markdown_html.h"

#include <algorithm>
#include <array>

#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr std::array<std::string_view, 62> kBlockTags{
    "address",  "article",    "aside",  "base",    "basefont", "blockquote", "body",     "caption",  "center",
    "col",      "colgroup",   "dd",     "details", "dialog",   "dir",        "div",      "dl",       "dt",
    "fieldset", "figcaption", "figure", "footer",  "form",     "frame",      "frameset", "h1",       "h2",
    "h3",       "h4",         "h5",     "h6",      "head",     "header",     "hr",       "html",     "iframe",
    "legend",   "li",         "link",   "main",    "menu",     "menuitem",   "nav",      "noframes", "ol",
    "optgroup", "option",     "p",      "param",   "search",   "section",    "summary",  "table",    "tbody",
    "td",       "tfoot",      "th",     "thead",   "title",    "tr",         "track",    "ul"};
static_assert(std::ranges::is_sorted(kBlockTags));
constexpr std::array<std::string_view, 10> kTableTags{"caption", "col",   "colgroup", "table", "tbody",
                                                      "td",      "tfoot", "th",       "thead", "tr"};
constexpr std::array<std::string_view, 4> kRawTags{"pre", "script", "style", "textarea"};

constexpr bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_ascii_alphanumeric(char32_t c) { return is_ascii_letter(c) || (c >= '0' && c <= '9'); }

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::binary_search(names, name);
}

// The states of a tag's reader. A text can often be read in two ways, so the reader is in several states at once, with
// one bit each. It therefore never goes back to try another reading, and examines each character once.
enum TagState : unsigned {
  kName = 1,             // in the name of a start tag
  kSpace = 2,            // in white space, where an attribute may begin
  kAttribute = 4,        // in an attribute's name
  kBehindAttribute = 8,  // in white space after it
  kEquals = 16,          // after its "="
  kBare = 32,            // in a value without quotation marks
  kSingle = 64,
  kDouble = 128,
  kValue = 256,     // after a value in quotation marks
  kSlash = 512,     // after the "/" at the end
  kEndName = 1024,  // in the name of an end tag
  kEndSpace = 2048,
  kDone = 4096,  // after the ">"
};

unsigned after(unsigned state, char32_t c) {
  const bool space = is_space(c);
  unsigned next = 0;
  const auto to = [&](unsigned from, bool when, unsigned where) { next |= (state & from) != 0 && when ? where : 0; };
  to(kName, is_ascii_alphanumeric(c) || c == '-', kName);
  to(kName | kSpace | kAttribute | kBare | kValue, space, kSpace);
  to(kName | kSpace | kAttribute | kBare | kValue, c == '/', kSlash);
  to(kName | kSpace | kAttribute | kBare | kValue | kSlash, c == '>', kDone);
  to(kSpace, is_ascii_letter(c) || c == '_' || c == ':', kAttribute);
  to(kAttribute, is_ascii_alphanumeric(c) || c == '_' || c == '.' || c == ':' || c == '-', kAttribute);
  to(kAttribute | kBehindAttribute, space, kBehindAttribute);
  to(kAttribute | kBehindAttribute, c == '=', kEquals);
  to(kEquals, space, kEquals);
  to(kEquals, c == '\'', kSingle);
  to(kEquals, c == '"', kDouble);
  const bool bare = (c > ' ' || c == 0) && c != '"' && c != '\'' && c != '=' && c != '<' && c != '>' && c != '`';
  to(kEquals | kBare, bare, kBare);
  to(kSingle, true, c == '\'' ? kValue : kSingle);
  to(kDouble, true, c == '"' ? kValue : kDouble);
  to(kEndName, is_ascii_alphanumeric(c) || c == '-', kEndName);
  to(kEndName | kEndSpace, space, kEndSpace);
  to(kEndName | kEndSpace, c == '>', kDone);
  to(kDone, space, kDone);
  return next;
}

// Return whether a line is one tag and white space. i is the beginning of its name.
bool is_tag(std::string_view text, int64_t i, int64_t end, bool closing) {
  if (i >= end || !is_ascii_letter(static_cast<unsigned char>(text[static_cast<size_t>(i)]))) return false;
  unsigned state = closing ? kEndName : kName;
  while (i < end && state != 0) {
    const Decoded c = decode_utf8(text, i);
    state = after(state, c.code_point);
    i += c.length;
  }
  return (state & kDone) != 0;
}

bool holds_closing_tag(std::string_view line) {
  for (size_t i = line.find("</"); i != line.npos; i = line.find("</", i + 2)) {
    for (const std::string_view name : kRawTags) {
      if (line.size() < i + name.size() + 3 || line[i + 2 + name.size()] != '>') continue;
      const bool same = std::equal(name.begin(), name.end(), line.begin() + static_cast<std::ptrdiff_t>(i) + 2,
                                   [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
      if (same) return true;
    }
  }
  return false;
}

}  // namespace

HtmlStart html_start(std::string_view text, int64_t begin, int64_t end) {
  const std::string_view line = slice(text, begin, end);
  if (line.starts_with("<!--")) return {HtmlRule::kComment};
  if (line.starts_with("<?")) return {HtmlRule::kInstruction};
  if (line.starts_with("<![CDATA[")) return {HtmlRule::kCdata};
  if (line.starts_with("<!"))
    return {line.size() > 2 && is_ascii_letter(static_cast<unsigned char>(line[2])) ? HtmlRule::kDeclaration
                                                                                    : HtmlRule::kNone};
  const bool closing = line.starts_with("</");
  const int64_t name_begin = begin + (closing ? 2 : 1);
  std::array<char, 11> lowered{};
  size_t length = 0;
  int64_t i = name_begin;
  for (; i < end && length < lowered.size(); ++i) {
    const char c = text[static_cast<size_t>(i)];
    if (!is_ascii_alphanumeric(static_cast<unsigned char>(c))) break;
    lowered[length++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  const std::string_view name(lowered.data(), length), rest = slice(text, i, end);
  const bool bordered = rest.empty() || rest[0] == '>' || space_length(text, i) > 0;
  if (!closing && bordered && is_one_of(kRawTags, name)) return {HtmlRule::kRawText, name == "pre"};
  if ((bordered || rest.starts_with("/>")) && is_one_of(kBlockTags, name))
    return {HtmlRule::kBlockTag, false, is_one_of(kTableTags, name)};
  return {is_tag(text, name_begin, end, closing) ? HtmlRule::kAnyTag : HtmlRule::kNone};
}

bool html_ends(HtmlRule rule, std::string_view line) {
  switch (rule) {
    case HtmlRule::kRawText:
      return holds_closing_tag(line);
    case HtmlRule::kComment:
      return line.find("-->") != line.npos;
    case HtmlRule::kInstruction:
      return line.find("?>") != line.npos;
    case HtmlRule::kDeclaration:
      return line.find('>') != line.npos;
    case HtmlRule::kCdata:
      return line.find("]]>") != line.npos;
    default:
      return false;
  }
}

HeadingTag heading_tag(std::string_view text, int64_t begin, int64_t end) {
  const std::string_view line = slice(text, begin, end);
  for (size_t i = line.find('<'); i != line.npos && i + 2 < line.size(); i = line.find('<', i + 1)) {
    if ((line[i + 1] != 'h' && line[i + 1] != 'H') || line[i + 2] < '1' || line[i + 2] > '6') continue;
    const size_t after = i + 3;
    if (after < line.size() && line[after] != '>' && line[after] != ' ' && line[after] != '\t') continue;
    return {begin + static_cast<int64_t>(i), begin + static_cast<int64_t>(after), line[i + 2] - '0'};
  }
  return {};
}

int64_t heading_end(std::string_view text, int64_t begin, int64_t end, int level) {
  const std::string_view line = slice(text, begin, end);
  for (size_t i = line.find("</"); i != line.npos && i + 4 < line.size(); i = line.find("</", i + 2))
    if ((line[i + 2] == 'h' || line[i + 2] == 'H') && line[i + 3] == '0' + level && line[i + 4] == '>')
      return begin + static_cast<int64_t>(i) + 5;
  return -1;
}

}  // namespace pychunk
