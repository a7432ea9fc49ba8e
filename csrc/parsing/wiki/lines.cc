#include "parsing/wiki/lines.h"

#include <algorithm>
#include <cstdlib>

#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Marks of wikitext.py: a line break, a text that is held apart, and the beginning of a block.
constexpr char kBreak = '\x03', kHeld = '\x04', kBegins = '\x06';
constexpr size_t kLevels = 20;
constexpr std::string_view kListSigns = "*#:;";

bool is_ascii_letter(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns a line without the blanks, tabs and no-break spaces at its ends.
std::string_view stripped(std::string_view line) {
  for (size_t before = line.size() + 1; before != line.size();) {
    before = line.size();
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.starts_with("\xC2\xA0")) line.remove_prefix(2);
  }
  for (size_t before = line.size() + 1; before != line.size();) {
    before = line.size();
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (line.ends_with("\xC2\xA0")) line.remove_suffix(2);
  }
  return line;
}

std::string_view stripped_all(std::string_view text) {
  const Trimmed inside = trim(text, 0, static_cast<int64_t>(text.size()));
  return inside.empty() ? std::string_view{} : slice(text, inside.begin, inside.end);
}

// Returns whether the last character of a text is not white space, and whether white space or nothing is before it.
struct LastCharacter {
  bool visible = false, alone = false;
};
LastCharacter last_character(std::string_view text) {
  if (text.empty()) return {};
  const int64_t last = character_before(text, static_cast<int64_t>(text.size()));
  if (space_length(text, last) > 0) return {};
  return {true, last == 0 || space_length(text, character_before(text, last)) > 0};
}

// Copies a line without its bold and italic marks. An apostrophe before an italic word (l'''Odyssée'') stays.
class Quotes {
 public:
  std::string_view without(std::string_view line) {
    out_.clear(), runs_.clear();
    size_t bold = 0, italic = 0;
    for (size_t at = line.find("''"); at != std::string_view::npos; at = line.find("''", at)) {
      const size_t end = std::min(line.find_first_not_of('\'', at), line.size()), length = end - at;
      runs_.push_back({at, end});
      bold += length >= 3, italic += length == 2 || length >= 5;
      at = end;
    }
    const size_t kept = bold % 2 == 1 && italic % 2 == 1 ? apostrophe(line) : runs_.size();
    size_t from = 0;
    for (size_t i = 0; i < runs_.size(); ++i) {
      out_.append(line, from, runs_[i].begin - from);
      if (runs_[i].length() == 4 || i == kept) out_ += '\'';
      from = runs_[i].end;
    }
    return out_.append(line, from, line.size() - from);
  }

 private:
  struct Run {
    size_t begin, end;
    size_t length() const { return end - begin; }
  };

  // Returns the run of three marks that is an apostrophe and two marks: the first after a letter that stands alone,
  // else the first after any character, else the first.
  size_t apostrophe(std::string_view line) const {
    size_t first = runs_.size(), word = first;
    for (size_t i = 0, from = 0; i < runs_.size(); from = runs_[i++].end) {
      if (runs_[i].length() != 3) continue;
      const LastCharacter before = last_character(line.substr(from, runs_[i].begin - from));
      if (before.visible && before.alone) return i;
      first = std::min(first, i);
      if (before.visible) word = std::min(word, i);
    }
    return word < runs_.size() ? word : first;
  }

  std::string out_;
  std::vector<Run> runs_;
};

class Lines {
 public:
  explicit Lines(const WikiLines& given) : given_(given) {}

