#include "parsing/wiki/lines.h"

#include <algorithm>
#include <cstdlib>

#include "parsing/wiki/marks.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace wiki {
namespace {

constexpr size_t kLevels = 20;
constexpr std::string_view kListSigns = "*#:;";

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
  explicit Lines(const WikiContext& context) : context_(context) {}

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
  void mark(char kind) { out_ += kBegins, out_ += kind; }

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
    if (!std::any_of(body.begin(), body.end(), [](char c) { return is_letter(c) || is_digit(c); }) &&
        body.find(kHeld) == std::string_view::npos && (is_ascii(body) || !context_.has_letters(body)))
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
    return index < context_.held.size() && context_.held[index].find('\n') != std::string::npos;
  }

  static bool is_ascii(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  }

  const WikiContext& context_;
  Quotes quotes_;
  std::string out_, title_;
  Last last_ = Last::kBlank;
  bool any_ = false;
};

// Returns a text with its entities decoded, and with no-break spaces and tabs as blanks.
std::string decoded(std::string_view text, const WikiContext& context) {
  const auto name_length = [&](size_t at) {  // of the entity after the "&" before text[at]; 0 if there is none
    const auto run = [&](size_t from, size_t most, auto fits) {
      size_t n = 0;
      while (n <= most && from + n < text.size() && fits(text[from + n])) ++n;
      return n > most || from + n == text.size() || text[from + n] != ';' ? size_t{0} : n;
    };
    const auto is_either = [](char c) { return is_letter(c) || is_digit(c); };
    if (at >= text.size()) return size_t{0};
    if (text[at] != '#') {
      const size_t length = is_letter(text[at]) ? run(at, 32, is_either) : 0;
      return length >= 2 ? length : 0;
    }
    if (const size_t digits = run(at + 1, 7, is_digit)) return digits + 1;
    if (at + 1 == text.size() || (text[at + 1] | 0x20) != 'x') return size_t{0};
    const size_t digits =
        run(at + 2, 6, [&](char c) { return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); });
    return digits == 0 ? 0 : digits + 2;
  };
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('&', at), text.size());
    out.append(text, at, next - at);
    if (next == text.size()) break;
    const size_t length = name_length(next + 1);
    if (length == 0) {
      out += '&';
    } else {
      context.add_entity(text.substr(next + 1, length), out);
    }
    at = next + 1 + (length == 0 ? 0 : length + 1);
  }
  char* to = out.data();
  for (const char *at = to, *const end = to + out.size(); at < end; ++at) {
    const bool wide = *at == '\xC2' && at + 1 < end && at[1] == '\xA0';
    *to++ = wide || *at == '\t' ? ' ' : *at;
    at += wide;
  }
  out.resize(static_cast<size_t>(to - out.data()));
  return out;
}

// Returns the length of the white-space character or line break at text[at], or 0.
size_t blank_length(std::string_view text, size_t at) {
  if (text[at] == kBreak) return 1;
  return static_cast<size_t>(space_length(text, static_cast<int64_t>(at)));
}

// Moves the mark of a block after the white space that follows it, and drops it if another mark or the end follows.
std::string placed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != kBegins) {
      const size_t next = std::min(text.find(kBegins, at), text.size());
      out += text.substr(at, next - at);
      at = next;
      continue;
    }
    std::string_view mark = text.substr(at, 2);
    at += 2;
    if (at < text.size() && blank_length(text, at) > 0) {
      for (size_t length = 1; at < text.size() && length > 0; at += length) {
        length = text[at] == kBegins ? 2 : blank_length(text, at);
        if (text[at] == kBegins) {
          mark = text.substr(at, 2);
        } else {
          out += text.substr(at, length);
        }
      }
    }
    if (at < text.size()) out += mark;
  }
  return out;
}

// Shortens runs of blanks to one and of line feeds to two, and turns each line break, with the blanks around it and one
// line feed after it, into a line feed.
std::string shortened(std::string_view text) {
  std::string narrow(text.size(), '\0');
  char* end = narrow.data();
  char before = '\0';
  for (const char c : text) {
    *end = c;
    end += c != ' ' || before != ' ';
    before = c;
  }
  narrow.resize(static_cast<size_t>(end - narrow.data()));
  const auto skip = [&](size_t at) { return std::min(narrow.find_first_not_of(" \x03", at), narrow.size()); };
  std::string out(narrow.size(), '\0');
  char *const begin = out.data(), *to = begin;
  for (size_t at = 0; at < narrow.size();) {
    char c = narrow[at++];
    if (c == kBreak) {
      if (at >= 2 && narrow[at - 2] == ' ') --to;
      at = skip(at);
      if (at < narrow.size() && narrow[at] == '\n') at = skip(at + 1);
      c = '\n';
    }
    if (c == '\n' && to - begin >= 2 && to[-1] == '\n' && to[-2] == '\n') continue;
    *to++ = c;
  }
  out.resize(static_cast<size_t>(to - begin));
  return out;
}

// Returns a text with the texts that were held apart.
std::string restored(std::string text, const std::vector<std::string>& held) {
  if (held.empty()) return text;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t mark = std::min(text.find(kHeld, at), text.size());
    out.append(text, at, mark - at);
    if (mark == text.size()) break;
    const size_t end = std::min(text.find_first_not_of("0123456789", mark + 1), text.size());
    if (end == mark + 1 || end == text.size() || text[end] != kHeld) {
      out += kHeld, at = mark + 1;
      continue;
    }
    const size_t index = std::strtoull(text.c_str() + mark + 1, nullptr, 10);
    if (index < held.size()) out += held[index];
    at = end + 1;
  }
  return out;
}

// Returns a text without marks and without white space at its ends, and its blocks.
WikiText without_marks(std::string_view marked, size_t most_blocks) {
  WikiText out;
  out.too_many = static_cast<size_t>(std::count(marked.begin(), marked.end(), kBegins)) > most_blocks;
  std::string text;
  text.reserve(marked.size());
  const auto characters = [](std::string_view part) { return count_characters(part); };
  size_t at = std::min(marked.find(kBegins), marked.size());
  text += marked.substr(0, at);
  int64_t before = characters(text);
  while (at < marked.size()) {
    if (at + 2 > marked.size()) break;
    const char kind = marked[at + 1];
    const size_t next = std::min(marked.find(kBegins, at + 2), marked.size());
    const std::string_view body = marked.substr(at + 2, next - at - 2), inside = stripped_all(body);
    if (!inside.empty() && !out.too_many) {
      out.kinds += kind;
      const int64_t start = before + characters(body.substr(0, static_cast<size_t>(inside.data() - body.data())));
      out.start.push_back(start), out.end.push_back(start + characters(inside));
    }
    text += body;
    before += characters(body);
    at = next;
  }
  const std::string_view all = text, inside = stripped_all(all);
  if (!inside.empty()) {
    const int64_t blank = characters(all.substr(0, static_cast<size_t>(inside.data() - all.data())));
    for (size_t b = 0; b < out.start.size(); ++b) out.start[b] -= blank, out.end[b] -= blank;
  }
  out.text = inside;
  return out;
}

}  // namespace
}  // namespace wiki

WikiText wiki_text(std::string_view page, const WikiContext& context) {
  using namespace wiki;
  // A template of the caller may have returned a mark of a block. Each step frees the text of the step before.
  std::string text(page);
  std::erase(text, kBegins);
  text = Lines(context).run(text);
  text = decoded(text, context);
  text = placed(text);
  text = shortened(text);
  text = restored(std::string(stripped_all(text)), context.held);
  return without_marks(text, context.most_blocks);
}

}  // namespace pychunk
