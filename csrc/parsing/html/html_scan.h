// A page as lexbor writes its tree, element by element.
//
// What a parser has read and writes again is regular, so none of the rules of HTML apply: each element has its end tag
// but for those that are void, each value of an attribute stands in double quotes, and only &amp; &lt; &gt; &quot; and
// &nbsp; stand for characters. Where that cannot be told (`plaintext`, elements of drawings and formulas that have the
// names of void or raw ones) or does not hold, the scanner says kBroken, and nothing is guessed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

// What an element is to the walk; kinds and traits go by its name.
enum class HtmlKind : uint8_t {
  kOther,
  kBreak,     // br
  kLink,      // a
  kImage,     // img
  kHeading,   // h1 to h6
  kItem,      // li
  kList,      // ul, menu, dir
  kOrdered,   // ol
  kForm,      // a control with text: button, legend, option ...
  kQuote,     // blockquote
  kCaption,   // of a table
  kLegend,    // figcaption
  kVerbatim,  // pre, listing, xmp
  kTable,
  kRow,
  kCell,
  kHeadCell,
  kHead,     // thead
  kRaised,   // sup
  kLowered,  // sub
  kReading,  // rt
  kTerm,     // dt
  kMath,
  kDrawn,  // text of a drawing, which stands by itself
};

enum HtmlTrait : uint8_t {
  kUnseen = 1,       // nobody sees its text
  kBlockLevel = 2,   // it begins and ends a line
  kVoid = 4,         // it has no end tag
  kRawText = 8,      // its text is written as it is
  kLayoutOnly = 16,  // inside a table it says that the table is one of layout
  kForeign = 32,     // svg, math
  kUnknowable = 64,  // the scanner does not read it: plaintext, and what is to be taken out before
  kDashed = 128,     // a hyphen in its name: an element of the page's own, which is a block, too
};

struct HtmlTag {
  std::string_view name;
  HtmlKind kind = HtmlKind::kOther;
  uint8_t traits = 0;
  bool is(uint8_t any) const { return (traits & any) != 0; }
};

struct HtmlAttribute {
  std::string_view name, value;  // the value as it is written
};

enum class HtmlEvent : uint8_t {
  kText,
  kStart,
  kEnd,
  kNothing,  // a comment, a processing instruction, a doctype
  kBroken,
};

// Appends what a text or a value stands for.
void append_unescaped(std::string_view written, std::string& out);

class HtmlScanner {
 public:
  explicit HtmlScanner(std::string_view page) : page_(page) {}

  // The next piece; a start tag without an end tag is followed by no kEnd. kBroken also where the page ends in an
  // element.
  HtmlEvent next();

  // Of the last kStart and kEnd.
  const HtmlTag& tag() const { return tag_; }
  // Of the last kStart: whether anything is inside, and its attributes.
  bool has_child() const { return has_child_; }
  const std::vector<HtmlAttribute>& attributes() const { return attributes_; }
  // Of the last kText: what is written, and whether it stands for other characters.
  std::string_view text() const { return text_; }
  bool escaped() const { return escaped_; }
  // Elements that are open: after a kStart itself among them, unless it is void.
  size_t depth() const { return open_.size(); }

  // A place to come back to: right behind the start tag that was read last.
  struct Place {
    size_t at, depth, raw, foreign;
    HtmlTag tag;
  };
  Place place() const { return {at_, open_.size(), raw_, foreign_, tag_}; }
  void back_to(const Place& place);

 private:
  HtmlEvent start();
  HtmlEvent end();
  HtmlEvent skip_past(std::string_view mark, size_t from);

  const std::string_view page_;
  size_t at_ = 0;
  size_t raw_ = 0;      // where the raw text that begins here ends, or 0
  size_t foreign_ = 0;  // drawings and formulas that are open
  std::vector<HtmlTag> open_;
  HtmlTag tag_;
  bool has_child_ = false, escaped_ = false;
  std::vector<HtmlAttribute> attributes_;
  std::string_view text_;
};

}  // namespace pychunk
