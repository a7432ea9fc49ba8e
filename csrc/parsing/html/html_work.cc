#include "parsing/html/html_work.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/interrupt.h"

namespace pychunk {
namespace {

enum Kind : uint32_t {
  kVoid = 1,
  kSpecial = 2,
  kFormatting = 4,
  kRaw = 8,
  kScope = 16,      // ends the search for an element in scope, and is a marker in the formatting list
  kTablePart = 32,  // parts of a table, and the table
  kBreaksOut = 64,  // an element that ends a drawing or a formula
  kHeading = 128,
  kEndsP = 256,
  kIgnored = 512,
  kBlockEnd = 1024,  // its end tag closes all elements down to it, if it is in scope
  kList = 2048,
  kRows = 4096,  // thead, tbody, tfoot
  kIntegrates = 8192,
  kIntegratesInSvg = 16384,
  kImplied = 1 << 18,  // the end of the element around it implies its end
  kRubyPart = 1 << 19,
  kSvgs = 32768,    // only for an open element: it is part of a drawing
  kForeign = 65536  // only for an open element
};

constexpr uint64_t hash_step(uint64_t hash, uint8_t c) { return (hash ^ c) * 1099511628211ull; }
constexpr uint64_t kSeed = 14695981039346656037ull;
constexpr uint8_t lower_of_tag(char c) { return static_cast<uint8_t>(c >= 'A' && c <= 'Z' ? c | 32 : c); }
constexpr uint64_t name_hash(std::string_view name) {
  uint64_t hash = kSeed;
  for (const char c : name) hash = hash_step(hash, lower_of_tag(c));
  return hash;
}

// The kinds of elements by the hashes of their names. Each tag needs one look-up, mostly of one step.
class Kinds {
 public:
  uint32_t operator[](uint64_t name) const {
    for (uint64_t slot = name;; ++slot) {
      const auto& [key, kind] = slots_[slot % kSlots];
      if (key == name || kind == 0) return key == name ? kind : 0;
    }
  }
  void add(uint64_t name, uint32_t kind) {
    uint64_t slot = name;
    while (slots_[slot % kSlots].second != 0 && slots_[slot % kSlots].first != name) ++slot;
    slots_[slot % kSlots].first = name;
    slots_[slot % kSlots].second |= kind;
  }

