#include "html_walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "crc32.h"
#include "html_scan.h"
#include "interrupt.h"
#include "layout.h"
#include "utf8_text.h"

namespace pychunk {
namespace {

// As in pychunk/parsing/html_walk.py.
constexpr int64_t kMostInCell = 1000, kMostCells = 200'000, kMostColumns = 50, kMostRows = 65'534;
// Characters of cells that stand in several places, of one table.
constexpr int64_t kMostRepeated = 200'000;
constexpr int64_t kMostDepth = 32767;
// Items of lists that count down are counted ahead, once for each such list around.
constexpr int64_t kMostReversed = 4;
// Rows of heads that become one.
constexpr size_t kMostHeads = 4;
constexpr int64_t kNamesRead = 1000;
constexpr size_t kWordsOfNames = 24, kInlineSeen = 16;
constexpr char kLineBreak = '\0';

constexpr bool is_small(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
constexpr char to_small(char c) { return is_capital(c) ? static_cast<char>(c + 32) : c; }

int64_t characters_of(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return !continues_character(static_cast<uint8_t>(c)); });
}

bool is_blank(std::string_view text) {
  const auto size = static_cast<int64_t>(text.size());
  return trim_begin(text, 0, size) == size;
}

std::string_view without_space(std::string_view text) {
  const Trimmed inner = trim(text, 0, static_cast<int64_t>(text.size()));
  return inner.empty() ? std::string_view{} : slice(text, inner.begin, inner.end);
}

std::string_view without_newlines(std::string_view text) {
  const size_t first = text.find_first_not_of('\n');
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of('\n') - first + 1);
}

// Appends the words of a text with one blank between two.
void append_words(std::string_view text, std::string& out) {
  const auto size = static_cast<int64_t>(text.size());
  bool first = true;
  for (int64_t i = trim_begin(text, 0, size); i < size;) {
    const int64_t begin = i;
    for (int length; i < size && space_length(text, i) == 0; i += length) length = decode_utf8(text, i).length;
    if (!first) out.push_back(' ');
    out.append(slice(text, begin, i));
    first = false;
    i = trim_begin(text, i, size);
  }
}

void append_repeated(std::string_view part, int64_t times, std::string& out) {
  for (; times > 0; --times) out.append(part);
}

// Appends text, with `inset` behind each of its line breaks.
void append_inset(std::string_view text, std::string_view inset, std::string& out) {
  for (size_t at; (at = text.find('\n')) != text.npos; text.remove_prefix(at + 1)) {
    out.append(text.substr(0, at + 1)).append(inset);
  }
  out.append(text);
}

// A whole number of fewer than `digits` ASCII digits.
std::optional<int64_t> number_of(std::string_view text, size_t digits) {
  if (text.empty() || text.size() >= digits) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

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

// How the items of a list are numbered: by its attribute `type`, or by the style of the same meaning.
enum class ListStyle : char {
  kBullet = '-',
  kDecimal = '1',
  kSmall = 'a',
  kCapital = 'A',
  kSmallRoman = 'i',
  kRoman = 'I'
};

// A whole number as HTML reads it: white space, a sign, digits; what comes after them counts nothing.
std::optional<int64_t> integer_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\f\r"), text.size()));
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  const auto value = number_of(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())), 10);
  return value && minus ? -*value : value;
}

void append_letters(int64_t number, char first, std::string& out) {
  const size_t begin = out.size();
  for (; number > 0; number = (number - 1) / 26) out.push_back(static_cast<char>(first + (number - 1) % 26));
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
}

void append_roman(int64_t number, bool capital, std::string& out) {
  constexpr std::array<std::pair<int64_t, std::string_view>, 13> kParts{{{1000, "M"},
                                                                         {900, "CM"},
                                                                         {500, "D"},
                                                                         {400, "CD"},
                                                                         {100, "C"},
                                                                         {90, "XC"},
                                                                         {50, "L"},
                                                                         {40, "XL"},
                                                                         {10, "X"},
                                                                         {9, "IX"},
                                                                         {5, "V"},
                                                                         {4, "IV"},
                                                                         {1, "I"}}};
  const size_t begin = out.size();
  for (const auto& [value, part] : kParts) {
    for (; number >= value; number -= value) out.append(part);
  }
  if (!capital)
    std::transform(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                   out.begin() + static_cast<std::ptrdiff_t>(begin), to_small);
}

// The mark that a browser shows before an item; letters and Roman numerals have no number below 1.
void append_mark(ListStyle style, int64_t number, std::string& out) {
  if (style == ListStyle::kBullet) {
    out.append("- ");
    return;
  }
  const bool roman = style == ListStyle::kRoman || style == ListStyle::kSmallRoman;
  if (style == ListStyle::kDecimal || number < 1 || (roman && number > 3999)) {
    out.append(std::to_string(number));
  } else if (roman) {
    append_roman(number, style == ListStyle::kRoman, out);
  } else {
    append_letters(number, static_cast<char>(style), out);
  }
  out.append(". ");
}

