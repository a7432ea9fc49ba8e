// The reader of a page that lexbor has written from its tree, element by element.
//
// Such a page is regular, so none of the parsing rules of HTML apply. Each element has its end tag, except void ones.
// Each value of an attribute is in double quotation marks. Only &amp; &lt; &gt; &quot; and &nbsp; stand for characters.
// If the page breaks these rules, or if the scanner cannot know whether they hold, it returns kBroken instead of
// guessing. The latter applies to `plaintext`, and to elements of drawings and formulas with the names of void or raw
// elements.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pychunk {

// The kind of an element for the walk. Kinds and traits follow from its name.
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
  kDrawn,  // text of a drawing, which is separate from other text
};

enum HtmlTrait : uint8_t {
  kUnseen = 1,       // its text is not visible
  kBlockLevel = 2,   // it begins and ends a line
  kVoid = 4,         // it has no end tag
  kRawText = 8,      // its text is written without escapes
  kLayoutOnly = 16,  // inside a table it shows that the table is for layout
  kForeign = 32,     // svg, math
  kUnknowable = 64,  // the scanner cannot read it: plaintext, and elements that the caller should have removed
  kDashed = 128,     // a hyphen in its name: a custom element of the page, which is also a block
};

struct HtmlTag {
  std::string_view name;
  HtmlKind kind = HtmlKind::kOther;
  uint8_t traits = 0;
  uint32_t hash = 0;  // the CRC-32 of "<" and the name
  bool is(uint8_t any) const { return (traits & any) != 0; }
};

struct HtmlAttribute {
  std::string_view name, value;  // the value as written, with escapes
};

enum class HtmlEvent : uint8_t {
  kText,
  kStart,
  kEnd,
  kNothing,  // a comment, a processing instruction, a doctype
  kBroken,
};

// Append the characters that a written text or value stands for.
void append_unescaped(std::string_view written, std::string& out);

class HtmlScanner {
 public:
  explicit HtmlScanner(std::string_view page) : page_(page) {}

  // Return the next event. No kEnd follows the start tag of a void element. The result is also kBroken if the page ends
  // inside an element.
  HtmlEvent next();

  // The tag of the last kStart or kEnd.
  const HtmlTag& tag() const { return tag_; }
  // For the last kStart: whether anything is inside, and its attributes.
  bool has_child() const { return has_child_; }
  const std::vector<HtmlAttribute>& attributes() const { return attributes_; }
  // For the last kText: the text as written, and whether it may contain escapes.
  std::string_view text() const { return text_; }
  bool escaped() const { return escaped_; }
  // The number of open elements. After a kStart it includes that element, unless it is void.
  size_t depth() const { return open_.size(); }

  // A place to return to, directly after the start tag that was read last.
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
  size_t raw_ = 0;      // the end of the raw text that begins here, or 0
  size_t foreign_ = 0;  // the number of open drawings and formulas
  std::vector<HtmlTag> open_;
  HtmlTag tag_;
  bool has_child_ = false, escaped_ = false;
  std::vector<HtmlAttribute> attributes_;
  std::string_view text_;
};

}  // namespace pychunk
