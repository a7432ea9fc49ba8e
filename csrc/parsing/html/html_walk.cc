#include "parsing/html/html_walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "common/crc32.h"
#include "common/interrupt.h"
#include "document/document_blocks.h"
#include "parsing/html/html_attributes.h"
#include "parsing/html/html_code.h"
#include "parsing/html/html_formula.h"
#include "parsing/html/html_links.h"
#include "parsing/html/html_lists.h"
#include "parsing/html/html_scan.h"
#include "parsing/html/html_scripts.h"
#include "parsing/html/html_table.h"
#include "parsing/html/html_text.h"
#include "text/utf8_text.h"

namespace pychunk {

using namespace html;

namespace {

// The limits of pychunk/_engine/reference/parsing/html_walk.py.
constexpr int64_t kMostInCell = 1000;
constexpr int64_t kMostDepth = 32767;
// The most lists around an item that may count down. The items of each of them are counted before it is read.
constexpr int64_t kMostReversed = 4;
constexpr int64_t kNamesRead = 1000;
constexpr size_t kWordsOfNames = 24, kInlineSeen = 16;

bool is_naming(std::string_view name) {
  return name == "class" || name == "id" || name == "role" || name == "itemprop" || name == "itemtype" ||
         name == "aria-label" || name == "data-testid";
}

// The hashes of an element's tag and of the words of its names, each word once.
class Names {
 public:
  void append(const HtmlTag& tag, const Attributes& attributes, std::vector<uint32_t>& out) {
    out.push_back(tag.hash);
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
  // Cut the names to their first characters.
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

struct NotAsWritten {};

class Walker {
 public:
  Walker(std::string_view page, bool images, bool targets, HtmlWalk& out)
      : scanner_(page), images_(images), targets_(targets), out_(out) {}

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
  // The state that the elements around a block set for everything inside them.
  struct Around {
    BlockKind kind = BlockKind::kParagraph;
    int64_t level = 0;
    bool hidden = false, term = false;
    int64_t quotes = 0, lists = 0;
    size_t mark = 0, list = 0;  // positions of the list item's mark and of the list
    int64_t reversed = 0;       // the number of lists around that count down
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
    // In a page that lexbor has written, everything is inside one element.
    const bool outside = scanner_.depth() == 0 && (event == HtmlEvent::kText || event == HtmlEvent::kStart);
    if (event == HtmlEvent::kBroken || outside) throw NotAsWritten{};
    return event;
  }

  // Return the text that was read, with its escapes replaced by their characters.
  std::string_view read_text() {
    if (!scanner_.escaped() || scanner_.text().find('&') == std::string_view::npos) return scanner_.text();
    unescaped_.clear();
    append_unescaped(scanner_.text(), unescaped_);
    return unescaped_;
  }

  void add_text() {
    const std::string_view text = read_text();
    if (parts_.empty() && is_blank(text)) return;
    if (in_link_ > 0) link_chars_ += count_characters(without_space(text));
    if (after_formula_ && !is_blank(text)) after_formula_ = false;
    scripts_.follow(text, parts_);
    parts_.append(text);
    after_link_ = false;
  }

  enum class Value : uint8_t { kNone, kRead, kFormula };

  // Read a formula, its visual copy or its image to the end. The text is then in `formula_`.
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
      } else if ((value.find("mw-editsection") != value.npos || value.find("viewcode-link") != value.npos) &&
                 !tag.is(kVoid | kBlockLevel | kDashed)) {
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

  // Add the formula that was read to the line. A displayed formula becomes a block.
  void put_formula(bool display) {
    if (display && now_.kind != BlockKind::kHeading && in_link_ == 0) {
      flush();
      if (formula_.starts_with('$')) formula_ = "$" + formula_ + "$";
      parts_.append(formula_);
      return flush();
    }
    if (in_link_ > 0) link_chars_ += count_characters(formula_);
    scripts_.follow(formula_, parts_);
    parts_.append(formula_);
    after_link_ = false;
  }

  void enter() {
    const HtmlTag tag = scanner_.tag();
    if (tag.is(kUnseen)) return skip();
    if (begins_block(tag)) return enter_block(tag);
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
      // Only the style separates two adjacent links on the page, so a space separates their texts.
      if (!parts_.empty() && in_link_ == 0 && after_link_) parts_.push_back(' '), after_link_ = false;
      ++in_link_, ++links_;
      frame = Frame::kLink;
      in_fragment_ = is_fragment(attributes), in_picture_ = is_picture(attributes, unescaped_);
      link_at_ = parts_.size();
      target_.clear();
      if (targets_ && now_.kind != BlockKind::kHeading && !scripts_.any_open())
        target_ = link_target(attributes, unescaped_);
      scripts_.see_link(in_fragment_);
      if (is_permalink(attributes, now_.kind == BlockKind::kHeading || now_.kind == BlockKind::kCaption || now_.term)) {
        permalinks_.push_back({parts_.size(), link_chars_});
        frame = Frame::kPermalink;
      }
    } else if (tag.kind == HtmlKind::kImage) {
      const bool heads = now_.kind == BlockKind::kHeading;
      if ((heads || (images_ && now_.kind != BlockKind::kForm)) && image_.empty() && !now_.hidden &&
          (in_link_ == 0 || in_picture_) && !attributes.empty() && !hides(tag, attributes, unescaped_))
        image_ = alternative(attributes, heads, unescaped_);
    } else if (tag.kind == HtmlKind::kDrawn) {
      put_blank();
      frame = Frame::kDrawn;
    } else if (!attributes.empty() && !now_.hidden && hides(tag, attributes, unescaped_) &&
               !has_class(attributes, "mwe-math-mathml")) {
      // Hidden text inside a line is a block of its own, because the rest of the line is visible.
      flush();
      now_.hidden = true;
      frame = Frame::kHidden;
    } else if (is_script(tag.kind)) {
      scripts_.enter(tag.kind, (in_link_ > 0 && in_fragment_) || is_note(attributes), parts_);
      after_link_ = false;  // a link inside the script belongs to the text before it
      frame = Frame::kScript;
    }
    open_.push_back({frame, -1});
    if (tag.is(kVoid)) leave();
  }

  // Return whether an element begins a block, by its name or its role, unless a style puts it into a line.
  bool begins_block(const HtmlTag& tag) {
    const auto& attributes = scanner_.attributes();
    if (tag.is(kBlockLevel | kDashed))
      return tag.kind != HtmlKind::kOther || attributes.empty() || !is_in_line(attributes, unescaped_);
    return tag.kind == HtmlKind::kOther && in_link_ == 0 && !attributes.empty() && level_of_role() > 0;
  }

  // End an element after its children.
  void leave() {
    const Open top = open_.back();
    open_.pop_back();
    switch (top.frame) {
      case Frame::kInline:
        return;
      case Frame::kLink:
        --in_link_;
        write_target(parts_, link_at_, target_);
        target_.clear();
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

  // Separate the words of a drawing.
  void put_blank() {
    if (!parts_.empty()) parts_.push_back(' '), after_link_ = false, scripts_.follow({}, parts_);
  }

  // Remove the mark of a permalink from the text.
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

  // Skip an element whose text is not visible.
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

  // Return an attribute's characters, or nothing if it is missing or empty.
  std::string_view value_of(std::string_view name) {
    for (const auto& attribute : scanner_.attributes()) {
      if (attribute.name != name) continue;
      unescaped_.clear();
      append_unescaped(attribute.value, unescaped_);
      return unescaped_;
    }
    return {};
  }

  // Return the level of a heading by its role, 1 to 6, or 0 if it is none.
  int64_t level_of_role() {
    const auto& attributes = scanner_.attributes();
    const bool heading = std::ranges::any_of(
        attributes, [](const HtmlAttribute& each) { return each.name == "role" && each.value == "heading"; });
    return heading ? std::clamp<int64_t>(number_of(value_of("aria-level"), 4).value_or(2), 1, 6) : 0;
  }

  // Return the numbering of items, by the attributes of a list or an item.
  ListStyle style_of_list(ListStyle style) {
    const std::string_view type = value_of("type");
    if (type.size() == 1 && std::string_view("1aAiI").find(type[0]) != std::string_view::npos) {
      style = static_cast<ListStyle>(type[0]);
    }
    std::string& written = unescaped_;
    written.assign(value_of("style"));
    if (written.find("list-style") == written.npos) return style;
    std::ranges::transform(written, written.begin(), to_small);
    // If several styles are known, the last one counts.
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

  // Return the number of items of the list that has begun.
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

  // Write the text since the last boundary as a block, or as several if it contains empty lines.
  void flush() {
    if (is_blank(parts_)) {
      if (!image_.empty()) put_image();
    } else {
      if (now_.kind == BlockKind::kCaption && links_ == 0) forget_image();
      put_parts();
    }
    image_.clear();
    link_at_ = std::string::npos;
    parts_.clear();
    scripts_.forget();
    for (auto& each : permalinks_) each.at = std::string::npos;
    inline_.clear();
    inline_count_ = 0;
    after_link_ = false;
    links_ = link_chars_ = 0;
  }

  // Write the text of an image that is alone in its block, unless the image before it has the same text.
  void put_image() {
    const bool heads = now_.kind == BlockKind::kHeading;
    if (!heads && image_ == pictured_.says) return;
    const Pictured before{out_.rows.size(), out_.text.size(), length_, last_kind_, image_};
    put_block(heads ? image_ : "[image: " + image_ + "]", 0, links_);
    if (!heads) pictured_ = before;
  }

  // Remove the text of an image if its caption, which was read, contains it.
  void forget_image() {
    if (pictured_.rows + 4 != out_.rows.size()) return;
    std::string caption;
    std::string line = parts_;
    std::ranges::replace(line, kLineBreak, ' ');
    append_words(line, caption);
    if (caption.find(pictured_.says) == caption.npos) return;
    out_.rows.resize(pictured_.rows), out_.facts.resize(pictured_.rows / 4 * 5);
    out_.text.resize(pictured_.text);
    length_ = pictured_.length, last_kind_ = pictured_.last_kind;
    pictured_.rows = kNoRows;
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
      groups_.push_back({group, count_characters(group)});
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
    const int64_t characters = count_characters(text);
    written_.clear();
    if (kind == BlockKind::kHeading) {
      written_.append(static_cast<size_t>(level), '#').append(" ").append(text);
      if (level == 1 && now_.quotes == 0 && out_.first_heading.empty()) out_.first_heading = text;
    } else {
      write_body(kind, text);
      if (now_.term && kind == BlockKind::kParagraph) kind = BlockKind::kTerm;
    }
    if (now_.quotes > 0) {
      // A quoted heading becomes a quote, too, because it heads no text after the quote.
      bars_.clear();
      append_repeated("> ", std::min<int64_t>(now_.quotes, 6), bars_);
      quoted_.assign(bars_);
      append_inset(written_, bars_, quoted_);
      written_.swap(quoted_);
      kind = BlockKind::kQuote, level = now_.quotes;
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

  // Add `written_` as a block. Its own words must have been added before.
  void put(BlockKind kind, int64_t level, int64_t characters, int64_t link_chars, int64_t links) {
    if (!out_.rows.empty()) {
      const bool items = kind == BlockKind::kItem && last_kind_ == BlockKind::kItem;
      out_.text.append(items ? "\n" : "\n\n");
      length_ += items ? 1 : 2;
    }
    last_kind_ = kind;
    const int32_t row = add_element();
    const int64_t size = count_characters(written_);
    out_.rows.insert(out_.rows.end(),
                     {static_cast<int64_t>(kind), std::min(level, kMostDepth), length_, length_ + size});
    out_.facts.insert(out_.facts.end(), {row, static_cast<int32_t>(characters), static_cast<int32_t>(link_chars),
                                         static_cast<int32_t>(links), now_.hidden});
    out_.text.append(written_);
    length_ += size;
  }

  // Return the language that the block that has begun, or one of the three around it, names for its code.
  std::string language_around() const {
    int32_t element = element_;
    for (int up = 0; up < 4 && element >= 0; ++up, element = out_.parent[static_cast<size_t>(element)]) {
      if (element == language_element_) return language_;
    }
    return {};
  }

  // Return whether the element that was read last is a button that copies code.
  bool is_copy_button(const HtmlTag& tag) const {
    if (tag.name == "button" || tag.name == "clipboard-copy") return true;
    return !tag.is(kVoid) && has_word(scanner_.attributes(), kCopyButtons);
  }

  // Return whether each line of the code in the element that has begun is an element, as Doxygen writes it.
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

  // Return whether the table that has begun contains only code and its line numbers.
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

  // Write text as it is, up to the end of the element, without line numbers. Text between the lines of a listing is
  // omitted.
  void put_code(std::string language, bool listing = false) {
    struct Numbers {
      size_t depth, at;
      int64_t links, linked;
    };
    std::string text;
    std::vector<Numbers> numbers;  // open elements with class names of line numbers
    const size_t depth = scanner_.depth();
    size_t unseen = 0;          // the depth of the element whose text is not visible, or 0
    std::vector<size_t> lines;  // the text's sizes at the beginnings of open rows and lines of a listing
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
        linked += in_links * count_characters(part);
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
    const int64_t characters = count_characters(inner);
    put(BlockKind::kCode, 0, characters, std::min(linked, characters), std::min(links, kMostDepth));
  }

  // Write a data table as rows with bars. Return whether it is one.
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
      put(BlockKind::kCaption, 0, count_characters(table.caption), 0, 0);
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
        if (there) characters += 1 + count_characters(cells[static_cast<size_t>(c)]);
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

  // Read the table that has begun to its end. Return false for a layout table, which may have been read in part.
  bool read_table(DataTable& table) {
    const size_t depth = scanner_.depth();
    TableReader reader{*this, table};
    for (;;) {
      const HtmlEvent event = next();
      const HtmlTag tag = scanner_.tag();
      if (event == HtmlEvent::kText) {
        if (!reader.add_text(read_text())) return false;
      } else if (event == HtmlEvent::kStart) {
        if (!reader.enter(tag)) return false;
      } else if (event == HtmlEvent::kEnd) {
        if (scanner_.depth() < depth) break;
        if (!reader.leave(tag)) return false;
      }
    }
    table.end_row();
    append_words(reader.words, table.caption);
    return table.settle();
  }

  // The state of a table between two of its tags. Each step returns false as soon as the table turns out to be for
  // layout.
  struct TableReader {
    bool add_text(std::string_view text) {
      if (walker.after_formula_ && !is_blank(text)) walker.after_formula_ = false;
      if (in_cell) {
        scripts.follow(text, cell);
        cell.append(text);
        if (in_link > 0) table.link_chars += count_characters(without_space(text));
      } else if (!is_blank(text)) {
        if (captions == 0) return false;
        words.append(text);
      }
      return true;
    }

    bool enter(const HtmlTag& tag) {
      if (tag.is(kLayoutOnly) && !(tag.kind == HtmlKind::kTable && titled && in_cell)) return false;
      if (tag.is(kUnseen)) {
        walker.skip();
        return true;
      }
      bool display = false;
      if (const Value value = walker.read_value(tag, display); value != Value::kNone) {
        if (value == Value::kFormula) scripts.follow(walker.formula_, line()), line().append(walker.formula_);
        return true;
      }
      if (in_cell) parts.enter(tag, cell);
      if (parts.tables > 0) {
        const bool nested = tag.kind == HtmlKind::kRow || tag.kind == HtmlKind::kCell ||
                            tag.kind == HtmlKind::kHeadCell || tag.kind == HtmlKind::kHead;
        if (nested) return true;
      } else {
        titled |= tag.kind == HtmlKind::kHeadCell || tag.kind == HtmlKind::kHead || tag.kind == HtmlKind::kCaption;
      }
      return begin(tag);
    }

    bool leave(const HtmlTag& tag) {
      captions -= tag.kind == HtmlKind::kCaption;
      parts.leave(tag);
      if (parts.tables == 0 && (tag.kind == HtmlKind::kCell || tag.kind == HtmlKind::kHeadCell)) {
        return end_cell(tag);
      }
      if (is_script(tag.kind)) {
        scripts.leave(line());
      } else if (tag.kind == HtmlKind::kLink) {
        end_link();
      } else if (tag.kind == HtmlKind::kDrawn) {
        if (in_cell) cell.push_back(' ');
      } else if (tag.kind == HtmlKind::kHead && parts.tables == 0) {
        in_head = false;
      } else if (in_cell && tag.is(kBlockLevel)) {
        cell.push_back(' ');
      }
      return true;
    }

    Walker& walker;
    DataTable& table;
    std::string cell{}, words{}, image{}, target{};
    Scripts scripts{};
    bool fragment = false, permalink = false;
    size_t line_at = 0;
    bool in_cell = false, in_head = false, titled = false;
    CellParts parts{};
    int64_t columns = 1, down = 1, in_link = 0, captions = 0, added = 0;  // added: characters that link targets add

   private:
    // Return the text that is being read: a cell's, or the caption's.
    std::string& line() { return in_cell ? cell : words; }

    bool begin(const HtmlTag& tag) {
      switch (tag.kind) {
        case HtmlKind::kImage:
          if (in_cell && titled && in_link == 0 && image.empty())
            image = alternative(walker.scanner_.attributes(), true, walker.unescaped_);
          break;
        case HtmlKind::kRow:
          table.begin_row();
          break;
        case HtmlKind::kCell:
        case HtmlKind::kHeadCell:
          if (in_cell) return false;
          begin_cell();
          break;
        case HtmlKind::kHead:
          in_head = true;
          table.begin_group();
          break;
        case HtmlKind::kLink:
          begin_link();
          break;
        case HtmlKind::kBreak:
        case HtmlKind::kDrawn:
          if (in_cell) cell.push_back(' ');
          break;
        case HtmlKind::kRaised:
        case HtmlKind::kLowered:
        case HtmlKind::kReading:
          scripts.enter(tag.kind, (in_link > 0 && fragment) || is_note(walker.scanner_.attributes()), line());
          break;
        default:
          captions += tag.kind == HtmlKind::kCaption;
          if (parts.tables == 0 && (tag.name == "tbody" || tag.name == "tfoot")) table.begin_group();
          if (in_cell && tag.is(kBlockLevel | kDashed)) cell.push_back(' ');
      }
      return true;
    }

    void begin_cell() {
      in_cell = true;
      cell.clear(), image.clear(), added = 0;
      scripts.forget();
      columns = std::clamp<int64_t>(integer_of(walker.value_of("colspan")).value_or(1), 1, kMostColumns);
      down = std::clamp<int64_t>(integer_of(walker.value_of("rowspan")).value_or(1), 0, kMostRows);
      if (down == 0) down = kMostRows;  // to the end of its group
    }

    bool end_cell(const HtmlTag& tag) {
      std::string& joined = walker.joined_;
      joined.clear();
      append_cell(cell, joined);
      if (joined.empty()) joined = image;
      if (count_characters(joined) - added > kMostInCell || table.cells > kMostCells) return false;
      std::string text;
      for (const char c : joined) c == '|' ? text.append("\\|") : text.append(1, c);
      table.add(std::move(text), in_head || tag.kind == HtmlKind::kHeadCell, columns, down);
      in_cell = false;
      scripts.forget();
      return true;
    }

    void begin_link() {
      const Attributes& attributes = walker.scanner_.attributes();
      ++in_link, ++table.links;
      fragment = is_fragment(attributes);
      scripts.see_link(fragment);
      permalink = is_permalink(attributes, true);
      line_at = line().size();
      target.clear();
      if (walker.targets_ && !scripts.any_open()) target = link_target(attributes, walker.unescaped_);
    }

    void end_link() {
      --in_link;
      std::string& text = line();
      if (permalink && line_at < text.size() && is_permalink_mark(std::string_view(text).substr(line_at))) {
        text.resize(line_at);
      } else {
        added += write_target(text, line_at, target);
      }
      permalink = false;
      target.clear();
    }
  };

  void finish() {
    flush();
    if (!out_.rows.empty()) out_.text.push_back('\n');
  }

  HtmlScanner scanner_;
  bool images_, targets_;
  HtmlWalk& out_;
  int64_t turns_ = 0;
  // The block that is being read: its text, the hashes of its first inline elements, its links.
  std::string parts_;
  bool after_link_ = false, in_fragment_ = false, after_formula_ = false, displayed_ = false;
  std::string formula_;
  Scripts scripts_;
  struct Permalink {
    size_t at;
    int64_t link_chars;
  };
  std::vector<Permalink> permalinks_;
  bool in_picture_ = false;
  size_t link_at_ = std::string::npos;  // the beginning of the open link, and its target below
  std::string target_;
  std::string image_;  // the alternative text of the block's first image
  // The last block that has the text of an image: the state of the output before it, and this text.
  static constexpr size_t kNoRows = std::string::npos - 4;
  struct Pictured {
    size_t rows = kNoRows, text = 0;
    int64_t length = 0;
    BlockKind last_kind = BlockKind::kParagraph;
    std::string says;
  };
  Pictured pictured_;
  std::vector<uint32_t> inline_;
  size_t inline_count_ = 0;
  int64_t link_chars_ = 0, links_ = 0, in_link_ = 0;
  // The state around the block, and the elements above.
  Around now_;
  int32_t element_ = -1;
  std::vector<Open> open_;
  std::vector<Around> around_;
  // The marks of list items. The first block inside an item takes its mark.
  std::vector<Mark> marks_{Mark{}};
  std::vector<List> lists_{List{}};
  // The output so far.
  BlockKind last_kind_ = BlockKind::kParagraph;
  int64_t length_ = 0;
  bool childless_ = false;
  // The last block that named a language.
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

bool walk_html(std::string_view page, bool images, bool targets, HtmlWalk& out) {
  try {
    Walker(page, images, targets, out).run();
  } catch (const NotAsWritten&) {
    return false;
  }
  return true;
}

}  // namespace pychunk