// The value of `list-style-type`, or of one of the words of `list-style`.
std::optional<ListStyle> list_style_named(std::string_view name) {
  if (name == "decimal") return ListStyle::kDecimal;
  if (name == "lower-alpha" || name == "lower-latin") return ListStyle::kSmall;
  if (name == "upper-alpha" || name == "upper-latin") return ListStyle::kCapital;
  if (name == "lower-roman") return ListStyle::kSmallRoman;
  if (name == "upper-roman") return ListStyle::kRoman;
  if (name == "none" || name == "disc" || name == "circle" || name == "square") return ListStyle::kBullet;
  return std::nullopt;
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

// Whether an element's attributes hide it.
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

// Marks that pages put into headings as links to themselves: no letters, a few at most.
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

// Whether a link is one to the place that it stands at: by its class; or by its target, inside a heading.
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

// Whether one of the words of an element's class is among these.
template <size_t kCount>
bool has_word(const std::vector<HtmlAttribute>& attributes, const std::array<std::string_view, kCount>& wanted) {
  std::string_view rest = value_in(attributes, "class");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t\n\f\r"), rest.size());
    if (std::ranges::find(wanted, rest.substr(0, end)) != wanted.end()) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// Classes of the numbers of lines of code, of buttons that copy it, and of cells that hold it.
constexpr std::array<std::string_view, 11> kLineNumbers{
    "lineno",   "linenos",         "linenodiv",        "ln", "gutter", "rouge-gutter", "line-number", "line-numbers",
    "blob-num", "hljs-ln-numbers", "line-numbers-rows"};
constexpr std::array<std::string_view, 3> kCopyButtons{"copybtn", "copy-btn", "copy-button"};
constexpr std::array<std::string_view, 4> kCodeCells{"code", "blob-code", "rouge-code", "hljs-ln-code"};
constexpr std::array<std::string_view, 1> kCodeLine{"line"}, kListing{"fragment"};

// Whether a text is numbers of lines and nothing else: pages also name the code itself "line-numbers".
bool is_numbers(std::string_view text) {
  while (!text.empty()) {
    const size_t stop = text.find_first_not_of("0123456789 \t\n\f\r.:|");
    if (stop == text.npos) return true;
    if (!text.substr(stop).starts_with("\xC2\xA0")) return false;
    text.remove_prefix(stop + 2);
  }
  return true;
}

// Whether an element may say a language: most do not, and cost one look at each attribute.
bool may_name_language(const std::vector<HtmlAttribute>& attributes) {
  return std::ranges::any_of(attributes, [](const HtmlAttribute& each) {
    return each.name == "class"
               ? each.value.find("lang") != each.value.npos || each.value.find("highlight-") != each.value.npos
               : each.name.starts_with("data-lang");
  });
}

// The language that an element says its code is in, by a class as "language-python" or by `data-lang`; empty: none.
std::string_view language_in(const std::vector<HtmlAttribute>& attributes) {
  const auto known = [](std::string_view name) {
    return !name.empty() && name.size() <= 20 && name != "default" && name != "none" && name != "notranslate" &&
           std::ranges::all_of(name, [](char c) {
             return is_small(to_small(c)) || (c >= '0' && c <= '9') || c == '+' || c == '#' || c == '-' || c == '.' ||
                    c == '_';
           });
  };
  for (const std::string_view name : {"data-lang", "data-language"}) {
    if (const std::string_view value = value_in(attributes, name); known(value)) return value;
  }
  std::string_view rest = value_in(attributes, "class");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t\n\f\r"), rest.size());
    std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    for (const std::string_view prefix : {"language-", "lang-", "highlight-source-", "highlight-"}) {
      if (!word.starts_with(prefix)) continue;
      word.remove_prefix(prefix.size());
      if (known(word)) return word;
      break;
    }
  }
  return {};
}

bool is_naming(std::string_view name) {
  return name == "class" || name == "id" || name == "role" || name == "itemprop" || name == "itemtype" ||
         name == "aria-label" || name == "data-testid";
}

// Hashes of an element's tag and of the words of its names, each word once.
class Names {
 public:
  void append(const HtmlTag& tag, const std::vector<HtmlAttribute>& attributes, std::vector<uint32_t>& out) {
    out.push_back(crc32_of(tag.name, crc32_of("<")));
    names_.clear();
    for (const auto& [name, value] : attributes) {
      if (value.empty() || !is_naming(name)) continue;
      if (!names_.empty()) names_.push_back(' ');
      append_unescaped(value, names_);
      if (names_.size() > 4 * kNamesRead) break;
    }
    if (names_.empty()) return;
    cut();
    append_words_of(out);
  }

 private:
  // The first characters of the names.
  void cut() {
    if (static_cast<int64_t>(names_.size()) <= kNamesRead) return;
    size_t at = 0;
    for (int64_t left = kNamesRead; left > 0 && at < names_.size(); --left) {
      at += static_cast<size_t>(decode_utf8(names_, static_cast<int64_t>(at)).length);
    }
    names_.resize(std::min(at, names_.size()));
  }

  void append_words_of(std::vector<uint32_t>& out) {
    count_ = 0;
    size_t found = 0;
    for (size_t i = 0; i < names_.size() && found < kWordsOfNames;) {
      const size_t begin = i;
      if (is_small(names_[i]) || (is_capital(names_[i]) && i + 1 < names_.size() && is_small(names_[i + 1]))) {
        for (++i; i < names_.size() && is_small(names_[i]);) ++i;
      } else if (is_capital(names_[i])) {
        while (i < names_.size() && is_capital(names_[i])) ++i;
        if (i < names_.size() && is_small(names_[i])) --i;  // the capital of the next word
      } else {
        ++i;
        continue;
      }
      if (i - begin < 2) continue;
      ++found;
      add(begin, i - begin, out);
    }
  }

  void add(size_t begin, size_t size, std::vector<uint32_t>& out) {
    for (size_t i = begin; i < begin + size; ++i) names_[i] = to_small(names_[i]);
    const std::string_view word(names_.data() + begin, size);
    const uint32_t hash = crc32_of(word);
    for (size_t i = 0; i < count_; ++i) {
      if (seen_[i] == hash && seen_words_[i] == word) return;
    }
    seen_[count_] = hash, seen_words_[count_] = word, ++count_;
    out.push_back(hash);
  }

  std::string names_;
  std::array<uint32_t, kWordsOfNames> seen_;
  std::array<std::string_view, kWordsOfNames> seen_words_;
  size_t count_ = 0;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return is_small(c) || is_capital(c); }

// A sign and a number, or one character: what needs no braces as an exponent.
bool is_one_token(std::string_view text) {
  if (characters_of(text) == 1) return true;
  constexpr std::string_view kMinus = "\u2212";
  if (text.starts_with(kMinus)) {
    text.remove_prefix(kMinus.size());
  } else if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return !text.empty() && is_digit(text.front()) && is_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.' || c == ','; });
}

// As in pychunk/parsing/html_walk.py: what is written in place of `text`, of a sup or a sub, after `before`.
std::string script_text(bool raised, bool note, std::string& before, std::string_view text) {
  const std::string own(text);
  const auto any = [&](auto is) { return std::ranges::any_of(text, is); };
  const bool digits = is_digit(text.front()) &&
                      std::ranges::all_of(text, [](char c) { return is_digit(c) || c == ',' || c == '.' || c == ' '; });
  if (raised && (note || (text.starts_with('[') && text.ends_with(']')))) {
    return text.starts_with('[') || text.starts_with('(') ? own : "[" + own + "]";
  }
  if (before.empty() || space_length(before, character_before(before, static_cast<int64_t>(before.size()))) > 0) {
    return own;
  }
  const char base = before.back();
  size_t word = 0;
  while (word < 3 && word < before.size() && is_letter(before[before.size() - 1 - word])) ++word;
  if (raised && digits) {
    for (const std::string_view mark : {".", ",", ";", ":", "!", "?", "\"", "\u201D", "\u2019", "\u00BB", "\u3002"}) {
      if (before.ends_with(mark)) return "[" + own + "]";
    }
    if (!is_digit(base) && (any([](char c) { return c == ','; }))) return "[" + own + "]";
  }
  const bool is_base = is_letter(base) || is_digit(base) || base == ')' || base == ']' || base == '}' || base == '|' ||
                       static_cast<uint8_t>(base) >= 0x80;
  if (!raised) {
    // A fraction with a number before it: 5<sup>1</sup>/<sub>2</sub>.
    size_t end = before.size();
    if (base == '/' || before.ends_with("\u2044")) {
      end -= base == '/' ? 1 : 3;
      size_t begin = end;
      while (begin > 0 && end - begin < 9 && is_digit(before[begin - 1])) --begin;
      if (begin < end && begin > 0 && before[begin - 1] == '^') before[begin - 1] = ' ';
      return own;
    }
  }
  if (!is_base) return own;
  const bool words = characters_of(text) > 1 && std::ranges::all_of(text, [](char c) {
                       return is_letter(c) || c == ' ' || c == '.' || static_cast<uint8_t>(c) >= 0x80;
                     });
  if (raised) {
    static constexpr std::string_view kJoined[] = {
        "a",  "as", "e",  "eme", "er", "ers", "es",  "ie", "lle", "lles", "me", "mes",      "nd",      "o",
        "os", "r",  "rd", "re",  "sm", "st",  "ste", "te", "th",  "tm",   "de", "\u00E8me", "\u00E8re"};
    std::string small(own);
    std::ranges::transform(small, small.begin(), to_small);
    const bool known = std::ranges::find(kJoined, small) != std::end(kJoined);
    if (known && (text.size() > 1 || is_digit(base) || (base == 'n' || base == 'N' || base == 'M' || base == 'D'))) {
      // e<sup>x</sup> is a power, 1<sup>e</sup> and n<sup>o</sup> are words.
      return own;
    }
    for (const std::string_view mark : {"*", "#", "\u2122", "\u2120", "\u00AE", "\u00A9", "\u2020", "\u2021", "\u00A7",
                                        "\u00B0", "\u00BA", "\u00AA"}) {
      if (text.starts_with(mark)) return own;
    }
    if (words && word >= 2) return " " + own;
  } else {
    const bool element = is_capital(base) || base == ')' || base == ']' ||
                         (is_small(base) && before.size() > 1 && is_capital(before[before.size() - 2]));
    if (digits && element) return own;  // H2O
    if (words && word >= 3) return " " + own;
  }
  return (raised ? "^" : "_") + (is_one_token(text) ? own : "{" + own + "}");
}

// Superscripts, subscripts and readings of a line that is being read.
class Scripts {
 public:
  void enter(HtmlKind kind, bool note, const std::string& line) { open_.push_back({kind, note, line.size()}); }
  void see_link(bool fragment) {
    if (!open_.empty()) open_.back().note |= fragment;
  }
  // Whether the line has changed.
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
  // Before text is added to the line: keeps two numbers apart.
  void follow(std::string_view text, std::string& line) {
    if (ends_in_digit_ && !text.empty() && is_digit(text.front())) line.push_back(' ');
    ends_in_digit_ = false;
  }
  // A line has ended.
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

constexpr bool is_script(HtmlKind kind) {
  return kind == HtmlKind::kRaised || kind == HtmlKind::kLowered || kind == HtmlKind::kReading;
}

// Whether a sup is a footnote mark by its class.
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

std::string braced(std::string text) { return is_one_token(text) ? text : "{" + text + "}"; }

// A formula that is being read: its TeX, or its elements in a line.
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

  static std::string grouped(std::string text) {
    const bool word = std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
    return word || is_one_token(text) ? text : "(" + text + ")";
  }

  static std::string written(Part& part) {
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

  std::vector<Part> open_;
  std::string tex_, line_;
  bool in_tex_ = false;
};

// TeX without what MediaWiki puts around it, words with one blank between.
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

// Cells of a table of data, in a grid: a cell that spans rows stands in each of them, as a chunk may begin with any,
// and a head that spans columns beside others names each of them.
struct DataTable {
  struct Row {
    std::vector<std::string> cells;
    int64_t own = 0;  // cells that begin in this row
    bool any_head = false, all_heads = true;
    void add_head(bool head) { any_head |= head, all_heads &= head; }
  };

  void begin_row() {
    end_row();
    rows.emplace_back();
  }

  // Cells span no rows of another group.
  void begin_group() {
    end_row();
    spans_.clear();
  }

  void add(std::string text, bool head, int64_t columns, int64_t down) {
    if (rows.empty()) rows.emplace_back();
    fill(false);
    Row& row = rows.back();
    ++row.own, row.add_head(head), cells += columns;
    const size_t first = row.cells.size(), end = first + static_cast<size_t>(columns);
    if (head && columns > 1) wide_heads_.push_back({first, end});
    if (down > 1) {
      spans_.resize(std::max(spans_.size(), end));
      for (size_t c = first; c < end; ++c) {
        spans_[c] = {static_cast<int64_t>(rows.size()) + down - 1, c == first || head ? text : std::string(), head};
      }
    }
    row.cells.push_back(std::move(text));
    row.cells.resize(end);
  }

  void end_row() {
    if (!rows.empty() && rows.back().own > 0) {
      fill(true);
      Row& row = rows.back();
      for (const auto& [first, end] : wide_heads_) {
        if (row.own == 1) break;
        for (size_t c = first + 1; c < end; ++c) row.cells[c] = repeat(row.cells[first]);
      }
    }
    wide_heads_.clear();
  }

  std::vector<Row> rows;
  std::string caption;
  int64_t link_chars = 0, links = 0, cells = 0;
  bool header = false;

 private:
  struct Span {
    int64_t until = 0;  // the first row, counted from 1, that it does not reach
    std::string text;
    bool head = false;
  };

  // What cells of the rows above put into this row: up to its first free column, or to its end.
  void fill(bool to_end) {
    Row& row = rows.back();
    const auto number = static_cast<int64_t>(rows.size());
    while (!spans_.empty() && spans_.back().until < number) spans_.pop_back();
    while (row.cells.size() < spans_.size() && cells <= kMostCells) {
      const Span& span = spans_[row.cells.size()];
      const bool reached = span.until >= number;
      if (!reached && !to_end) return;
      if (reached) row.add_head(span.head);
      row.cells.push_back(reached ? repeat(span.text) : std::string());
      ++cells;
    }
  }

  // A text again, as long as repeated ones are few: spans of small pages may be many.
  std::string repeat(const std::string& text) {
    repeated_ += characters_of(text);
    return repeated_ <= kMostRepeated ? text : std::string();
  }

  std::vector<Span> spans_;
  std::vector<std::pair<size_t, size_t>> wide_heads_;
  int64_t repeated_ = 0;
};

struct NotAsWritten {};

class Walker {
 public:
  Walker(std::string_view page, HtmlWalk& out) : scanner_(page), out_(out) {}

  void run() {
    for (;;) {
      switch (next()) {
        case HtmlEvent::kText:
          add_text();
          break;
        case HtmlEvent::kStart:
          enter();
          break;
        case HtmlEvent::kEnd:
          leave();
          if (scanner_.depth() == 0) return finish();
          break;
        default:
          break;
      }
    }
  }

 private:
  // What is around a block, and holds for all that is inside.
  struct Around {
    BlockKind kind = BlockKind::kParagraph;
    int64_t level = 0;
    bool hidden = false, term = false;
    int64_t quotes = 0, lists = 0;
    size_t mark = 0, list = 0;  // of the list item, of the list
    int64_t reversed = 0;       // lists around that count down
  };
  enum class Frame : uint8_t { kInline, kLink, kPermalink, kScript, kDrawn, kHidden, kPlain, kChanged };
  struct Open {
    Frame frame;
    int32_t element;
  };
  struct List {
    ListStyle style = ListStyle::kBullet;
    int64_t number = 1, step = 1;  // of the next item
  };
  struct Mark {
    ListStyle style = ListStyle::kBullet;
    int64_t number = 0;
    bool taken = true;
  };

  HtmlEvent next() {
    checkpoint_each(++turns_, 8192);
    const HtmlEvent event = scanner_.next();
    if (event == HtmlEvent::kBroken) throw NotAsWritten{};
    return event;
  }

  // The characters of the text that was read.
  std::string_view read_text() {
    if (!scanner_.escaped() || scanner_.text().find('&') == std::string_view::npos) return scanner_.text();
    unescaped_.clear();
    append_unescaped(scanner_.text(), unescaped_);
    return unescaped_;
  }

  void add_text() {
    const std::string_view text = read_text();
    if (parts_.empty() && is_blank(text)) return;
    if (in_link_ > 0) link_chars_ += characters_of(without_space(text));
    if (after_formula_ && !is_blank(text)) after_formula_ = false;
    scripts_.follow(text, parts_);
    parts_.append(text);
    after_link_ = false;
  }

  enum class Value : uint8_t { kNone, kRead, kFormula };

  // Reads a formula, its visual copy or its image to the end: the text is then in `formula_`.
  Value read_value(const HtmlTag& tag, bool& display) {
    const auto& attributes = scanner_.attributes();
    display = false;
    if (tag.kind == HtmlKind::kMath) {
      read_formula(display);
      return formula_.empty() ? Value::kRead : Value::kFormula;
    }
    if (tag.kind == HtmlKind::kLink) return Value::kNone;
    for (const auto& [name, value] : attributes) {
      if (name != "class") continue;
      if (tag.kind == HtmlKind::kImage) return read_formula_image(value, display);
      if (tag.name == "span" && value.find("katex-") != value.npos) {
        if (after_formula_ && value.find("katex-html") != value.npos) {
          skip();
          return Value::kRead;
        }
        displayed_ |= value.find("katex-display") != value.npos;
      } else if (value.find("mw-editsection") != value.npos && !tag.is(kVoid | kBlockLevel | kDashed)) {
        skip();
        return Value::kRead;
      }
      break;
    }
    return Value::kNone;
  }

  Value read_formula_image(std::string_view names, bool& display) {
    const bool wiki = names.find("mwe-math") != names.npos;
    if (!wiki && names != "tex" && names != "latex" && names != "math") return Value::kNone;
    if (wiki && after_formula_) return Value::kRead;
    display = names.find("fallback-image-display") != names.npos;
    formula_ = plain_tex(value_of("alt"));
    if (formula_.empty()) return Value::kNone;
    formula_ = "$" + formula_ + "$";
    after_formula_ = true;
    return Value::kFormula;
  }

  void read_formula(bool& display) {
    const size_t depth = scanner_.depth();
    display = std::exchange(displayed_, false) || value_of("display") == "block";
    std::string tex(value_of("alttext"));
    Formula formula;
    formula.begin("math", {});
    for (;;) {
      const HtmlEvent event = next();
      if (event == HtmlEvent::kText) formula.add(read_text());
      if (event == HtmlEvent::kStart && !scanner_.tag().is(kVoid)) {
        formula.begin(scanner_.tag().name, scanner_.attributes());
      }
      if (event == HtmlEvent::kEnd) {
        formula.end();
        if (scanner_.depth() < depth) break;
      }
    }
    if (!is_blank(formula.tex())) tex = formula.tex();
    formula_ = plain_tex(tex);
    if (!formula_.empty()) {
      formula_ = "$" + formula_ + "$";
    } else {
      append_words(formula.line(), formula_);
    }
    after_formula_ = !formula_.empty();
  }

  // Adds the formula that was read to the line; one that is set apart is a block.
  void put_formula(bool display) {
    if (display && now_.kind != BlockKind::kHeading && in_link_ == 0) {
      flush();
      if (formula_.starts_with('$')) formula_ = "$" + formula_ + "$";
      parts_.append(formula_);
      return flush();
    }
    if (in_link_ > 0) link_chars_ += characters_of(formula_);
    scripts_.follow(formula_, parts_);
    parts_.append(formula_);
    after_link_ = false;
  }

  void enter() {
    const HtmlTag tag = scanner_.tag();
    if (tag.is(kUnseen)) return skip();
    if (tag.is(kBlockLevel | kDashed)) return enter_block(tag);
    if (tag.kind == HtmlKind::kBreak) {
      if (!parts_.empty()) parts_.push_back(kLineBreak), after_link_ = false, scripts_.follow({}, parts_);
      return;
    }
    const auto& attributes = scanner_.attributes();
    if (!attributes.empty() || tag.kind == HtmlKind::kImage || tag.kind == HtmlKind::kLink) {
      if (inline_count_ < kInlineSeen) names_.append(tag, attributes, inline_), ++inline_count_;
    }
    Frame frame = Frame::kInline;
    if (tag.kind == HtmlKind::kMath || (!attributes.empty() && tag.kind != HtmlKind::kLink)) {
      bool display = false;
      const Value value = read_value(tag, display);
      if (value == Value::kFormula) put_formula(display);
      if (value != Value::kNone) return;
    }
    if (tag.kind == HtmlKind::kLink) {
      // Two links side by side, which nothing but style sets apart.
      if (!parts_.empty() && in_link_ == 0 && after_link_) parts_.push_back(' '), after_link_ = false;
      ++in_link_, ++links_;
      frame = Frame::kLink;
      in_fragment_ = is_fragment(attributes);
      scripts_.see_link(in_fragment_);
      if (is_permalink(attributes, now_.kind == BlockKind::kHeading || now_.kind == BlockKind::kCaption || now_.term)) {
        permalinks_.push_back({parts_.size(), link_chars_});
        frame = Frame::kPermalink;
      }
    } else if (tag.kind == HtmlKind::kDrawn) {
      put_blank();
      frame = Frame::kDrawn;
    } else if (!attributes.empty() && !now_.hidden && hides(tag, attributes, unescaped_) &&
               !has_class(attributes, "mwe-math-mathml")) {
      // What is hidden inside a line is a block of its own: the rest of the line is seen.
      flush();
      now_.hidden = true;
      frame = Frame::kHidden;
    } else if (is_script(tag.kind)) {
      scripts_.enter(tag.kind, (in_link_ > 0 && in_fragment_) || is_note(attributes), parts_);
      after_link_ = false;  // a link inside belongs to the text before
      frame = Frame::kScript;
    }
    open_.push_back({frame, -1});
    if (tag.is(kVoid)) leave();
  }

  // What is to be done when the children of an element are read.
  void leave() {
    const Open top = open_.back();
    open_.pop_back();
    switch (top.frame) {
      case Frame::kInline:
        return;
      case Frame::kLink:
        --in_link_;
        if (!parts_.empty()) after_link_ = true;
        return;
      case Frame::kPermalink:
        --in_link_;
        leave_permalink();
        return;
      case Frame::kDrawn:
        put_blank();
        return;
      case Frame::kScript:
        if (scripts_.leave(parts_)) after_link_ = false;
        return;
      case Frame::kHidden:
        flush();
        now_.hidden = false;
        return;
      case Frame::kPlain:
      case Frame::kChanged:
        leave_block(top.element);
        if (top.frame == Frame::kChanged) now_ = around_.back(), around_.pop_back();
        return;
    }
  }

  // Keeps the words of a drawing apart.
  void put_blank() {
    if (!parts_.empty()) parts_.push_back(' '), after_link_ = false, scripts_.follow({}, parts_);
  }

  // Takes the mark of a link to the place that it stands at out of the text.
  void leave_permalink() {
    const auto [at, link_chars] = permalinks_.back();
    permalinks_.pop_back();
    if (at < parts_.size() && is_permalink_mark(std::string_view(parts_).substr(at))) {
      parts_.resize(at);
      link_chars_ = link_chars, --links_;
    }
    if (!parts_.empty()) after_link_ = true;
  }

  void leave_block(int32_t element) {
    flush();
    out_.last[static_cast<size_t>(element)] = static_cast<int32_t>(out_.parent.size());
    element_ = out_.parent[static_cast<size_t>(element)];
  }

  // Past an element that nobody sees.
  void skip() {
    for (const size_t depth = scanner_.depth(); scanner_.depth() >= depth;) next();
  }

  int32_t add_element() {
    const auto own = static_cast<int32_t>(out_.parent.size());
    out_.parent.push_back(element_);
    out_.last.push_back(own + 1);
    out_.word_offsets.push_back(static_cast<int64_t>(out_.words.size()));
    return own;
  }

  void enter_block(const HtmlTag& tag) {
    flush();
    const auto& attributes = scanner_.attributes();
    const bool hiding = !attributes.empty() && !now_.hidden && hides(tag, attributes, unescaped_);
    names_.append(tag, attributes, out_.words);
    const int32_t own = add_element();
    element_ = own;
    if (!attributes.empty() && may_name_language(attributes)) {
      if (const std::string_view language = language_in(attributes); !language.empty()) {
        language_ = language, language_element_ = own;
      }
    }
    const bool listing = tag.kind == HtmlKind::kOther && has_class(attributes, "fragment") && is_listing();
    const bool special =
        listing || (tag.kind != HtmlKind::kOther && tag.kind != HtmlKind::kRow && tag.kind != HtmlKind::kCell &&
                    tag.kind != HtmlKind::kHeadCell && tag.kind != HtmlKind::kHead);
    const int64_t role_level = tag.kind == HtmlKind::kOther && !attributes.empty() ? level_of_role() : 0;
    if (!special && !hiding && role_level == 0) {
      open_.push_back({Frame::kPlain, own});
      if (tag.is(kVoid)) leave();
      return;
    }
    around_.push_back(now_);
    open_.push_back({Frame::kChanged, own});
    now_.hidden |= hiding;
    bool read = tag.is(kVoid);
    switch (tag.kind) {
      case HtmlKind::kHeading:
        now_.kind = BlockKind::kHeading, now_.level = tag.name[1] - '0';
        break;
      case HtmlKind::kItem: {
        List& list = lists_[now_.list];
        now_.kind = BlockKind::kItem, now_.level = std::max<int64_t>(1, now_.lists);
        now_.mark = marks_.size();
        if (!attributes.empty()) list.number = integer_of(value_of("value")).value_or(list.number);
        marks_.push_back({attributes.empty() ? list.style : style_of_list(list.style), list.number, false});
        list.number += list.step;
        break;
      }
      case HtmlKind::kList:
      case HtmlKind::kOrdered:
        ++now_.lists;
        now_.list = lists_.size();
        lists_.push_back(list_of(tag));
        break;
      case HtmlKind::kForm:
        now_.kind = BlockKind::kForm, now_.level = 0;
        break;
      case HtmlKind::kQuote:
        ++now_.quotes;
        break;
      case HtmlKind::kCaption:
      case HtmlKind::kLegend:
        now_.kind = BlockKind::kCaption, now_.level = 0;
        break;
      case HtmlKind::kVerbatim:
        put_code(language_around());
        read = true;
        break;
      case HtmlKind::kTable:
        read = put_table();
        break;
      case HtmlKind::kTerm:
        now_.term = true;
        break;
      default:
        if (listing) put_code(language_around(), true), read = true;
        break;
    }
    if (role_level > 0) now_.kind = BlockKind::kHeading, now_.level = role_level;
    if (read) leave();
  }

  // An attribute's characters, or nothing where it is missing or empty.
  std::string_view value_of(std::string_view name) {
    for (const auto& attribute : scanner_.attributes()) {
      if (attribute.name != name) continue;
      unescaped_.clear();
      append_unescaped(attribute.value, unescaped_);
      return unescaped_;
    }
    return {};
  }

  // Of a heading by its role, 1 to 6; 0: it is none.
  int64_t level_of_role() {
    const auto& attributes = scanner_.attributes();
    const bool heading = std::ranges::any_of(
        attributes, [](const HtmlAttribute& each) { return each.name == "role" && each.value == "heading"; });
    return heading ? std::clamp<int64_t>(number_of(value_of("aria-level"), 4).value_or(2), 1, 6) : 0;
  }

  // How items are numbered, by the attributes of a list or an item.
  ListStyle style_of_list(ListStyle style) {
    const std::string_view type = value_of("type");
    if (type.size() == 1 && std::string_view("1aAiI").find(type[0]) != std::string_view::npos) {
      style = static_cast<ListStyle>(type[0]);
    }
    std::string& written = unescaped_;
    written.assign(value_of("style"));
    if (written.find("list-style") == written.npos) return style;
    std::ranges::transform(written, written.begin(), to_small);
    // Of several that are known the last holds.
    for (size_t at = 0; (at = written.find("list-style", at)) != written.npos;) {
      const size_t end = std::min(written.find(';', at), written.size());
      const size_t colon = std::min(written.find(':', at), end);
      std::string_view value = std::string_view(written).substr(colon, end - colon);
      for (size_t i = 1; i < value.size();) {
        const size_t stop = std::min(value.find_first_of(" \t\n\f\r!", i), value.size());
        style = list_style_named(value.substr(i, stop - i)).value_or(style);
        i = stop + 1;
      }
      at = end;
    }
    return style;
  }

  List list_of(const HtmlTag& tag) {
    List list;
    const bool ordered = tag.kind == HtmlKind::kOrdered;
    if (ordered) list.style = ListStyle::kDecimal;
    if (scanner_.attributes().empty()) return list;
    list.style = style_of_list(list.style);
    if (!ordered) return list;
    const auto start = integer_of(value_of("start"));
    if (now_.reversed < kMostReversed && has_attribute("reversed")) {
      ++now_.reversed;
      list.step = -1;
      list.number = start ? *start : items_ahead();
    } else {
      list.number = start.value_or(1);
    }
    return list;
  }

  bool has_attribute(std::string_view name) {
    return std::ranges::any_of(scanner_.attributes(), [&](const HtmlAttribute& each) { return each.name == name; });
  }

  // The items of the list that has begun.
  int64_t items_ahead() {
    const HtmlScanner::Place place = scanner_.place();
    const size_t depth = scanner_.depth();
    int64_t items = 0;
    for (;;) {
      const HtmlEvent event = next();
      if (event == HtmlEvent::kEnd && scanner_.depth() < depth) break;
      items += event == HtmlEvent::kStart && scanner_.depth() == depth + 1 && scanner_.tag().kind == HtmlKind::kItem;
    }
    scanner_.back_to(place);
    return items;
  }

  // What was read since the last border becomes a block, or several where empty lines are inside.
  void flush() {
    if (!parts_.empty()) put_parts();
    parts_.clear();
    scripts_.forget();
    for (auto& each : permalinks_) each.at = std::string::npos;
    inline_.clear();
    inline_count_ = 0;
    after_link_ = false;
    links_ = link_chars_ = 0;
  }

  void put_parts() {
    joined_.clear();
    if (parts_.find(kLineBreak) == parts_.npos || now_.kind == BlockKind::kHeading || now_.kind == BlockKind::kForm) {
      std::ranges::replace(parts_, kLineBreak, ' ');
      append_words(parts_, joined_);
      if (!joined_.empty()) put_block(joined_, link_chars_, links_);
      return;
    }
    for (size_t at = 0; at <= parts_.size();) {
      const size_t end = std::min(parts_.find(kLineBreak, at), parts_.size());
      if (at > 0) joined_.push_back('\n');
      append_words(std::string_view(parts_).substr(at, end - at), joined_);
      at = end + 1;
    }
    groups_.clear();
    int64_t total = 0;
    std::string_view rest = without_newlines(joined_);
    for (bool more = true; more;) {
      const size_t at = rest.find("\n\n");
      more = at != rest.npos;
      const std::string_view group = rest.substr(0, at);
      if (more) rest.remove_prefix(at + 2);
      if (without_newlines(group).empty()) continue;
      groups_.push_back({group, characters_of(group)});
      total += groups_.back().characters;
    }
    const int64_t links = links_, link_chars = link_chars_;
    for (const auto& [group, size] : groups_) {
      const int64_t share = std::min(size, link_chars * size / std::max<int64_t>(1, total));
      put_block(without_newlines(group), share, groups_.size() == 1 ? links : (links * size + total - 1) / total);
    }
  }

  void put_block(std::string_view text, int64_t link_chars, int64_t links) {
    BlockKind kind = now_.kind;
    int64_t level = now_.level;
    const int64_t characters = characters_of(text);
    written_.clear();
    if (kind == BlockKind::kHeading) {
      written_.append(static_cast<size_t>(level), '#').append(" ").append(text);
      if (level == 1 && out_.first_heading.empty()) out_.first_heading = text;
    } else {
      write_body(kind, text);
      if (now_.quotes > 0) {
        bars_.clear();
        append_repeated("> ", std::min<int64_t>(now_.quotes, 6), bars_);
        quoted_.assign(bars_);
        append_inset(written_, bars_, quoted_);
        written_.swap(quoted_);
        kind = BlockKind::kQuote, level = now_.quotes;
      } else if (now_.term && kind == BlockKind::kParagraph) {
        kind = BlockKind::kTerm;
      }
    }
    for (size_t i = 0; i < inline_.size(); ++i) {
      const auto end = inline_.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(inline_.begin(), end, *end) == end) out_.words.push_back(*end);
    }
    put(kind, level, characters, std::min(link_chars, characters), links);
  }

  void write_body(BlockKind kind, std::string_view text) {
    const bool item = kind == BlockKind::kItem;
    mark_.clear();
    if (item) {
      Mark& mark = marks_[now_.mark];
      if (!std::exchange(mark.taken, true)) append_mark(mark.style, mark.number, mark_);
    }
    if (now_.lists > 0 && (item || kind == BlockKind::kParagraph)) {
      indent_.assign(static_cast<size_t>(2 * (std::min<int64_t>(now_.lists, 10) - 1)), ' ');
      if (item && mark_.empty()) indent_.append("  ");  // a further paragraph of the item
      written_.append(indent_).append(mark_);
      indent_.append(mark_.size(), ' ');
      append_inset(text, indent_, written_);
    } else {
      written_.append(mark_).append(text);
    }
  }

  // Adds `written_` as a block, whose own words have been added.
  void put(BlockKind kind, int64_t level, int64_t characters, int64_t link_chars, int64_t links) {
    if (!out_.rows.empty()) {
      const bool items = kind == BlockKind::kItem && last_kind_ == BlockKind::kItem;
      out_.text.append(items ? "\n" : "\n\n");
      length_ += items ? 1 : 2;
    }
    last_kind_ = kind;
    const int32_t row = add_element();
    const int64_t size = characters_of(written_);
    out_.rows.insert(out_.rows.end(),
                     {static_cast<int64_t>(kind), std::min(level, kMostDepth), length_, length_ + size});
    out_.facts.insert(out_.facts.end(), {row, static_cast<int32_t>(characters), static_cast<int32_t>(link_chars),
                                         static_cast<int32_t>(links), now_.hidden});
    out_.text.append(written_);
    length_ += size;
  }

  // The language that the block that has begun, or one of the three around it, says its code is in.
  std::string language_around() const {
    int32_t element = element_;
    for (int up = 0; up < 4 && element >= 0; ++up, element = out_.parent[static_cast<size_t>(element)]) {
      if (element == language_element_) return language_;
    }
    return {};
  }

  // Whether the element that was read last is a button that copies code.
  bool is_copy_button(const HtmlTag& tag) const {
    if (tag.name == "button" || tag.name == "clipboard-copy") return true;
    return !tag.is(kVoid) && has_word(scanner_.attributes(), kCopyButtons);
  }

  // Whether the element that has begun holds its code in lines that are elements, as Doxygen writes it.
  bool is_listing() {
    if (!has_word(scanner_.attributes(), kListing) || !scanner_.has_child()) return false;
    const HtmlScanner::Place place = scanner_.place();
    const size_t depth = scanner_.depth();
    HtmlEvent event = next();
    while (event == HtmlEvent::kNothing || (event == HtmlEvent::kText && is_blank(read_text()))) event = next();
    const bool found = event == HtmlEvent::kStart && scanner_.tag().name == "div" && scanner_.depth() > depth &&
                       has_word(scanner_.attributes(), kCodeLine);
    scanner_.back_to(place);
    return found;
  }

  // Whether the table that has begun holds code and the numbers of its lines, and nothing else.
  bool is_code_table() {
    const HtmlScanner::Place place = scanner_.place();
    const size_t depth = scanner_.depth();
    bool numbers = false, codes = false, other = false;
    for (size_t cell = 0; !other;) {
      const HtmlEvent event = next();
      if (event == HtmlEvent::kText) {
        other = cell == 0 && !is_blank(read_text());
      } else if (event == HtmlEvent::kStart) {
        const HtmlTag& tag = scanner_.tag();
        if (tag.kind == HtmlKind::kCell && cell == 0) {
          const bool number = has_word(scanner_.attributes(), kLineNumbers);
          const bool code = !number && has_word(scanner_.attributes(), kCodeCells);
          numbers |= number, codes |= code, other = !number && !code;
          cell = scanner_.depth();
        } else {
          other = tag.kind == HtmlKind::kTable || tag.kind == HtmlKind::kHeadCell || tag.kind == HtmlKind::kCaption;
        }
      } else if (event == HtmlEvent::kEnd) {
        if (scanner_.depth() < depth) break;
        if (scanner_.depth() < cell) cell = 0;
      }
    }
    scanner_.back_to(place);
    return numbers && codes && !other;
  }

  // Text as it is written, up to the end of the element, without the numbers of its lines. What stands between the
  // lines of a listing is none of it.
  void put_code(std::string language, bool listing = false) {
    struct Numbers {
      size_t depth, at;
      int64_t links, linked;
    };
    std::string text;
    std::vector<Numbers> numbers;  // open elements that are named for numbers of lines
    const size_t depth = scanner_.depth();
    size_t unseen = 0;          // how deep the element is whose text is not seen, or 0
    std::vector<size_t> lines;  // the text's sizes where open rows and lines of a listing begin
    int64_t linked = 0, links = 0, in_links = 0;
    const auto end_line = [&] {
      if (!text.empty() && text.back() != '\n') text.push_back('\n');
    };
    for (;;) {
      const HtmlEvent event = next();
      const HtmlTag& tag = scanner_.tag();
      if (event == HtmlEvent::kText) {
        const bool seen = unseen == 0 && !(listing && scanner_.depth() == depth);
        const std::string_view part = seen ? read_text() : std::string_view{};
        linked += in_links * characters_of(part);
        text.append(part);
      } else if (event == HtmlEvent::kStart) {
        if (unseen > 0) continue;
        if (tag.is(kUnseen) || is_copy_button(tag)) {
          unseen = scanner_.depth();
          continue;
        }
        const bool block = scanner_.has_child() && tag.is(kBlockLevel);
        if (block) end_line();
        if (!tag.is(kVoid) && has_word(scanner_.attributes(), kLineNumbers)) {
          numbers.push_back({scanner_.depth(), text.size(), links, linked});
        }
        if (tag.kind == HtmlKind::kLink) ++links, ++in_links;
        if (tag.kind == HtmlKind::kBreak) {
          text.push_back('\n');
        }
        if (tag.kind == HtmlKind::kRow || (listing && scanner_.depth() == depth + 1)) lines.push_back(text.size());
        if (language.empty() && text.empty() && tag.name == "code") language = language_in(scanner_.attributes());
        childless_ = !scanner_.has_child() && !tag.is(kVoid);
        continue;
      } else if (event == HtmlEvent::kEnd) {
        if (scanner_.depth() < depth) break;
        if (unseen > 0) {
          if (scanner_.depth() < unseen) unseen = 0;
        } else {
          if (tag.kind == HtmlKind::kLink) --in_links;
          if (!numbers.empty() && scanner_.depth() < numbers.back().depth) {
            const Numbers& last = numbers.back();
            if (is_numbers(std::string_view(text).substr(last.at))) {
              text.resize(last.at);
              links = last.links, linked = last.linked;
            }
            numbers.pop_back();
          }
          if (tag.kind == HtmlKind::kRow || (listing && scanner_.depth() == depth)) {
            if (!childless_ && !text.empty() && text.size() == lines.back()) text.push_back('\n');
            lines.pop_back();
          }
          if (tag.is(kBlockLevel) && !childless_) end_line();
        }
      }
      childless_ = false;
    }
    const std::string_view inner = without_newlines(text);
    if (is_blank(inner)) return;
    size_t run = 0, longest = 0;
    for (const char c : inner) {
      run = c == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    const std::string fence(std::max<size_t>(3, longest + 1), '`');
    written_.assign(fence).append(language).append("\n").append(inner).append("\n").append(fence);
    const int64_t characters = characters_of(inner);
    put(BlockKind::kCode, 0, characters, std::min(linked, characters), std::min(links, kMostDepth));
  }

  // A table of data as rows with bars: whether it is one.
  bool put_table() {
    if (is_code_table()) {
      put_code(language_around());
      return true;
    }
    const HtmlScanner::Place place = scanner_.place();
    DataTable table;
    after_formula_ = displayed_ = false;
    const bool data = read_table(table);
    after_formula_ = displayed_ = false;
    if (!data) {
      scanner_.back_to(place);
      return false;
    }
    if (!table.caption.empty()) {
      written_ = table.caption;
      out_.words.push_back(crc32_of("<caption"));
      put(BlockKind::kCaption, 0, characters_of(table.caption), 0, 0);
    }
    int64_t width = 0, characters = 0;
    for (const auto& row : table.rows) width = std::max(width, static_cast<int64_t>(row.cells.size()));
    written_.clear();
    const auto write = [&](const std::vector<std::string>& cells) {
      written_.append("|");
      for (int64_t c = 0; c < width; ++c) {
        const bool there = c < static_cast<int64_t>(cells.size());
        written_.append(" ");
        if (there) written_.append(cells[static_cast<size_t>(c)]);
        written_.append(" |");
        if (there) characters += 1 + characters_of(cells[static_cast<size_t>(c)]);
      }
      written_.append("\n");
    };
    size_t first = 0;
    write(table.header ? table.rows[first++].cells : std::vector<std::string>(static_cast<size_t>(width)));
    written_.append("|");
    append_repeated(" --- |", width, written_);
    written_.append("\n");
    for (; first < table.rows.size(); ++first) write(table.rows[first].cells);
    written_.pop_back();
    put(BlockKind::kTable, 0, characters, std::min(table.link_chars, characters), std::min(table.links, kMostDepth));
    return true;
  }

  // Reads the table that has begun, to its end; false for one of layout, which may have been read in part.
  bool read_table(DataTable& table) {
    const size_t depth = scanner_.depth();
    std::string cell, words;
    Scripts scripts;
    bool fragment = false, permalink = false;
    size_t line_at = 0;
    bool in_cell = false, in_head = false;
    int64_t columns = 1, down = 1, in_link = 0, captions = 0;
    for (;;) {
      const HtmlEvent event = next();
      const HtmlTag tag = scanner_.tag();
      if (event == HtmlEvent::kText) {
        const std::string_view text = read_text();
        if (after_formula_ && !is_blank(text)) after_formula_ = false;
        if (in_cell) {
          scripts.follow(text, cell);
          cell.append(text);
          if (in_link > 0) table.link_chars += characters_of(without_space(text));
        } else if (!is_blank(text)) {
          if (captions == 0) return false;
          words.append(text);
        }
      } else if (event == HtmlEvent::kStart) {
        if (tag.is(kLayoutOnly)) return false;
        if (tag.is(kUnseen)) {
          skip();
          continue;
        }
        bool display = false;
        if (const Value value = read_value(tag, display); value != Value::kNone) {
          std::string& line = in_cell ? cell : words;
          if (value == Value::kFormula) scripts.follow(formula_, line), line.append(formula_);
          continue;
        }
        switch (tag.kind) {
          case HtmlKind::kBreak:
            if (in_cell) cell.push_back(' ');
            break;
          case HtmlKind::kRow:
            table.begin_row();
            break;
          case HtmlKind::kCell:
          case HtmlKind::kHeadCell:
            if (in_cell) return false;
            in_cell = true;
            cell.clear();
            scripts.forget();
            columns = std::clamp<int64_t>(integer_of(value_of("colspan")).value_or(1), 1, kMostColumns);
            down = std::clamp<int64_t>(integer_of(value_of("rowspan")).value_or(1), 0, kMostRows);
            if (down == 0) down = kMostRows;  // to the end of its group
            break;
          case HtmlKind::kHead:
            in_head = true;
            table.begin_group();
            break;
          case HtmlKind::kLink:
            ++in_link, ++table.links;
            fragment = is_fragment(scanner_.attributes());
            scripts.see_link(fragment);
            permalink = is_permalink(scanner_.attributes(), true);
            line_at = in_cell ? cell.size() : words.size();
            break;
          case HtmlKind::kDrawn:
            if (in_cell) cell.push_back(' ');
            break;
          case HtmlKind::kRaised:
          case HtmlKind::kLowered:
          case HtmlKind::kReading:
            scripts.enter(tag.kind, (in_link > 0 && fragment) || is_note(scanner_.attributes()),
                          in_cell ? cell : words);
            break;
          default:
            captions += tag.kind == HtmlKind::kCaption;
            if (tag.name == "tbody" || tag.name == "tfoot") table.begin_group();
            if (in_cell && tag.is(kBlockLevel | kDashed)) cell.push_back(' ');
        }
      } else if (event == HtmlEvent::kEnd) {
        if (scanner_.depth() < depth) break;
        captions -= tag.kind == HtmlKind::kCaption;
        if (tag.kind == HtmlKind::kCell || tag.kind == HtmlKind::kHeadCell) {
          joined_.clear();
          append_words(cell, joined_);
          if (characters_of(joined_) > kMostInCell || table.cells > kMostCells) return false;
          std::string text;
          for (const char c : joined_) c == '|' ? text.append("\\|") : text.append(1, c);
          table.add(std::move(text), in_head || tag.kind == HtmlKind::kHeadCell, columns, down);
          in_cell = false;
          scripts.forget();
        } else if (is_script(tag.kind)) {
          scripts.leave(in_cell ? cell : words);
        } else if (tag.kind == HtmlKind::kLink) {
          --in_link;
          std::string& line = in_cell ? cell : words;
          if (permalink && line_at < line.size() && is_permalink_mark(std::string_view(line).substr(line_at))) {
            line.resize(line_at);
          }
          permalink = false;
        } else if (tag.kind == HtmlKind::kDrawn) {
          if (in_cell) cell.push_back(' ');
        } else if (tag.kind == HtmlKind::kHead) {
          in_head = false;
        } else if (in_cell && tag.is(kBlockLevel)) {
          cell.push_back(' ');
        }
      }
    }
    table.end_row();
    append_words(words, table.caption);
    return settle(table);
  }

  // Leaves out empty rows, finds the header; false where what is left is no table of data.
  static bool settle(DataTable& table) {
    auto& rows = table.rows;
    int64_t width = 0, wide = 0;
    bool any_head = false;
    for (const auto& row : rows) {
      width = std::max(width, static_cast<int64_t>(row.cells.size()));
      any_head |= row.any_head;
    }
    std::erase_if(rows, [](const DataTable::Row& row) {
      return row.own == 0 || std::ranges::all_of(row.cells, [](const std::string& text) { return text.empty(); });
    });
    const auto kept = static_cast<int64_t>(rows.size());
    bool beside = false;  // text next to text; a notice with its sign has none
    for (const auto& row : rows) {
      wide += row.cells.size() > 1;
      beside |= std::ranges::count_if(row.cells, [](const std::string& text) { return !text.empty(); }) > 1;
    }
    if (kept < 2 || width < 2 || width * kept > kMostCells || wide * 2 < kept || !beside) return false;
    table.header = rows[0].all_heads || (width > 2 && !any_head);
    join_heads(rows);
    return true;
  }

  // Markdown has one row of heads: those of several are joined for each column, from the top.
  static void join_heads(std::vector<DataTable::Row>& rows) {
    size_t heads = 0;
    while (heads < rows.size() && rows[heads].all_heads) ++heads;
    if (heads < 2 || heads == rows.size() || heads > kMostHeads) return;
    auto& first = rows[0].cells;
    for (size_t r = 1; r < heads; ++r) first.resize(std::max(first.size(), rows[r].cells.size()));
    for (size_t c = 0; c < first.size(); ++c) {
      const std::string* above = &first[c];
      std::string joined = first[c];
      for (size_t r = 1; r < heads; ++r) {
        if (c >= rows[r].cells.size() || rows[r].cells[c].empty() || rows[r].cells[c] == *above) continue;
        above = &rows[r].cells[c];
        if (!joined.empty()) joined.push_back(' ');
        joined.append(*above);
      }
      first[c] = std::move(joined);
    }
    rows.erase(rows.begin() + 1, rows.begin() + static_cast<std::ptrdiff_t>(heads));
  }

  void finish() {
    flush();
    if (!out_.rows.empty()) out_.text.push_back('\n');
  }

  HtmlScanner scanner_;
  HtmlWalk& out_;
  int64_t turns_ = 0;
  // The block that is being read: its text, hashes of its first inline elements, its links.
  std::string parts_;
  bool after_link_ = false, in_fragment_ = false, after_formula_ = false, displayed_ = false;
  std::string formula_;
  Scripts scripts_;
  struct Permalink {
    size_t at;
    int64_t link_chars;
  };
  std::vector<Permalink> permalinks_;
  std::vector<uint32_t> inline_;
  size_t inline_count_ = 0;
  int64_t link_chars_ = 0, links_ = 0, in_link_ = 0;
  // Around it, and the elements above.
  Around now_;
  int32_t element_ = -1;
  std::vector<Open> open_;
  std::vector<Around> around_;
  // Marks of list items, taken by the first block inside.
  std::vector<Mark> marks_{Mark{}};
  std::vector<List> lists_{List{}};
  // What is written.
  BlockKind last_kind_ = BlockKind::kParagraph;
  int64_t length_ = 0;
  bool childless_ = false;
  // The block that named a language last.
  std::string language_;
  int32_t language_element_ = -1;
  struct Group {
    std::string_view text;
    int64_t characters;
  };
  std::vector<Group> groups_;
  Names names_;
  std::string unescaped_, joined_, written_, quoted_, mark_, indent_, bars_;
};

}  // namespace

bool walk_html(std::string_view page, HtmlWalk& out) {
  try {
    Walker(page, out).run();
  } catch (const NotAsWritten&) {
    return false;
  }
  return true;
}

}  // namespace pychunk