 private:
  static constexpr size_t kSlots = 1024;  // for some 150 names
  std::array<std::pair<uint64_t, uint32_t>, kSlots> slots_{};
};

Kinds known_kinds() {
  Kinds out;
  const auto add = [&](uint32_t kind, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) out.add(name_hash(name), kind);
  };
  add(kVoid | kSpecial, {"area", "base", "basefont", "bgsound", "br", "col", "embed", "hr", "img", "input", "keygen",
                         "link", "meta", "param", "source", "track", "wbr"});
  add(kVoid, {"image"});
  add(kSpecial, {"applet", "caption", "colgroup", "dd", "dt",       "form",     "h1",     "h2",    "h3",
                 "h4",     "h5",      "h6",       "li", "marquee",  "noscript", "object", "p",     "plaintext",
                 "select", "table",   "tbody",    "td", "template", "tfoot",    "th",     "thead", "tr"});
  add(kSpecial | kRaw, {"iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp"});
  add(kSpecial | kBlockEnd | kEndsP,
      {"address",  "article",    "aside",  "blockquote", "center",  "details", "dir",     "div",  "dl",
       "fieldset", "figcaption", "figure", "footer",     "header",  "hgroup",  "listing", "main", "menu",
       "nav",      "ol",         "pre",    "search",     "section", "summary", "ul"});
  add(kBlockEnd | kEndsP, {"dialog"});
  add(kSpecial | kBlockEnd, {"button"});
  add(kEndsP, {"p", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "dd", "dt", "form", "xmp"});
  add(kHeading, {"h1", "h2", "h3", "h4", "h5", "h6"});
  add(kFormatting, {"a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"});
  add(kScope, {"applet", "caption", "marquee", "object", "select", "table", "td", "template", "th"});
  add(kTablePart, {"caption", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr"});
  add(kRows, {"tbody", "tfoot", "thead"});
  add(kIgnored, {"html", "head", "body", "frame"});
  add(kSpecial, {"frameset"});
  add(kList, {"ol", "ul"});
  add(kBreaksOut, {"b",     "big",   "blockquote", "body",   "br",   "center", "code",  "dd", "div",  "dl",   "dt",
                   "em",    "embed", "h1",         "h2",     "h3",   "h4",     "h5",    "h6", "head", "hr",   "i",
                   "img",   "li",    "listing",    "menu",   "meta", "nobr",   "ol",    "p",  "pre",  "ruby", "s",
                   "small", "span",  "strong",     "strike", "sub",  "sup",    "table", "tt", "u",    "ul",   "var"});
  add(kImplied, {"dd", "dt", "li", "optgroup", "option", "p", "rb", "rp", "rt", "rtc"});
  add(kRubyPart, {"rb", "rp", "rt", "rtc"});
  add(kIntegratesInSvg, {"foreignobject", "desc", "title"});
  add(kIntegrates, {"mi", "mo", "mn", "ms", "mtext"});
  return out;
}

constexpr uint64_t kA = name_hash("a"), kP = name_hash("p"), kLi = name_hash("li"), kDd = name_hash("dd"),
                   kDt = name_hash("dt"), kButton = name_hash("button"), kForm = name_hash("form"),
                   kSelect = name_hash("select"), kOption = name_hash("option"), kOptgroup = name_hash("optgroup"),
                   kTemplate = name_hash("template"), kTable = name_hash("table"), kTr = name_hash("tr"),
                   kTd = name_hash("td"), kTh = name_hash("th"), kCaption = name_hash("caption"), kBr = name_hash("br"),
                   kNobr = name_hash("nobr"), kAddress = name_hash("address"), kDiv = name_hash("div"),
                   kScript = name_hash("script"), kTextarea = name_hash("textarea"), kFont = name_hash("font"),
                   kFrameset = name_hash("frameset"), kRuby = name_hash("ruby"), kInput = name_hash("input"),
                   kRt = name_hash("rt"), kRp = name_hash("rp"), kRtc = name_hash("rtc"),
                   kPlaintext = name_hash("plaintext"), kHtml = name_hash("html"), kBody = name_hash("body"),
                   kSvg = name_hash("svg"), kMath = name_hash("math"), kAnnotation = name_hash("annotation-xml");

constexpr std::string_view kDoctype = "<!doctype";

constexpr bool is_tag_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
constexpr bool is_tag_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

struct Tag {
  uint64_t name = 0, whole = 0;
  bool is_end = false, closes_itself = false;
  int64_t attributes = 0;
  size_t begin = 0, end = 0;  // the position after its ">"; npos if nothing ends it
};

class Work {
 public:
  Work(std::string_view page, const HtmlLimits& limits) : page_(page), limits_(limits) {}

  HtmlWork run() {
    size_t at = 0;
    int64_t turns = 0;
    while (at < page_.size()) {
      checkpoint_each(++turns, 1 << 14);
      const size_t start = std::min(page_.find('<', at), page_.size());
      if (start > at) add_text(page_.substr(at, start - at));
      if (start + 1 >= page_.size()) break;
      const int64_t ids = ids_;
      const size_t open = open_.size();
      is_inserted_ = false;
      at = markup(start);
      if (is_inserted_ || ids_ != ids || open_.size() != open) text_ = 0;
      work_.steps += static_cast<int64_t>(open_.size() + list_.size());
      if (static_cast<int64_t>(open_.size()) > limits_.open ||
          static_cast<int64_t>(list_.size()) > limits_.formatting || options_ > limits_.options ||
          copies_ > 1000 + 4 * work_.nodes || static_cast<int64_t>(names_.size()) > limits_.names || is_over_) {
        work_.is_suspect = true;
        if (at < page_.size()) work_.nodes += std::ranges::count(page_.substr(at), '<');
        break;
      }
    }
    work_.nodes += copies_ + copied_ / kNodeBytes;
    return work_;
  }

 private:
  // The number of copied bytes that count as one node. When text continues, a parser copies up to a third of it: 450 MB
  // of 1.4 GB. A node takes some 575 bytes.
  static constexpr int64_t kNodeBytes = 2048;

  void add_text(std::string_view text) {
    reconstruct();
    const uint64_t around = open_.empty() ? 0 : open_.back().name;
    const bool in_rows = !open_.empty() && (open_.back().kind & kTablePart) && !is_foreign() && around != kTd &&
                         around != kTh && around != kCaption;
    if (!in_rows) {
      append(text, text_, Stored::kText);
    } else if (!std::ranges::all_of(text, is_tag_space)) {  // it joins the text that was moved before the table
      append(text, fostered_, Stored::kFostered);
    }
  }

  // The string that a parser stored last. Only this string can grow in place.
  enum class Stored : uint8_t { kOther, kText, kFostered };

  // Append text to earlier text. If a comment, attributes or other text were stored after the earlier text, the parser
  // must copy it, and its memory never frees the copied text.
  void append(std::string_view text, int64_t& length, Stored as) {
    if (last_ != as) copied_ += length;
    last_ = as;
    length += static_cast<int64_t>(text.size());
  }

  struct Element {
    uint64_t name;
    uint32_t kind;
    int64_t id;
  };
  struct Entry {  // of the list of active formatting elements; `id` is that of the open element, or 0
    uint64_t name, whole;
    int64_t id;
    bool is_marker;
  };

  static uint32_t kind_of(uint64_t name) {
    static const Kinds kinds = known_kinds();
    return kinds[name];
  }

  bool is_foreign() const { return !open_.empty() && (open_.back().kind & kForeign) != 0; }

  size_t after(std::string_view mark, size_t at) const {
    const size_t found = page_.find(mark, at);
    return found == page_.npos ? page_.size() : found + mark.size();
  }

  size_t markup(size_t start) {
    const char next = page_[start + 1];
    if (next == '!' || next == '?') {
      // A document type between other text is ignored, so that the text after it continues the text before it.
      is_inserted_ = name_hash(page_.substr(start, kDoctype.size())) != name_hash(kDoctype);
      last_ = Stored::kOther;
    }
    if (page_.substr(start).starts_with("<!--")) {  // "--!>" also ends it, but not with the dashes of its beginning
      ++work_.nodes;
      // one search for "-->" serves all comments before it that end with "--!>"
      if (comment_end_ < start + 5) comment_end_ = after("-->", start + 2);
      const size_t end = comment_end_, first = std::min(end, start + 4);
      const size_t bang = page_.substr(first, end - first).find("--!>");
      return bang == page_.npos ? end : first + bang + 4;
    }
    if (is_foreign() && page_.substr(start).starts_with("<![CDATA[")) return after("]]>", start + 9);
    if (next == '!' || next == '?') {
      ++work_.nodes;
      return after(">", start + 2);
    }
    const bool is_end = next == '/';
    if (start + 1 + is_end >= page_.size()) return page_.size();
    if (!is_tag_letter(page_[start + 1 + is_end])) {
      work_.nodes += is_end;  // a comment
      is_inserted_ = is_end;
      if (is_end) last_ = Stored::kOther;
      if (is_end) return after(">", start + 2);
      reconstruct();
      return start + 1;
    }
    const Tag tag = read(start, is_end);
    if (kind_of(tag.name) == 0) name_seen(tag.name);  // also names of end tags, which parsers look up
    if (tag.end == page_.npos) return page_.size();
    if (tag.attributes > 0) last_ = Stored::kOther;
    if (is_end) {
      end(tag);
      return tag.end;
    }
    work_.nodes += 1 + tag.attributes;
    is_over_ |= tag.attributes > limits_.attributes;
    return begin(tag);
  }

  // Read a tag like the standard's tokenizer: quotation marks count only at the beginning of a value.
  Tag read(size_t start, bool is_end) {
    Tag out;
    const size_t size = page_.size();
    size_t at = start + 1 + is_end;
    uint64_t name = kSeed;
    for (; at < size && !is_tag_space(page_[at]) && page_[at] != '/' && page_[at] != '>'; ++at)
      name = hash_step(name, lower_of_tag(page_[at]));
    out.name = name, out.is_end = is_end, out.begin = start, out.end = page_.npos;
    while (true) {
      while (at < size && (is_tag_space(page_[at]) || page_[at] == '/')) ++at;
      if (at >= size) return out;
      if (page_[at] == '>') {
        out.closes_itself = page_[at - 1] == '/';
        break;
      }
      ++out.attributes;
      uint64_t attribute = hash_step(kSeed, lower_of_tag(page_[at]));
      for (++at; at < size && !is_tag_space(page_[at]) && page_[at] != '/' && page_[at] != '>' && page_[at] != '=';
           ++at)
        attribute = hash_step(attribute, lower_of_tag(page_[at]));
      name_seen(attribute);
      while (at < size && is_tag_space(page_[at])) ++at;
      if (at >= size) return out;
      if (page_[at] != '=') continue;
      for (++at; at < size && is_tag_space(page_[at]);) ++at;
      if (at >= size) return out;
      if (page_[at] == '"' || page_[at] == '\'') {
        at = page_.find(page_[at], at + 1);
        if (at == page_.npos) return out;
        ++at;
      } else {
        while (at < size && !is_tag_space(page_[at]) && page_[at] != '>') ++at;
        if (at >= size) return out;
        if (page_[at] == '>') break;  // a slash before it belongs to the value
      }
    }
    out.end = at + 1;
    return out;
  }

  // Count names up to the limit. A parser's name tables have few slots, and each slot holds more and more names.
  void name_seen(uint64_t name) {
    uint64_t& last = last_names_[name % last_names_.size()];
    if (last == name) return;
    last = name;
    if (static_cast<int64_t>(names_.size()) <= limits_.names) names_.insert(name);
  }

  std::string written(const Tag& tag) const {
    std::string out(page_.substr(tag.begin, tag.end - tag.begin));
    std::ranges::transform(out, out.begin(), [](char c) { return static_cast<char>(lower_of_tag(c)); });
    return out;
  }

  // Return the nearest open element with a name that is not foreign, or -1 if one of the kinds `stop` is nearer.
  int64_t find(uint64_t name, uint32_t stop, uint64_t also = 0) const {
    for (auto i = static_cast<int64_t>(open_.size()) - 1; i >= 0; --i) {
      const Element& element = open_[static_cast<size_t>(i)];
      if (element.name == name && !(element.kind & kForeign)) return i;
      if ((element.kind & stop) || (also != 0 && element.name == also)) return -1;
    }
    return -1;
  }

  void push(uint64_t name, uint32_t kind) {
    open_.push_back({name, kind, ++ids_});
    if (name == kTable) {
      fostered_outside_.push_back(std::exchange(fostered_, 0));
      last_ = Stored::kOther;
    }
    selects_ += name == kSelect && !(kind & kForeign);
    const bool marks = (kind & kScope) && !(kind & kForeign) && name != kSelect && name != kTable;
    if (marks) list_.push_back({0, 0, 0, true});
  }

  void pop() {
    const Element element = open_.back();
    open_.pop_back();
    if (element.kind & kForeign) return;
    selects_ -= element.name == kSelect;
    if (element.name == kTable) {
      fostered_ = fostered_outside_.back();
      fostered_outside_.pop_back();
      last_ = Stored::kOther;
    }
    if (element.kind & kFormatting) close_entry(element.id);
    const bool marks = (element.kind & kScope) && element.name != kSelect && element.name != kTable;
    if (!marks) return;
    while (!list_.empty() && !list_.back().is_marker) list_.pop_back();
    if (!list_.empty()) list_.pop_back();
  }

  void close_entry(int64_t id) {
    for (auto entry = list_.rbegin(); entry != list_.rend(); ++entry) {
      if (entry->id == id) {
        entry->id = 0;
        return;
      }
    }
  }

  void pop_implied(uint64_t but = 0) {
    while (!open_.empty() && (open_.back().kind & kImplied) && open_.back().name != but) pop();
  }

  // Close all elements down to the given one, if there is one.
  bool pop_to(int64_t index) {
    while (index >= 0 && static_cast<int64_t>(open_.size()) > index) pop();
    return index >= 0;
  }

  void reconstruct() {
    if (list_.empty() || list_.back().is_marker || list_.back().id != 0) return;
    auto first = list_.end();
    while (first != list_.begin() && !(first - 1)->is_marker && (first - 1)->id == 0) --first;
    for (; first != list_.end(); ++first) {
      open_.push_back({first->name, kFormatting, ++ids_});
      first->id = ids_;
      ++copies_;
    }
  }

  void format(const Tag& tag) {
    push(tag.name, kFormatting);
    const uint64_t whole = name_hash(page_.substr(tag.begin, tag.end - tag.begin));
    int same = 0;
    for (auto i = static_cast<int64_t>(list_.size()) - 1; i >= 0 && !list_[static_cast<size_t>(i)].is_marker; --i) {
      if (list_[static_cast<size_t>(i)].whole == whole && ++same == 3) {
        list_.erase(list_.begin() + i);
        break;
      }
    }
    list_.push_back({tag.name, whole, ids_, false});
  }

  // Run the adoption agency algorithm. Blocks inside the element stay open.
  void unformat(uint64_t name) {
    auto entry = list_.end();
    while (entry != list_.begin() && !(entry - 1)->is_marker && (entry - 1)->name != name) --entry;
    if (entry == list_.begin() || (entry - 1)->is_marker) {
      pop_to(find(name, kSpecial | kScope));
      return;
    }
    --entry;
    const int64_t id = entry->id;
    if (id == 0) {
      list_.erase(entry);
      return;
    }
    auto i = static_cast<int64_t>(open_.size()) - 1;
    bool has_block = false;
    for (; i >= 0 && open_[static_cast<size_t>(i)].id != id; --i) {
      if (open_[static_cast<size_t>(i)].kind & kScope) return;
      has_block |= (open_[static_cast<size_t>(i)].kind & kSpecial) != 0;
    }
    if (i < 0) return;
    list_.erase(entry);
    if (has_block) {
      is_over_ |= ++adoptions_ > 5 * limits_.formatting;
      open_.erase(open_.begin() + i);
    } else {
      pop_to(i);
    }
  }

  void end(const Tag& tag) {
    const uint32_t kind = kind_of(tag.name);
    if (is_foreign()) {
      if (tag.name == kP || tag.name == kBr) {
        leave_foreign();
      } else {
        for (auto i = static_cast<int64_t>(open_.size()) - 1; i >= 0 && (open_[static_cast<size_t>(i)].kind & kForeign);
             --i) {
          if (open_[static_cast<size_t>(i)].name == tag.name) {
            pop_to(i);
            return;
          }
        }
      }
    }
    if (tag.name == kBr) {  // the end tag </br> stands for <br>
      reconstruct();
      ++work_.nodes;
    }
    if (kind & (kIgnored | kVoid | kRaw)) return;
    if (kind & kFormatting) {
      unformat(tag.name);
    } else if (tag.name == kFrameset) {
      if (!open_.empty() && open_.back().name == kFrameset) pop();
    } else if (tag.name == kTemplate) {
      pop_to(find(tag.name, 0));
    } else if (kind & kTablePart) {
      const int64_t table = find(kTable, 0, kTemplate);
      int64_t found = find(tag.name, 0, kTemplate);
      if (found < table && tag.name == kTr) {  // a cell without <tr> is in a row, too
        found = std::max(find(kTd, 0, kTemplate), find(kTh, 0, kTemplate));
        if (found <= table) found = -1;
      }
      if (found >= table && find(kSelect, 0) < found) pop_to(found);
    } else if (tag.name == kP) {
      if (!pop_to(find(tag.name, kScope, kButton))) ++work_.nodes;  // </p> alone stands for an empty paragraph
    } else if (tag.name == kLi) {
      pop_to(find(tag.name, kScope | kList));
    } else if (kind & kHeading) {
      for (auto i = static_cast<int64_t>(open_.size()) - 1; i >= 0; --i) {
        const uint32_t other = open_[static_cast<size_t>(i)].kind;
        if ((other & kHeading) && !(other & kForeign)) {
          pop_to(i);
          return;
        }
        if (other & kScope) return;
      }
    } else if (tag.name == kForm) {
      const int64_t found = find(tag.name, kScope);
      if (found >= 0) pop_implied();
      if (found >= 0) open_.erase(open_.begin() + found);
    } else if ((kind & (kBlockEnd | kScope)) || tag.name == kDd || tag.name == kDt) {
      pop_to(find(tag.name, kScope));
    } else {
      pop_to(find(tag.name, kSpecial | kScope));
    }
  }

  void leave_foreign() {
    while (is_foreign() && !(open_.back().kind & kIntegrates)) pop();
  }

  size_t begin(const Tag& tag) {
    uint32_t kind = kind_of(tag.name);
    if (is_foreign() && !(open_.back().kind & kIntegrates)) {
      const bool breaks_out = tag.name == kFont ? [&] {
        const std::string text = written(tag);
        return text.find("color") != text.npos || text.find("face") != text.npos || text.find("size") != text.npos;
      }()
                                                : (kind & kBreaksOut) != 0;
      if (!breaks_out) {
        open_foreign(tag, kind);
        return tag.end;
      }
      leave_foreign();
    }
    if (kind & kIgnored) {
      if (tag.name == kHtml || tag.name == kBody) merged_ += tag.attributes;
      is_over_ |= merged_ > limits_.attributes;
      return tag.end;
    }
    if (tag.name == kSvg || tag.name == kMath) {
      reconstruct();
      open_foreign(tag, 0);
      return tag.end;
    }
    options_ += tag.name == kOption;
    if (tag.name == kFrameset) {  // after this, elements with text may not be elements at all
      if (!has_frameset_) is_over_ |= std::ranges::count(page_.substr(tag.end), '<') > 5 * limits_.attributes;
      has_frameset_ = true;
      push(tag.name, kSpecial);
      return tag.end;
    }
    if (kind & kEndsP) pop_to(find(kP, kScope, kButton));
    if (tag.name == kPlaintext) return page_.size();
    if (tag.name == kSelect || tag.name == kInput || tag.name == kTextarea) {
      if (pop_to(find(kSelect, kScope)) && tag.name == kSelect) return tag.end;
    }
    if (kind & kRaw) {
      last_ = Stored::kOther;
      is_inserted_ = selects_ == 0;
      is_over_ |= selects_ > 0 && tag.name != kScript;  // parsers differ in whether it is an element inside select
      const size_t end = raw_end(tag);
      return end < page_.size() ? std::min(read(end, true).end, page_.size()) : end;
    }
    if (kind & kVoid) {
      is_inserted_ = selects_ == 0;
      reconstruct();
      return tag.end;
    }
    if (tag.name == kTable) {
      end_table();
    } else if (kind & kTablePart) {
      if (!table_part(tag.name, kind)) return tag.end;
    } else if (kind & kHeading) {
      if (!open_.empty() && (open_.back().kind & kHeading) && !is_foreign()) pop();
    } else if (tag.name == kLi || tag.name == kDd || tag.name == kDt) {
      end_item(tag.name);
    } else if (tag.name == kButton) {
      pop_to(find(kButton, kScope));
    } else if (tag.name == kOption || tag.name == kOptgroup) {
      if (!open_.empty() && open_.back().name == kOption) pop();
      const size_t size = open_.size();
      if (tag.name == kOptgroup && size > 1 && open_[size - 1].name == kOptgroup && open_[size - 2].name == kSelect)
        pop();
    } else if (kind & kRubyPart) {
      if (find(kRuby, kScope) >= 0) pop_implied(tag.name == kRt || tag.name == kRp ? kRtc : 0);
    } else if (tag.name == kA) {
      unformat_if_listed(kA);
    } else if (tag.name == kNobr) {
      unformat_if_listed(kNobr);
    }
    if (!(kind & (kEndsP | kTablePart)) && tag.name != kTemplate) reconstruct();
    if (kind & kFormatting) {
      format(tag);
    } else {
      push(tag.name, kind & ~static_cast<uint32_t>(kIntegrates | kIntegratesInSvg));
    }
    return tag.end;
  }

  void unformat_if_listed(uint64_t name) {
    for (auto entry = list_.rbegin(); entry != list_.rend() && !entry->is_marker; ++entry) {
      if (entry->name == name) {
        unformat(name);
        return;
      }
    }
  }

  void open_foreign(const Tag& tag, uint32_t kind) {
    if (tag.closes_itself) return;
    const Element* const around = is_foreign() && !(open_.back().kind & kIntegrates) ? &open_.back() : nullptr;
    const bool begins_svg = tag.name == kSvg && (around == nullptr || around->name == kAnnotation);
    const bool in_svg = begins_svg || (around != nullptr && (around->kind & kSvgs) != 0);
    bool integrates = (kind & (in_svg ? kIntegratesInSvg : kIntegrates)) != 0;
    if (!in_svg && tag.name == kAnnotation) {
      const std::string text = written(tag);
      integrates = text.find("text/html") != text.npos || text.find("application/xhtml+xml") != text.npos;
    }
    const bool stops = integrates || (!in_svg && tag.name == kAnnotation);
    open_.push_back(
        {tag.name,
         kForeign | (in_svg ? kSvgs : 0u) | (integrates ? kIntegrates : 0u) | (stops ? kScope | kSpecial : 0u),
         ++ids_});
  }

  // End a table in whose rows another table begins.
  void end_table() {
    for (auto i = static_cast<int64_t>(open_.size()) - 1; i >= 0; --i) {
      const Element& element = open_[static_cast<size_t>(i)];
      if (element.kind & kForeign) continue;
      if (element.name == kTable) pop_to(i);
      if (element.name == kTable || element.name == kTd || element.name == kTh || element.name == kCaption ||
          element.name == kTemplate || element.name == kSelect)
        return;
    }
  }

  // Return whether the tag of a table's part inserts an element. Outside of tables it does not.
  bool table_part(uint64_t name, uint32_t kind) {
    const int64_t table = find(kTable, 0, kTemplate);
    if (table < 0) return false;
    if (find(kSelect, 0) > table) return true;
    auto keep = table;
    if (!(kind & kRows) && (name == kTr || name == kTd || name == kTh)) {
      for (auto i = static_cast<int64_t>(open_.size()) - 1; i > table; --i) {
        const Element& element = open_[static_cast<size_t>(i)];
        if ((element.kind & kForeign) == 0 && ((element.kind & kRows) || (name != kTr && element.name == kTr))) {
          keep = i;
          break;
        }
      }
    }
    pop_to(keep + 1);
    return true;
  }

  void end_item(uint64_t name) {
    for (auto i = static_cast<int64_t>(open_.size()) - 1; i >= 0; --i) {
      const Element& element = open_[static_cast<size_t>(i)];
      const bool is_item = name == kLi ? element.name == kLi : element.name == kDd || element.name == kDt;
      if (is_item && !(element.kind & kForeign)) {
        pop_to(i);
        return;
      }
      const bool passes = element.name == kAddress || element.name == kDiv || element.name == kP;
      if ((element.kind & (kSpecial | kScope)) && !passes) return;
    }
  }

  // Return the end of the text of an element whose text contains no tags. It is at the element's end tag.
  size_t raw_end(const Tag& tag) {
    size_t name_end = tag.begin + 1;
    while (!is_tag_space(page_[name_end]) && page_[name_end] != '/' && page_[name_end] != '>') ++name_end;
    const std::string_view name = page_.substr(tag.begin + 1, name_end - tag.begin - 1);
    const bool is_script = tag.name == kScript;
    bool in_comment = false, is_doubled = false;
    size_t dashes = 0;  // the next end of a comment
    for (size_t at = tag.end; at < page_.size(); ++at) {
      const size_t less = page_.find('<', at);
      if (in_comment) {  // a script start inside a script's comment hides the next end tag
        if (dashes < at) dashes = page_.find("-->", at);
        if (dashes < less) {
          in_comment = is_doubled = false;
          at = dashes + 2;
          continue;
        }
      }
      if (less == page_.npos) return page_.size();
      at = less;
      const std::string_view rest = page_.substr(at, name.size() + 3);
      if (is_script && !in_comment && page_.substr(at).starts_with("<!--")) {
        in_comment = true;
        at += 1;  // the dashes of "<!--" may also end the comment
        continue;
      }
      const bool is_end = rest.size() > 1 && rest[1] == '/';
      const size_t from = 1 + is_end;
      if (rest.size() <= from + name.size()) continue;
      const char next = rest[from + name.size()];
      if (!is_tag_space(next) && next != '/' && next != '>') continue;
      if (name_hash(rest.substr(from, name.size())) != tag.name) continue;
      if (is_end && !is_doubled) return at;
      if (in_comment) is_doubled = !is_end;
    }
    return page_.size();
  }

  std::string_view page_;
  HtmlLimits limits_;
  HtmlWork work_;
  std::vector<Element> open_;
  std::vector<Entry> list_;
  int64_t text_ = 0, fostered_ = 0, copied_ = 0;  // bytes of continued text, of text before a table, and copied
  std::vector<int64_t> fostered_outside_;         // `fostered_` of the tables around the innermost one
  Stored last_ = Stored::kOther;
  int64_t ids_ = 0, copies_ = 0, options_ = 0, merged_ = 0, selects_ = 0, adoptions_ = 0;
  size_t comment_end_ = 0;
  std::unordered_set<uint64_t> names_;
  std::array<uint64_t, 256> last_names_{};  // most attributes were seen recently
  bool is_over_ = false, has_frameset_ = false, is_inserted_ = false;
};

}  // namespace

HtmlWork html_work(std::string_view page, const HtmlLimits& limits) { return Work(page, limits).run(); }

}  // namespace pychunk
