#include "parsing/html/html_scan.h"

#include <algorithm>
#include <array>

#include "common/crc32.h"

namespace pychunk {
namespace {

constexpr uint32_t tag_hash(std::string_view name) { return crc32_of(name, crc32_of("<")); }

constexpr HtmlTag of(std::string_view name, uint8_t traits, HtmlKind kind = HtmlKind::kOther) {
  return {name, kind, traits, tag_hash(name)};
}

// Every name that has a meaning here.
constexpr auto kTags = std::to_array<HtmlTag>({
    of("a", 0, HtmlKind::kLink),
    of("address", kBlockLevel),
    of("annotation", kUnseen),
    of("annotation-xml", kUnseen),
    of("area", kVoid),
    of("article", kBlockLevel | kLayoutOnly),
    of("aside", kBlockLevel),
    of("audio", kUnseen),
    of("base", kVoid),
    of("basefont", kVoid),
    of("bgsound", kVoid),
    of("blockquote", kBlockLevel | kLayoutOnly, HtmlKind::kQuote),
    of("body", kBlockLevel),
    of("br", kVoid, HtmlKind::kBreak),
    of("button", kBlockLevel, HtmlKind::kForm),
    of("canvas", kUnseen),
    of("caption", kBlockLevel, HtmlKind::kCaption),
    of("center", kBlockLevel),
    of("col", kVoid),
    of("datalist", kUnseen),
    of("dd", kBlockLevel),
    of("defs", kUnseen),
    of("desc", kUnseen),
    of("details", kBlockLevel),
    of("dialog", kBlockLevel),
    of("dir", kBlockLevel, HtmlKind::kList),
    of("div", kBlockLevel),
    of("dl", kBlockLevel),
    of("dt", kBlockLevel, HtmlKind::kTerm),
    of("embed", kVoid),
    of("fieldset", kBlockLevel),
    of("figcaption", kBlockLevel, HtmlKind::kLegend),
    of("figure", kBlockLevel),
    of("footer", kBlockLevel),
    of("foreignobject", kBlockLevel),
    of("form", kBlockLevel | kLayoutOnly),
    of("frame", kVoid),
    of("h1", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("h2", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("h3", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("h4", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("h5", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("h6", kBlockLevel | kLayoutOnly, HtmlKind::kHeading),
    of("head", kUnseen),
    of("header", kBlockLevel),
    of("hgroup", kBlockLevel),
    of("hr", kBlockLevel | kVoid),
    of("html", kBlockLevel),
    of("iframe", kUnseen | kRawText),
    of("img", kVoid, HtmlKind::kImage),
    of("input", kVoid),
    of("keygen", kVoid),
    of("legend", kBlockLevel, HtmlKind::kForm),
    of("li", kBlockLevel, HtmlKind::kItem),
    of("link", kVoid),
    of("listing", kBlockLevel, HtmlKind::kVerbatim),
    of("main", kBlockLevel),
    of("map", kUnseen),
    of("marquee", kBlockLevel),
    of("math", kForeign, HtmlKind::kMath),
    of("menu", kBlockLevel, HtmlKind::kList),
    of("meta", kVoid),
    of("metadata", kUnseen),
    of("mjx-math", kUnseen),
    of("nav", kBlockLevel | kLayoutOnly),
    of("noembed", kUnseen | kRawText),
    of("noframes", kUnseen | kRawText),
    of("noscript", kBlockLevel),
    of("object", kUnseen),
    of("ol", kBlockLevel, HtmlKind::kOrdered),
    of("optgroup", kBlockLevel, HtmlKind::kForm),
    of("option", kBlockLevel, HtmlKind::kForm),
    of("p", kBlockLevel),
    of("param", kVoid),
    of("plaintext", kUnknowable),
    of("pre", kBlockLevel | kLayoutOnly, HtmlKind::kVerbatim),
    of("rp", kUnseen),
    of("rt", 0, HtmlKind::kReading),
    of("script", kUnknowable),
    of("search", kBlockLevel),
    of("section", kBlockLevel | kLayoutOnly),
    of("select", kBlockLevel, HtmlKind::kForm),
    of("source", kVoid),
    of("style", kUnknowable),
    of("sub", 0, HtmlKind::kLowered),
    of("summary", kBlockLevel),
    of("sup", 0, HtmlKind::kRaised),
    of("svg", kForeign),
    of("symbol", kUnseen),
    of("table", kBlockLevel | kLayoutOnly, HtmlKind::kTable),
    of("tbody", kBlockLevel),
    of("td", kBlockLevel, HtmlKind::kCell),
    of("template", kUnknowable),
    of("text", 0, HtmlKind::kDrawn),
    of("textarea", kBlockLevel | kLayoutOnly, HtmlKind::kForm),
    of("tfoot", kBlockLevel),
    of("th", kBlockLevel, HtmlKind::kHeadCell),
    of("thead", kBlockLevel, HtmlKind::kHead),
    of("title", kUnseen),
    of("tr", kBlockLevel, HtmlKind::kRow),
    of("track", kVoid),
    of("ul", kBlockLevel, HtmlKind::kList),
    of("video", kUnseen),
    of("wbr", kVoid),
    of("xmp", kBlockLevel | kRawText, HtmlKind::kVerbatim),
});

// The places of the tags in kTags, plus 1, by a hash of their names. A binary search takes seven comparisons.
constexpr size_t kTagSlots = 512;

constexpr size_t tag_slot(std::string_view name) {
  const auto byte = [&](size_t i) { return size_t{static_cast<uint8_t>(name[i])}; };
  return (byte(0) * 37 + byte(name.size() / 2) * 11 + byte(name.size() - 1) * 5 + name.size()) % kTagSlots;
}

constexpr auto kTagPlaces = [] {
  std::array<uint8_t, kTagSlots> table{};
  for (size_t place = 0; place < kTags.size(); ++place) {
    size_t slot = tag_slot(kTags[place].name);
    while (table[slot] != 0) slot = (slot + 1) % kTagSlots;
    table[slot] = static_cast<uint8_t>(place + 1);
  }
  return table;
}();
static_assert(kTags.size() < 255);

HtmlTag tag_of(std::string_view name) {
  for (size_t slot = tag_slot(name); kTagPlaces[slot] != 0; slot = (slot + 1) % kTagSlots) {
    const HtmlTag& found = kTags[kTagPlaces[slot] - 1u];
    if (found.name == name) return {name, found.kind, found.traits, found.hash};
  }
  // Elements of MathJax are part of a line.
  const bool dashed = name.find('-') != name.npos && !name.starts_with("mjx-");
  return {name, HtmlKind::kOther, dashed ? uint8_t{kDashed} : uint8_t{0}, tag_hash(name)};
}

// Return whether a character ends the name of an element.
constexpr bool ends_name(char c) { return c == '>' || c == '/' || c == ' ' || (c >= '\t' && c <= '\r' && c != '\v'); }

}  // namespace

void append_unescaped(std::string_view written, std::string& out) {
  for (;;) {
    const size_t at = written.find('&');
    out.append(written.substr(0, at));
    if (at == written.npos) return;
    written.remove_prefix(at);
    const auto is = [&](std::string_view escape, std::string_view character) {
      if (!written.starts_with(escape)) return false;
      out.append(character);
      written.remove_prefix(escape.size());
      return true;
    };
    if (is("&amp;", "&") || is("&nbsp;", "\xC2\xA0") || is("&lt;", "<") || is("&gt;", ">") || is("&quot;", "\"")) {
      continue;
    }
    out.push_back('&');
    written.remove_prefix(1);
  }
}

HtmlEvent HtmlScanner::next() {
  if (raw_ > at_) {
    text_ = page_.substr(at_, raw_ - at_), escaped_ = false;
    at_ = raw_, raw_ = 0;
    return HtmlEvent::kText;
  }
  if (at_ >= page_.size()) return HtmlEvent::kBroken;
  if (page_[at_] != '<') {
    const size_t end = std::min(page_.find('<', at_), page_.size());
    text_ = page_.substr(at_, end - at_), escaped_ = true;
    at_ = end;
    return HtmlEvent::kText;
  }
  const std::string_view rest = page_.substr(at_);
  if (rest.starts_with("</")) return end();
  if (rest.starts_with("<!--")) return skip_past("-->", at_ + 4);
  if (rest.starts_with("<!") || rest.starts_with("<?")) return skip_past(">", at_ + 2);
  return start();
}

HtmlEvent HtmlScanner::skip_past(std::string_view mark, size_t from) {
  const size_t end = page_.find(mark, from);
  if (end == page_.npos) return HtmlEvent::kBroken;
  at_ = end + mark.size();
  return HtmlEvent::kNothing;
}

HtmlEvent HtmlScanner::start() {
  size_t at = at_ + 1;
  while (at < page_.size() && !ends_name(page_[at])) ++at;
  if (at == at_ + 1 || at == page_.size()) return HtmlEvent::kBroken;
  tag_ = tag_of(page_.substr(at_ + 1, at - at_ - 1));
  attributes_.clear();
  while (page_[at] != '>') {
    if (page_[at] != ' ') return HtmlEvent::kBroken;
    size_t equals = at + 2;
    while (equals < page_.size() && page_[equals] != '=') ++equals;  // memchr takes longer for a name
    const size_t open = equals + 1;
    if (open >= page_.size() || page_[open] != '"') return HtmlEvent::kBroken;
    const size_t close = page_.find('"', open + 1);
    if (close == page_.npos || close + 1 >= page_.size()) return HtmlEvent::kBroken;
    attributes_.push_back({page_.substr(at + 1, equals - at - 1), page_.substr(open + 1, close - open - 1)});
    at = close + 1;
  }
  at_ = at + 1;
  if (tag_.is(kUnknowable) || (foreign_ > 0 && tag_.is(kVoid | kRawText))) return HtmlEvent::kBroken;
  has_child_ = false;
  if (tag_.is(kVoid)) return HtmlEvent::kStart;
  if (tag_.is(kRawText)) {
    // The first end tag with this name ends the text, because raw text cannot contain its own end tag.
    raw_ = at_;
    do {
      raw_ = page_.find("</", raw_);
      if (raw_ == page_.npos) return HtmlEvent::kBroken;
      raw_ += 2;
    } while (!page_.substr(raw_).starts_with(tag_.name) || !page_.substr(raw_ + tag_.name.size()).starts_with(">"));
    raw_ -= 2;
    has_child_ = raw_ > at_;
  } else {
    has_child_ = !page_.substr(at_).starts_with("</");
  }
  foreign_ += tag_.is(kForeign);
  open_.push_back(tag_);
  return HtmlEvent::kStart;
}

HtmlEvent HtmlScanner::end() {
  if (open_.empty()) return HtmlEvent::kBroken;
  const HtmlTag& top = open_.back();
  const size_t size = top.name.size();
  if (page_.substr(at_ + 2, size) != top.name || !page_.substr(std::min(page_.size(), at_ + 2 + size)).starts_with(">"))
    return HtmlEvent::kBroken;
  at_ += size + 3;
  foreign_ -= top.is(kForeign);
  tag_ = top;
  open_.pop_back();
  return HtmlEvent::kEnd;
}

void HtmlScanner::back_to(const Place& place) {
  // The elements around this one are still open. The element itself may have been closed.
  open_.resize(place.depth - 1);
  open_.push_back(place.tag);
  at_ = place.at, raw_ = place.raw, foreign_ = place.foreign, tag_ = place.tag;
}

}  // namespace pychunk
