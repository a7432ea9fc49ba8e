#include "parsing/wiki/brackets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "parsing/wiki/marks.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace wiki {
namespace {

// The most templates, links and tables that are open at once; real pages stay below 20.
constexpr size_t kDepth = 100;

constexpr std::array<bool, 256> bytes_of(std::string_view which) {
  std::array<bool, 256> out{};
  for (const char c : which) out[static_cast<uint8_t>(c)] = true;
  return out;
}
// The bytes at which something may begin; those that end a plain link's target, its label, and a plain template.
constexpr auto kMarks = bytes_of("{}[]\n<"), kEndsTarget = bytes_of("[]{}|\n<>"), kEndsLabel = bytes_of("[]{}|\n"),
               kEndsTemplate = bytes_of("{}[]<");

enum class Kind : uint8_t { kPage, kTemplate, kLink, kTable };

// An open bracket, and where its text begins in the output.
struct Frame {
  Kind kind;
  size_t begin;
};

class Brackets {
 public:
  Brackets(std::string_view text, const WikiNames& names) : text_(text), names_(names) {
    out_.reserve(text.size());
    stack_.push_back({Kind::kPage, 0});
  }

  std::string run() {
    size_t at = 0;
    while (at < text_.size()) {
      const size_t begin = at;
      while (at < text_.size() && !kMarks[static_cast<uint8_t>(text_[at])]) ++at;
      out_.append(text_, begin, at - begin);
      if (at == text_.size()) break;
      const size_t next = step(at);
      if (next == at)
        out_ += text_[at++];
      else
        at = next;
    }
    std::replace(out_.begin(), out_.end(), kBar, '|');
    return std::move(out_);
  }

 private:
  bool has(size_t at, std::string_view what) const { return text_.substr(at, what.size()) == what; }
  size_t skip(size_t at, std::string_view which) const {
    return std::min(text_.find_first_not_of(which, at), text_.size());
  }
  size_t until(size_t at, const std::array<bool, 256>& ends) const {
    while (at < text_.size() && !ends[static_cast<uint8_t>(text_[at])]) ++at;
    return at;
  }

  // Handles what begins at a mark. Returns the position after it, or `at` if nothing begins there.
  size_t step(size_t at) {
    switch (text_[at]) {
      case '[':
        if (!has(at, "[[")) return at;
        if (const size_t end = plain_link(at)) return end;
        open(Kind::kLink);
        return at + 2;
      case '{':
        if (!has(at, "{{")) return at;
        if (const size_t end = plain_template(at)) return end;
        open(Kind::kTemplate);
        return at + 2;
      case ']':
        return has(at, "]]") ? close_link(at + 2) : at;
      case '}':
        return has(at, "}}") ? close_template(at + 2) : at;
      case '\n':
        return line(at);
      default:
        return tag(at);
    }
  }

  void open(Kind kind) {
    if (stack_.size() < kDepth) stack_.push_back({kind, out_.size()});
  }
  // Returns the depth of the innermost frame of a kind; 0 if none is open.
  size_t nearest(Kind kind) const {
    size_t depth = stack_.size() - 1;
    while (depth > 0 && stack_[depth].kind != kind) --depth;
    return depth;
  }
  // Closes the frames from `depth` on. The frame around them keeps their text.
  void collapse(size_t depth) { stack_.resize(std::min(stack_.size(), depth), Frame{}); }
  std::string pop() {
    std::string content = out_.substr(stack_.back().begin);
    out_.resize(stack_.back().begin);
    stack_.pop_back();
    return content;
  }

  // Adds a link without markup in it that begins at `at`. Returns the position after it, or 0 if there is none.
  size_t plain_link(size_t at) {
    const size_t target_end = until(at + 2, kEndsTarget);
    const std::string_view target = text_.substr(at + 2, target_end - at - 2);
    if (has(target_end, "]]")) return add_link(target, nullptr), target_end + 2;
    if (target_end == text_.size() || text_[target_end] != '|') return 0;
    const size_t label_end = until(target_end + 1, kEndsLabel);
    if (!has(label_end, "]]")) return 0;
    const std::string_view label = text_.substr(target_end + 1, label_end - target_end - 1);
    return add_link(target, &label), label_end + 2;
  }

  size_t plain_template(size_t at) {
    const size_t end = until(at + 2, kEndsTemplate);
    if (!has(end, "}}") || has(end + 2, "}")) return 0;
    names_.add_template(text_.substr(at + 2, end - at - 2), out_);
    return end + 2;
  }

  size_t close_template(size_t end) {
    const size_t depth = nearest(Kind::kTemplate);
    if (depth == 0) return end;
    collapse(depth + 1);
    std::string content = pop();
    if (has(end, "}") && has_more(content, '{', '}')) content += '}', ++end;
    names_.add_template(content, out_);
    return end;
  }