  std::string run(std::string_view text) {
    out_.reserve(text.size() + text.size() / 8);
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      std::string_view line = stripped(text.substr(begin, end - begin));
      if (line.find("''") != std::string_view::npos) line = stripped(quotes_.without(line));
      add(line);
      begin = end + 1;
    }
    return std::move(out_);
  }

 private:
  enum class Last : uint8_t { kBlank, kHeading, kItem, kParagraph, kCode };

  bool follows_text() const { return last_ == Last::kParagraph || last_ == Last::kCode; }

  // Begins a line of the output.
  void begin() {
    if (any_) out_ += '\n';
    any_ = true;
  }
  void mark(char kind) {
    if (given_.marks) out_ += kBegins, out_ += kind;
  }

  void add(std::string_view line) {
    if (line.empty()) {
      if (follows_text()) begin();
      last_ = Last::kBlank;
    } else if (const size_t level = heading_level(line)) {
      begin(), begin();
      mark(static_cast<char>('0' + level));
      title_.assign(line, level, line.size() - 2 * level);
      std::replace(title_.begin(), title_.end(), kBreak, ' ');
      out_ += stripped_all(title_);
      begin();
      last_ = Last::kHeading;
    } else if (kListSigns.find(line.front()) != std::string_view::npos) {
      add_item(line);
    } else {
      if (line.front() == '|') return;
      if (line.starts_with("----")) line.remove_prefix(std::min(line.find_first_not_of('-'), line.size()));
      if (!line.empty()) add_text(line);
    }
  }

  // Returns the number of equals signs on both sides of a heading; 0 if the line is no heading.
  static size_t heading_level(std::string_view line) {
    size_t front = 0, back = 0;
    while (front < std::min<size_t>(6, line.size()) && line[front] == '=') ++front;
    while (back < front && line[line.size() - 1 - back] == '=') ++back;
    return std::min(back, (line.size() - 1) / 2);
  }

  void add_item(std::string_view line) {
    const std::string_view body = line.substr(std::min(line.find_first_not_of("*#:; \t"), line.size()));
    if (!std::any_of(body.begin(), body.end(), is_ascii_letter) && body.find(kHeld) == std::string_view::npos &&
        (is_ascii(body) || !given_.has_letters(body)))
      return;
    const std::string_view signs = line.substr(0, line.size() - body.size());
    if (last_ != Last::kItem) begin();
    begin();
    if (signs.find_first_of("*#") == std::string_view::npos) {
      mark('p');
    } else {
      const auto depth = std::count_if(signs.begin(), signs.end(), [](char c) { return c != ' ' && c != '\t'; });
      mark(static_cast<char>('A' + std::min(static_cast<size_t>(depth), kLevels) - 1));
      out_ += "- ";
    }
    out_ += body;
    last_ = Last::kItem;
  }

  void add_text(std::string_view line) {
    const Last kind = is_code(line) ? Last::kCode : Last::kParagraph;
    const bool goes_on = last_ == Last::kParagraph && kind == Last::kParagraph;
    if (follows_text() && out_.back() != kBreak) {
      out_ += ' ';
    } else {
      if (last_ == Last::kItem) begin();
      begin();
    }
    if (!goes_on) mark(kind == Last::kCode ? 'c' : 'p');
    out_ += line;
    last_ = kind;
  }

  // Returns whether a line holds only a reference to code of several lines.
  bool is_code(std::string_view line) const {
    constexpr std::string_view kAround = " \x03";
    const size_t first = line.find_first_not_of(kAround), last = line.find_last_not_of(kAround);
    if (first == std::string_view::npos || line[first] != kHeld || line[last] != kHeld || last < first + 2)
      return false;
    const std::string_view number = line.substr(first + 1, last - first - 1);
    if (number.find_first_not_of("0123456789") != std::string_view::npos) return false;
    const size_t index = std::strtoull(std::string(number).c_str(), nullptr, 10);
    return index < given_.code.size() && given_.code[index];
  }

  static bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  }

  const WikiLines& given_;
  Quotes quotes_;
  std::string out_, title_;
  Last last_ = Last::kBlank;
  bool any_ = false;
};

}  // namespace

std::string wiki_lines(std::string_view text, const WikiLines& given) { return Lines(given).run(text); }

}  // namespace pychunk
