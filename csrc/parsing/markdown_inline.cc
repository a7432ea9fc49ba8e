#include "parsing/markdown_inline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/utf8_text.h"

namespace pychunk {
namespace {

constexpr size_t kNowhere = std::string_view::npos;
// The number of searches ahead that may fail.
constexpr int kTries = 32;

// The tags in headings of Markdown. Other names in angle brackets are text, as in "Vec<T>".
constexpr auto kInlineTags = std::to_array<std::string_view>(
    {"a",   "abbr", "acronym", "b",    "big",   "br",     "center", "cite",   "code",   "del",  "details",
     "dfn", "div",  "em",      "font", "h1",    "h2",     "h3",     "h4",     "h5",     "h6",   "hr",
     "i",   "img",  "input",   "ins",  "kbd",   "label",  "mark",   "nobr",   "p",      "path", "picture",
     "q",   "ruby", "s",       "samp", "small", "source", "span",   "strike", "strong", "sub",  "summary",
     "sup", "svg",  "td",      "tt",   "u",     "var",    "video",  "wbr"});
static_assert(std::ranges::is_sorted(kInlineTags));
// Tags that separate words.
constexpr auto kParting = std::to_array<std::string_view>({"br", "dd", "div", "dt", "hr", "li", "p", "td", "th", "tr"});
static_assert(std::ranges::is_sorted(kParting));

using Entity = std::pair<std::string_view, char32_t>;
constexpr auto kEntities = std::to_array<Entity>({
    {"AMP", 0x26},     {"Auml", 0xC4},     {"COPY", 0xA9},   {"Eacute", 0xC9},  {"GT", 0x3E},     {"LT", 0x3C},
    {"Ouml", 0xD6},    {"QUOT", 0x22},     {"REG", 0xAE},    {"Uuml", 0xDC},    {"aacute", 0xE1}, {"agrave", 0xE0},
    {"alpha", 0x3B1},  {"amp", 0x26},      {"apos", 0x27},   {"ast", 0x2A},     {"auml", 0xE4},   {"beta", 0x3B2},
    {"bull", 0x2022},  {"ccedil", 0xE7},   {"cent", 0xA2},   {"check", 0x2713}, {"colon", 0x3A},  {"commat", 0x40},
    {"copy", 0xA9},    {"deg", 0xB0},      {"divide", 0xF7}, {"eacute", 0xE9},  {"egrave", 0xE8}, {"emsp", 0x2003},
    {"ensp", 0x2002},  {"equals", 0x3D},   {"euro", 0x20AC}, {"frac12", 0xBD},  {"ge", 0x2265},   {"gt", 0x3E},
    {"harr", 0x2194},  {"hellip", 0x2026}, {"iacute", 0xED}, {"laquo", 0xAB},   {"larr", 0x2190}, {"lbrace", 0x7B},
    {"ldquo", 0x201C}, {"le", 0x2264},     {"lowbar", 0x5F}, {"lpar", 0x28},    {"lsqb", 0x5B},   {"lsquo", 0x2018},
    {"lt", 0x3C},      {"mdash", 0x2014},  {"micro", 0xB5},  {"middot", 0xB7},  {"mu", 0x3BC},    {"nbsp", 0xA0},
    {"ndash", 0x2013}, {"ne", 0x2260},     {"ntilde", 0xF1}, {"num", 0x23},     {"oacute", 0xF3}, {"ouml", 0xF6},
    {"pi", 0x3C0},     {"plusmn", 0xB1},   {"pound", 0xA3},  {"quot", 0x22},    {"raquo", 0xBB},  {"rarr", 0x2192},
    {"rbrace", 0x7D},  {"rdquo", 0x201D},  {"reg", 0xAE},    {"rpar", 0x29},    {"rsqb", 0x5D},   {"rsquo", 0x2019},
    {"sect", 0xA7},    {"szlig", 0xDF},    {"times", 0xD7},  {"trade", 0x2122}, {"uacute", 0xFA}, {"uuml", 0xFC},
});
static_assert(std::ranges::is_sorted(kEntities, {}, &Entity::first));

constexpr bool is_lower(char32_t c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter_or_digit(char32_t c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr bool is_mark(char32_t c) { return c > ' ' && c < 0x7F && !is_letter_or_digit(c); }
constexpr char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr bool is_gap(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Return a label in the form in which labels are compared: ASCII letters in lower case, one space for white space.
std::string folded(std::string_view label) {
  std::string out;
  for (const char c : label) {
    if (!is_gap(c)) {
      out.push_back(lowered(c));
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

class InlineText {
 public:
  InlineText(std::string_view source, bool is_html, LinkLabels& labels)
      : source_(source), is_html_(is_html), labels_(labels) {}

  void append_to(std::vector<char>& out) {
    while (at_ < source_.size()) step();
    bool any = false;
    for (size_t i = 0; i < text_.size(); ++i) any = any || (!dead_[i] && !is_gap(text_[i]));
    if (!any) return void(out.insert(out.end(), alternative_.begin(), alternative_.end()));
    for (size_t i = 0; i < text_.size(); ++i)
      if (!dead_[i]) out.push_back(text_[i]);
  }

 private:
  struct Opener {
    size_t at;
    size_t count;
  };
  struct Bracket {
    size_t text, source;
    bool is_image, nested;
  };
  struct Tag {
    size_t end = kNowhere;  // the position after it
    std::string name;
    bool closes = false, has_more = false;
  };

  char byte(size_t i) const { return i < source_.size() ? source_[i] : '\0'; }
  bool starts(std::string_view with) const { return source_.substr(at_).starts_with(with); }
  void put(char c) {
    text_.push_back(c);
    dead_.push_back(false);
  }
  void put(std::string_view text) {
    for (const char c : text) put(c);
  }
  // Return the position of a text from a byte on, unless too many searches were in vain.
  size_t ahead(std::string_view wanted, size_t from) {
    if (tries_ == 0) return kNowhere;
    const size_t found = source_.find(wanted, from);
    if (found == kNowhere) --tries_;
    return found;
  }

  void step() {
    const char c = source_[at_];
    if (c == '<') return angle();
    if (c == '&') return entity();
    if (!is_html_) {
      switch (c) {
        case '\\':
          if (is_mark(static_cast<unsigned char>(byte(at_ + 1)))) ++at_;
          return put(source_[at_++]);
        case '`':
          return code();
        case '{':
          if (starts("{/*")) {
            if (const size_t end = ahead("*/}", at_ + 3); end != kNowhere) return void(at_ = end + 3);
          }
          break;
        case '!':
          if (byte(at_ + 1) == '[') return open_bracket(true);
          break;
        case '[':
          if (byte(at_ + 1) == '^' && footnote()) return;
          return open_bracket(false);
        case ']':
          return close_bracket();
        case '*':
        case '_':
        case '~':
          return emphasis(c);
        default:
          break;
      }
    }
    put(c);
    ++at_;
  }

  // ---- code, tags, entities ----

  size_t run(size_t from) const {
    size_t end = from;
    while (byte(end) == source_[from] && end < source_.size()) ++end;
    return end - from;
  }
  void code() {
    const size_t marks = run(at_), begin = at_ + marks;
    size_t end = begin;
    while (tries_ > 0) {
      end = source_.find('`', end);
      if (end == kNowhere) {
        --tries_;
        break;
      }
      const size_t closing = run(end);
      if (closing == marks) {
        std::string_view inside = source_.substr(begin, end - begin);
        if (inside.size() > 2 && is_gap(inside.front()) && is_gap(inside.back()))
          inside = inside.substr(1, inside.size() - 2);
        put(inside);
        at_ = end + marks;
        return;
      }
      end += closing;
    }
    put(source_.substr(at_, marks));
    at_ = begin;
  }

  void angle() {
    if (starts("<!--")) {
      if (const size_t end = ahead("-->", at_ + 4); end != kNowhere) return void(at_ = end + 3);
    }
    if (!is_html_ && autolink()) return;
    const Tag found = tag();
    if (found.end == kNowhere || !is_markup(found)) {
      put('<');
      ++at_;
      return;
    }
    if (std::ranges::binary_search(kParting, std::string_view(found.name))) put(' ');
    if (found.name == "img" && alternative_.empty()) take_alternative(source_.substr(at_, found.end - at_));
    at_ = found.end;
  }
  bool autolink() {
    size_t end = at_ + 1, colon = kNowhere, sign = kNowhere;
    for (; end < source_.size() && !is_gap(source_[end]) && source_[end] != '<' && source_[end] != '>'; ++end) {
      if (source_[end] == ':' && colon == kNowhere) colon = end;
      if (source_[end] == '@' && sign == kNowhere) sign = end;
    }
    if (byte(end) != '>') return false;
    const char first = lowered(byte(at_ + 1));
    bool links =
        colon != kNowhere && is_lower(static_cast<unsigned char>(first)) && colon - at_ >= 3 && colon + 1 < end;
    for (size_t i = at_ + 1; links && i < colon; ++i) {
      const char c = source_[i];
      links = is_letter_or_digit(static_cast<unsigned char>(c)) || c == '+' || c == '.' || c == '-';
    }
    if (!links && (sign == kNowhere || sign == at_ + 1 || sign + 1 == end)) return false;
    put(source_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return true;
  }
  // Return the tag that begins here.
  Tag tag() {
    Tag found;
    size_t i = at_ + 1;
    found.closes = byte(i) == '/';
    if (found.closes) ++i;
    if (!is_lower(static_cast<unsigned char>(lowered(byte(i))))) return found;
    for (; is_letter_or_digit(static_cast<unsigned char>(byte(i))) || byte(i) == '-'; ++i)
      found.name.push_back(lowered(source_[i]));
    if (!is_gap(byte(i)) && byte(i) != '/' && byte(i) != '>') return found;
    for (; i < source_.size() && source_[i] != '>'; ++i) {
      const char c = source_[i];
      if (c == '<') return found;
      found.has_more = found.has_more || c == '=' || c == '/';
      if (c != '"' && c != '\'') continue;
      i = ahead(std::string_view(&source_[i], 1), i + 1);
      if (i == kNowhere) return found;
    }
    if (i < source_.size()) found.end = i + 1;
    return found;
  }
  // Return whether a tag is markup, and not text. In HTML every tag is markup.
  bool is_markup(const Tag& found) {
    if (is_html_) return true;
    const auto* const known = std::ranges::lower_bound(kInlineTags, std::string_view(found.name));
    if (known == kInlineTags.end() || *known != found.name) return false;
    const auto number = static_cast<size_t>(known - kInlineTags.begin());
    if (found.closes) return opened_[number];
    if (found.name == "br") return at_ > 0 && !(is_gap(source_[at_ - 1]) && is_gap(byte(found.end)));
    if (!found.has_more && !is_closed(number, found)) return false;
    opened_[number] = true;
    return true;
  }
  // Return whether the end tag of a name comes later.
  bool is_closed(size_t number, const Tag& found) {
    size_t& last = last_end_[number];
    if (last == 0) {
      const std::string wanted = "</" + found.name;
      const auto same = [](char a, char b) { return lowered(a) == b; };
      const auto where = std::find_end(source_.begin(), source_.end(), wanted.begin(), wanted.end(), same);
      last = where == source_.end() ? 1 : static_cast<size_t>(where - source_.begin()) + 1;
    }
    return last > found.end;
  }
  void take_alternative(std::string_view tag) {
    for (size_t i = 1; i + 5 < tag.size(); ++i) {
      if (!is_gap(tag[i]) || lowered(tag[i + 1]) != 'a' || lowered(tag[i + 2]) != 'l' || lowered(tag[i + 3]) != 't' ||
          tag[i + 4] != '=' || (tag[i + 5] != '"' && tag[i + 5] != '\''))
        continue;
      const size_t end = tag.find(tag[i + 5], i + 6);
      if (end != kNowhere) alternative_ = tag.substr(i + 6, end - i - 6);
      return;
    }
  }

  void entity() {
    const size_t begin = at_ + 1;
    size_t end = begin;
    while (end < begin + 12 && (is_letter_or_digit(static_cast<unsigned char>(byte(end))) || byte(end) == '#')) ++end;
    const std::string_view name = source_.substr(begin, end - begin);
    if (const char32_t c = byte(end) == ';' ? character(name) : 0; c != 0) {
      std::array<uint8_t, 4> bytes{};
      const int length = encode_utf8(c, bytes.data());
      for (int i = 0; i < length; ++i) put(static_cast<char>(bytes[static_cast<size_t>(i)]));
      at_ = end + 1;
      return;
    }
    put('&');
    ++at_;
  }
  // Return the character of an entity's name, or 0 if there is none.
  static char32_t character(std::string_view name) {
    if (!name.starts_with('#')) {
      const auto* const found = std::ranges::lower_bound(kEntities, name, {}, &Entity::first);
      return found != kEntities.end() && found->first == name ? found->second : 0;
    }
    const bool hex = name.size() > 1 && lowered(name[1]) == 'x';
    char32_t value = 0;
    const std::string_view digits = name.substr(hex ? 2 : 1);
    if (digits.empty() || digits.size() > 7) return 0;
    for (const char each : digits) {
      const char c = lowered(each);
      if (c >= '0' && c <= '9') {
        value = value * (hex ? 16 : 10) + static_cast<char32_t>(c - '0');
      } else if (hex && c >= 'a' && c <= 'f') {
        value = value * 16 + static_cast<char32_t>(c - 'a' + 10);
      } else {
        return 0;
      }
    }
    return value > 0x10FFFF || (value >= 0xD800 && value < 0xE000) ? 0 : value;
  }

  // ---- links and images ----

  bool footnote() {
    size_t end = at_ + 2;
    while (end < source_.size() && !is_gap(source_[end]) && source_[end] != '[' && source_[end] != ']') ++end;
    if (byte(end) != ']' || end == at_ + 2) return false;
    at_ = end + 1;
    return true;
  }
  void open_bracket(bool is_image) {
    if (!brackets_.empty()) brackets_.back().nested = true;
    brackets_.push_back({text_.size(), at_ + (is_image ? 2 : 1), is_image, false});
    if (is_image) put(source_[at_++]);
    put(source_[at_++]);
  }
  void close_bracket() {
    if (!brackets_.empty()) {
      const Bracket bracket = brackets_.back();
      brackets_.pop_back();
      if (bracket.nested && !brackets_.empty()) brackets_.back().nested = true;
      if (const size_t end = link_end(bracket); end != kNowhere) {
        if (bracket.is_image) {
          drop(bracket.text);
        } else {
          dead_[bracket.text] = true;
        }
        at_ = end;
        return;
      }
    }
    put(']');
    ++at_;
  }
  // Return the end of the target of a link whose text ends here, if it is one.
  size_t link_end(const Bracket& bracket) {
    if (byte(at_ + 1) == '(') {
      if (const size_t end = target_end(at_ + 1); end != kNowhere) return end;
    }
    const std::string_view own = source_.substr(bracket.source, at_ - bracket.source);
    if (byte(at_ + 1) == '[') {
      size_t end = at_ + 2;
      while (end < source_.size() && source_[end] != '[' && source_[end] != ']') ++end;
      const std::string_view label = source_.substr(at_ + 2, end - at_ - 2);
      if (byte(end) == ']' && labels_.holds(label.empty() && !bracket.nested ? own : label)) return end + 1;
    }
    return !bracket.nested && labels_.holds(own) ? at_ + 1 : kNowhere;
  }
  // Return the position after "(target "title")".
  size_t target_end(size_t at) {
    if (tries_ == 0) return kNowhere;
    const size_t end = target(at + 1);
    if (end == kNowhere) --tries_;
    return end;
  }
  size_t past_gap(size_t i) const {
    while (is_gap(byte(i))) ++i;
    return i;
  }
  size_t target(size_t i) const {
    i = past_gap(i);
    if (byte(i) == '<') {
      i = source_.find_first_of("<>\n", i + 1);
      if (i == kNowhere || source_[i] != '>') return kNowhere;
      ++i;
    } else {
      for (int open = 0; i < source_.size() && !is_gap(source_[i]); ++i) {
        const char c = source_[i];
        if (c == '\\') ++i;
        if (c == '(') ++open;
        if (c == ')' && open-- == 0) break;
      }
    }
    i = past_gap(i);
    if (const char c = byte(i); c == '"' || c == '\'' || c == '(') {
      const char closing = c == '(' ? ')' : c;
      for (++i; i < source_.size() && source_[i] != closing; ++i)
        if (source_[i] == '\\') ++i;
      i = past_gap(i + 1);
    }
    return byte(i) == ')' ? i + 1 : kNowhere;
  }
  // Remove the text of an image, which begins at `from`. If it is the line's first image with a text, keep this as the
  // alternative text.
  void drop(size_t from) {
    if (alternative_.empty())
      for (size_t i = from + 2; i < text_.size(); ++i)
        if (!dead_[i]) alternative_.push_back(text_[i]);
    text_.resize(from);
    dead_.resize(from);
    for (std::vector<Opener>& openers : openers_)
      while (!openers.empty() && openers.back().at >= from) openers.pop_back();
  }

  // ---- emphasis ----

  void emphasis(char c) {
    const size_t count = run(at_), end = at_ + count;
    const auto size = static_cast<int64_t>(source_.size());
    const char32_t before =
        at_ == 0 ? U' ' : decode_utf8(source_, character_before(source_, static_cast<int64_t>(at_))).code_point;
    const char32_t after =
        static_cast<int64_t>(end) >= size ? U' ' : decode_utf8(source_, static_cast<int64_t>(end)).code_point;
    if (c == '_' && count == 2 && is_lower(after) && !is_letter_or_digit(before) && special_name()) return;
    const bool left = !is_space(after) && (!is_mark(after) || is_space(before) || is_mark(before));
    const bool right = !is_space(before) && (!is_mark(before) || is_space(after) || is_mark(after));
    bool opens = left, closes = right;
    if (c == '_') {
      opens = left && (!right || is_mark(before));
      closes = right && (!left || is_mark(after));
    } else if (c == '~' ? count != 2 : is_letter_or_digit(before) && is_letter_or_digit(after)) {
      opens = closes = false;
    }
    std::vector<Opener>& openers = openers_[c == '*' ? 0 : c == '_' ? 1 : 2];
    size_t rest = count;
    while (closes && rest > 0 && !openers.empty()) {
      Opener& opener = openers.back();
      const size_t used = std::min<size_t>(opener.count, rest);
      for (size_t i = 0; i < used; ++i) dead_[opener.at + --opener.count] = true;
      rest -= used;
      if (opener.count == 0) openers.pop_back();
    }
    if (opens && rest > 0) openers.push_back({text_.size(), rest});
    put(source_.substr(at_, rest));
    at_ = end;
  }
  // Add a name such as __init__, which is no emphasis, as text. Return whether there is one here.
  bool special_name() {
    size_t end = at_;
    while (is_letter_or_digit(static_cast<unsigned char>(byte(end))) || byte(end) == '_') ++end;
    const std::string_view name = source_.substr(at_, end - at_);
    if (!name.ends_with("__")) return false;
    put(name);
    at_ = end;
    return true;
  }

  std::string_view source_;
  bool is_html_;
  LinkLabels& labels_;
  size_t at_ = 0;
  int tries_ = kTries;
  std::string text_, alternative_;
  std::vector<bool> dead_;
  std::vector<Bracket> brackets_;
  std::array<std::vector<Opener>, 3> openers_;
  std::array<bool, kInlineTags.size()> opened_{};
  // for each name, one more than the position of its last end tag; 1: none
  std::array<size_t, kInlineTags.size()> last_end_{};
};

}  // namespace

bool LinkLabels::holds(std::string_view label) {
  if (!read_) {
    read_ = true;
    for (size_t begin = 0; begin < document_.size();) {
      const size_t end = std::min(document_.find_first_of("\r\n", begin), document_.size());
      const std::string_view line = document_.substr(begin, end - begin);
      const size_t bracket = line.find_first_not_of(" \t>");
      if (bracket != kNowhere && line[bracket] == '[') {
        const size_t close = line.find(']', bracket);
        if (close != kNowhere && line.substr(close).starts_with("]:"))
          labels_.insert(folded(line.substr(bracket + 1, close - bracket - 1)));
      }
      begin = end + 1;
    }
  }
  return !labels_.empty() && labels_.contains(folded(label));
}

void append_inline_text(std::string_view source, bool is_html, LinkLabels& labels, std::vector<char>& out) {
  InlineText(source, is_html, labels).append_to(out);
}

}  // namespace pychunk