  size_t close_link(size_t end) {
    if (stack_.back().kind != Kind::kLink) return end;
    std::string content = pop();
    if (has(end, "]") && has_more(content, '[', ']')) content += ']', ++end;
    const size_t bar = content.find('|');
    const std::string_view whole = content;
    if (bar == std::string::npos) return add_link(whole, nullptr), end;
    const std::string_view label = whole.substr(bar + 1);
    return add_link(whole.substr(0, bar), &label), end;
  }

  static bool has_more(std::string_view content, char opening, char closing) {
    return std::count(content.begin(), content.end(), opening) > std::count(content.begin(), content.end(), closing);
  }

  void add_link(std::string_view target, const std::string_view* label) {
    if (target.find(':') != std::string_view::npos && names_.is_hidden(target, label != nullptr)) {
      out_ += kDropped;
      return;
    }
    const size_t begin = out_.size();
    if (label != nullptr && !trim(*label, 0, static_cast<int64_t>(label->size())).empty()) {
      out_ += *label;
    } else {
      const Trimmed inside = trim(target, 0, static_cast<int64_t>(target.size()));
      std::string_view shown = inside.empty() ? std::string_view{} : slice(target, inside.begin, inside.end);
      shown.remove_prefix(std::min(shown.find_first_not_of(":#"), shown.size()));
      out_ += shown;
    }
    std::replace(out_.begin() + static_cast<std::ptrdiff_t>(begin), out_.end(), '|', kBar);
  }

  // Handles a line feed before a table's beginning or end, or before a heading.
  size_t line(size_t at) {
    const size_t listed = skip(at + 1, " \t:*#;");
    if (has(listed, "{|") && !has(listed + 2, "}")) return open_table(listed + 2);
    const size_t blank = skip(at + 1, " \t");
    if (has(blank, "|}")) return close_table(blank + 2, true);
    if (!is_heading(at + 1)) return at;
    collapse(1);
    out_ += '\n';
    return at + 1;
  }

  // Returns whether a line begins and ends with equals signs, and a line feed follows it.
  bool is_heading(size_t begin) const {
    if (!has(begin, "=")) return false;
    const size_t end = text_.find('\n', begin);
    if (end == std::string_view::npos) return false;
    const size_t last = text_.find_last_not_of(" \t", end - 1);
    return last > begin && text_[last] == '=';
  }

  // Handles a tag <table ...> or </table>.
  size_t tag(size_t at) {
    const bool closes = has(at + 1, "/");
    const size_t name = at + (closes ? 2 : 1), after = name + 5;
    if (after > text_.size()) return at;
    for (size_t i = 0; i < 5; ++i)
      if ((text_[name + i] | 0x20) != "table"[i]) return at;
    if (after < text_.size() && is_word(text_[after])) return at;
    const size_t end = text_.find_first_of("<>", after);
    if (end == std::string_view::npos || text_[end] == '<') return at;
    return closes ? close_table(end + 1, false) : open_table(end + 1);
  }

  size_t open_table(size_t end) {
    out_ += '\n';
    open(Kind::kTable);
    return end;
  }

  size_t close_table(size_t end, bool by_line) {
    out_ += '\n';
    if (by_line && has(end, "}") && !has(end, "}}") && nearest(Kind::kTemplate) > 0) {
      out_ += '|';
      return end - 1;  // "|}}" is an empty argument and the template's end
    }
    if (const size_t depth = nearest(Kind::kTable)) {
      out_.resize(stack_[depth].begin);
      collapse(depth);
      out_ += '\n';
    }
    return end;
  }

  const std::string_view text_;
  const WikiNames& names_;
  std::string out_;
  std::vector<Frame> stack_;
};

// Removes brackets that nothing closes or opens, and the marks of tables at the beginnings of lines. Returns whether it
// found one.
bool remove_strays(std::string& text) {
  size_t to = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    size_t end = at;
    if (c == '\n') {
      const size_t mark = std::min(text.find_first_not_of(" \t", at + 1), text.size());
      const std::string_view two = std::string_view(text).substr(mark, 2);
      if (two == "{|" || two == "|}") end = mark + 2;
    } else if (c == '{' || c == '}' || c == '[' || c == ']') {
      while (end < text.size() && text[end] == c) ++end;
      if (end == at + 1) end = at;
    }
    if (end == at) {
      text[to++] = text[at++];
      continue;
    }
    if (c == '\n') text[to++] = '\n';
    at = end;
  }
  const bool found = to < text.size();
  text.resize(to);
  return found;
}

}  // namespace
}  // namespace wiki

std::string without_brackets(std::string_view text, const WikiNames& names) {
  std::string out = wiki::Brackets(text, names).run();
  // The removal of a mark can join the halves of another. Hostile text could do this often, so there is a limit.
  for (int round = 0; round < 4 && wiki::remove_strays(out); ++round) {
  }
  return out;
}

}  // namespace pychunk
