#include "parsing/wiki/elements.h"

#include <algorithm>
#include <bitset>

#include "parsing/wiki/marks.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace wiki {
namespace {

struct Element {
  std::string_view name;
  bool shown = false;     // its content is shown, perhaps in another form
  bool verbatim = false;  // even another opening tag of the same name is text in it
};
constexpr Element kElements[] = {
    {"nowiki", true, true},
    {"pre", true, true},
    {"math", true},
    {"ce", true},
    {"chem", true},
    {"source", true, true},
    {"syntaxhighlight", true, true},
    {"poem", true},
    {"references"},
    {"ref"},
    {"gallery"},
    {"timeline"},
    {"imagemap"},
    {"score"},
    {"hiero"},
    {"graph"},
    {"mapframe"},
    {"maplink"},
    {"templatedata"},
    {"templatestyles"},
    {"inputbox"},
    {"categorytree"},
    {"includeonly"},
    {"section"},
    {"indicator"},
    {"dynamicpagelist"},
    {"charinsert"},
};
constexpr size_t kCount = std::size(kElements), kLongest = 15;

// Returns a page without control characters, in a line feed before and after it.
std::string plain(std::string_view page) {
  std::string out;
  out.reserve(page.size() + 2);
  out += '\n';
  for (size_t at = 0; at < page.size(); ++at) {
    const char c = page[at];
    if (static_cast<uint8_t>(c) >= ' ' || c == '\n' || c == '\t') {
      out += c;
    } else if (c == '\r') {
      size_t next = at + 1;
      while (next < page.size() && static_cast<uint8_t>(page[next]) < ' ' && !is_blank(page[next])) ++next;
      if (next == page.size() || page[next] != '\n') out += '\n';
    } else if (is_blank(c)) {
      out += c;
    }
  }
  return out += '\n';
}

class Elements {
 public:
  Elements(std::string_view text, const std::function<void(std::string_view, std::string_view, std::string&)>& opaque)
      : text_(text), opaque_(opaque) {
    out_.reserve(text.size());
  }

  std::string run() {
    size_t position = 0;
    for (size_t at = text_.find('<'); at != std::string_view::npos; at = text_.find('<', at)) {
      if (has(at, "<!--")) {
        at = position = comment(position, at);
        continue;
      }
      const Tag tag = tag_at(at + 1);
      if (tag.end == 0) {
        ++at;
        continue;
      }
      add(position, at);
      at = position = element(tag);
    }
    add(position, text_.size());
    return std::move(out_);
  }

 private:
  struct Tag {
    size_t which = 0, end = 0;  // no tag if the end is 0
    bool closes_itself = false;
  };
  struct Closing {
    size_t begin = 0, end = 0;  // no closing tag if the end is 0
    bool more = false;          // a later element of the same name may have one
  };

  bool has(size_t at, std::string_view what) const { return text_.substr(at, what.size()) == what; }
  void add(size_t begin, size_t end) { out_.append(text_, begin, end - begin); }

  static bool equal(std::string_view name, std::string_view lower) {
    return std::equal(name.begin(), name.end(), lower.begin(), lower.end(),
                      [](char c, char wanted) { return is_letter(c) && (c | 0x20) == wanted; });
  }

  // Returns the opening tag whose name begins at `name`.
  Tag tag_at(size_t name) const {
    size_t end = name;
    while (end < text_.size() && end - name <= kLongest && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(name, end - name);
    for (size_t which = 0; which < kCount; ++which) {
      if (!equal(word, kElements[which].name)) continue;
      const size_t close = text_.find_first_of("<>", end);
      if (close == std::string_view::npos || text_[close] == '<') return {};
      const auto inside = trim(text_, static_cast<int64_t>(end), static_cast<int64_t>(close));
      return {which, close + 1, !inside.empty() && text_[static_cast<size_t>(inside.end) - 1] == '/'};
    }
    return {};
  }

  // Handles a comment that begins at `at`, and returns the position after it, or after its line if the line holds
  // nothing else.
  size_t comment(size_t position, size_t at) {
    size_t begin = at;
    while (begin > position && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) --begin;
    const bool fills_line = begin > position && text_[begin - 1] == '\n';
    add(position, fills_line ? begin - 1 : at);
    const size_t stop = open_comment_ ? std::string_view::npos : text_.find("-->", at + 4);
    if (fills_line) {
      if (stop != std::string_view::npos) {
        const size_t after = std::min(text_.find_first_not_of(" \t", stop + 3), text_.size());
        if (after < text_.size() && text_[after] == '\n') return after;
      }
      out_ += '\n';
    }
    if (stop != std::string_view::npos) return stop + 3;
    open_comment_ = true;
    return at + 4;
  }

  // Handles an element, and returns the position after it, or after its opening tag if nothing closes it.
  size_t element(const Tag& tag) {
    if (tag.closes_itself) {
      out_ += kDropped;
      return tag.end;
    }
    if (open_[tag.which]) return tag.end;
    const Closing closing = closing_of(tag);
    if (closing.end == 0) {
      if (!closing.more) open_[tag.which] = true;
      return tag.end;
    }
    const Element& own = kElements[tag.which];
    if (own.shown) {
      opaque_(own.name, text_.substr(tag.end, closing.begin - tag.end), out_);
    } else {
      out_ += kDropped;
    }
    return closing.end;
  }

  Closing closing_of(const Tag& tag) const {
    const Element& own = kElements[tag.which];
    for (size_t at = text_.find('<', tag.end); at != std::string_view::npos;) {
      if (has(at + 1, "/")) {
        const size_t name_end = at + 2 + own.name.size();
        if (name_end <= text_.size() && equal(text_.substr(at + 2, own.name.size()), own.name)) {
          size_t end = name_end;
          end = static_cast<size_t>(trim_begin(text_, static_cast<int64_t>(end), static_cast<int64_t>(text_.size())));
          if (has(end, ">")) return {at, end + 1, true};
        }
      } else if (const Tag other = tag_at(at + 1); other.end > 0 && other.which == tag.which) {
        if (!own.verbatim && !other.closes_itself) return {0, 0, true};
        at = text_.find('<', other.end);
        continue;
      }
      at = text_.find('<', at + 1);
    }
    return {};
  }

  const std::string_view text_;
  const std::function<void(std::string_view, std::string_view, std::string&)>& opaque_;
  std::string out_;
  std::bitset<kCount> open_;  // the elements that no closing tag follows anywhere
  bool open_comment_ = false;
};

}  // namespace
}  // namespace wiki

std::string without_elements(
    std::string_view page,
    const std::function<void(std::string_view name, std::string_view content, std::string& out)>& opaque) {
  const std::string text = wiki::plain(page);
  return wiki::Elements(text, opaque).run();
}

}  // namespace pychunk
