#include "segment/outline.h"

#include <algorithm>

#include "document/block_cohesion.h"
#include "document/document.h"
#include "document/sections.h"
#include "parsing/markdown_inline.h"
#include "segment/table.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Return the index of the last of some rising positions that is not after `at`, -1 if there is none.
int64_t last_up_to(const std::vector<int32_t>& rising, int64_t at) {
  return std::upper_bound(rising.begin(), rising.end(), at) - rising.begin() - 1;
}

class OutlineWriter {
 public:
  OutlineWriter(const Document& document, const Outline& outline, const std::vector<OwnSentences>& rows,
                ChunkBlock& out)
      : document_(document),
        outline_(outline),
        rows_(rows),
        is_code_(is_code(document)),
        chunks_(out.chunks.data() + (out.chunks.size() - rows.size())),
        texts_(out.outline) {}

  void run() {
    const auto before = static_cast<int64_t>(texts_.heading_offsets.size()) - 1;
    LinkLabels labels(document_.text());
    for (const Section& section : outline_.sections) {
      texts_.heading_parents.push_back(section.parent < 0 ? -1 : before + section.parent);
      const std::string_view line = slice(document_.text(), section.heading_begin, section.heading_end);
      append_heading(line, has_markup(section.first), labels, texts_.headings);
      texts_.heading_offsets.push_back(static_cast<int64_t>(texts_.headings.size()));
    }
    write_parents();
    write_parts();
    for (const OwnSentences& row : rows_) {
      const size_t at = texts_.path.size();
      for (int64_t s = outline_.common_section(row.first, row.last); s >= 0; s = section(s).parent)
        texts_.path.push_back(before + s);
      std::reverse(texts_.path.begin() + static_cast<std::ptrdiff_t>(at), texts_.path.end());
      texts_.path_offsets.push_back(static_cast<int64_t>(texts_.path.size()));
      write_sections(before, row);
      write_header(row.first);
    }
  }

 private:
  const Section& section(int64_t s) const { return outline_.sections[static_cast<size_t>(s)]; }

  // Return whether a heading may contain markup. In a document without blocks, headings are read as Markdown.
  bool has_markup(int64_t s) const {
    const std::span<const int32_t> block = document_.block_of();
    return block.empty() || block[static_cast<size_t>(s)] < 0 ||
           document_.blocks().has_markup(block[static_cast<size_t>(s)]);
  }

  // Set the parent of each chunk: the chunk that contains the heading of the innermost section to which all its
  // sentences belong. If the chunk contains that heading itself, the parent is the chunk with the heading of the
  // section above. A removed title is in no chunk, so chunks directly below it have no parent.
  void write_parents() {
    std::vector<int64_t> holder(outline_.sections.size(), -1);
    size_t next = 0;  // the next section whose chunk is not known yet
    for (size_t r = 0; r < rows_.size(); ++r) {
      for (; next < holder.size() && outline_.sections[next].first < rows_[r].last; ++next)
        if (outline_.sections[next].first >= rows_[r].first) holder[next] = static_cast<int64_t>(r);
      int64_t s = outline_.common_section(rows_[r].first, rows_[r].last);
      if (s >= 0 && holder[static_cast<size_t>(s)] == static_cast<int64_t>(r)) s = section(s).parent;
      const int64_t parent = s < 0 ? -1 : holder[static_cast<size_t>(s)];
      chunks_[r].parent = parent;
      chunks_[r].depth = parent < 0 ? 0 : chunks_[parent].depth + 1;
    }
    for (size_t r = rows_.size(); r-- > 0;)
      if (chunks_[r].parent >= 0) chunks_[chunks_[r].parent].subtree += chunks_[r].subtree;
  }

  // Number the chunks that share a unit with the previous or next chunk.
  void write_parts() {
    const auto unit = [&](int64_t sentence) { return last_up_to(outline_.units, sentence); };
    size_t begin = 0;  // the first chunk of the unit `current`
    int64_t current = -1;
    for (size_t r = 0; r <= rows_.size(); ++r) {
      int64_t found = -1;
      if (r < rows_.size()) {
        const int64_t first = unit(rows_[r].first), last = unit(rows_[r].last - 1);
        if (r > 0 && unit(rows_[r - 1].last - 1) == first) {
          found = first;
        } else if (r + 1 < rows_.size() && unit(rows_[r + 1].first) == last) {
          found = last;
        }
      }
      if (found >= 0 && found == current) continue;
      for (size_t p = begin; current >= 0 && p < r; ++p) {
        chunks_[p].part = static_cast<int64_t>(p - begin) + 1;
        chunks_[p].parts = static_cast<int64_t>(r - begin);
      }
      begin = r, current = found;
    }
  }

  // Write the sections whose text a chunk holds. They are neighbours in reading order.
  void write_sections(int64_t before, const OwnSentences& row) {
    for (int64_t s = outline_.section_at(row.first), last = outline_.section_at(row.last - 1); s <= last; ++s)
      texts_.sections.push_back(s < 0 ? -1 : before + s);
    texts_.section_offsets.push_back(static_cast<int64_t>(texts_.sections.size()));
  }

  // Write the header of a chunk. It is the header rows for a chunk that begins in a table after its first row, the
  // fence for a chunk that begins in code after its fence, and the signature for one that begins in a definition.
  void write_header(int64_t s) {
    const std::span<const int32_t> block = document_.block_of();
    const BlockKind kind = document_.kind_of(s);
    if ((kind == BlockKind::kTable || kind == BlockKind::kCode) &&
        document_.begin(s) < document_.blocks().end[static_cast<size_t>(block[static_cast<size_t>(s)])]) {
      const int64_t first = std::lower_bound(block.begin(), block.end(), block[static_cast<size_t>(s)]) - block.begin();
      const int64_t heads = kind == BlockKind::kTable ? table_heads(document_, first) : opens_fence(document_, first);
      if (first < s && heads > 0) {
        const int64_t last = std::min(first + heads, s) - 1;
        const Trimmed rows = trim(document_.text(), document_.begin(first), document_.end(last));
        append_header(rows.begin, rows.end);
      } else if (const int64_t at = is_code_ ? outline_.section_at(s) : -1; at >= 0) {
        const Trimmed line = trim(document_.text(), section(at).heading_begin, section(at).heading_end);
        if (document_.begin(s) >= line.end) append_header(line.begin, line.end);
      }
    }
    texts_.header_offsets.push_back(static_cast<int64_t>(texts_.headers.size()));
  }

  void append_header(int64_t begin, int64_t end) {
    const std::string_view text = slice(document_.text(), begin, end);
    texts_.headers.insert(texts_.headers.end(), text.begin(), text.end());
  }

  const Document& document_;
  const Outline& outline_;
  const std::vector<OwnSentences>& rows_;
  const bool is_code_;
  Chunk* chunks_;
  OutlineTexts& texts_;
};

// Return a line of Markdown without the marks of quotes and list items at its start.
std::string_view past_marks(std::string_view line) {
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with('>')) {
      line.remove_prefix(1);
      continue;
    }
    const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const std::string_view marks = digits == 0 ? "-+*" : ".)";
    if (digits > 9 || digits + 1 >= line.size() || marks.find(line[digits]) == std::string_view::npos ||
        (line[digits + 1] != ' ' && line[digits + 1] != '\t'))
      return line;
    line.remove_prefix(digits + 1);
  }
}

// Return whether a line is an element <h1> to <h6>.
bool is_html_heading(std::string_view line) {
  return line.size() > 4 && line[0] == '<' && (line[1] == 'h' || line[1] == 'H') && line[2] >= '1' && line[2] <= '6' &&
         (line[3] == '>' || line[3] == ' ' || (line[3] >= '\t' && line[3] <= '\r'));
}

// Return whether a word in braces after a heading is one of its attributes: #id, .class, name=value, or - alone.
bool is_attribute(std::string_view word) {
  if (word.starts_with('#') || word.starts_with('.')) return word.size() > 1;
  return word == "-" || word.find('=', 1) != std::string_view::npos;
}

// Return a heading without the attributes at its end, as in "Setup {#setup .wide}".
std::string_view without_attributes(std::string_view line) {
  const size_t open = line.ends_with('}') ? line.rfind('{') : std::string_view::npos;
  if (open == std::string_view::npos) return line;
  std::string_view inside = line.substr(open + 1, line.size() - open - 2);
  if (inside.starts_with(':')) inside.remove_prefix(1);
  bool any = false;
  for (;;) {
    inside.remove_prefix(std::min(inside.find_first_not_of(" \t"), inside.size()));
    if (inside.empty()) break;
    const size_t stop = std::min(inside.find_first_of(" \t"), inside.size());
    if (!is_attribute(inside.substr(0, stop)) || inside.substr(0, stop).find('}') != std::string_view::npos)
      return line;
    any = true;
    inside.remove_prefix(stop);
  }
  return any ? line.substr(0, open) : line;
}

template <typename T>
void append_shifted(const std::vector<T>& next, size_t from, T by, std::vector<T>& out) {
  for (size_t i = from; i < next.size(); ++i) out.push_back(by + next[i]);
}

}  // namespace

void OutlineTexts::append(const OutlineTexts& next) {
  const auto headings_before = static_cast<int64_t>(heading_offsets.size()) - 1;
  append_shifted(next.path, 0, headings_before, path);
  append_shifted(next.section_offsets, 1, section_offsets.back(), section_offsets);
  const auto shifted = [&](int64_t heading) { return heading < 0 ? -1 : headings_before + heading; };
  for (const int64_t parent : next.heading_parents) heading_parents.push_back(shifted(parent));
  for (const int64_t section : next.sections) sections.push_back(shifted(section));
  append_shifted(next.path_offsets, 1, path_offsets.back(), path_offsets);
  append_shifted(next.heading_offsets, 1, heading_offsets.back(), heading_offsets);
  append_shifted(next.header_offsets, 1, header_offsets.back(), header_offsets);
  headings.insert(headings.end(), next.headings.begin(), next.headings.end());
  headers.insert(headers.end(), next.headers.begin(), next.headers.end());
}

void append_heading(std::string_view line, bool markup, LinkLabels& labels, std::vector<char>& out) {
  const auto size = [&] { return static_cast<int64_t>(line.size()); };
  const auto keep = [&](int64_t begin, int64_t end) {
    const Trimmed inside = trim(line, begin, end);
    line = slice(line, inside.begin, std::max(inside.begin, inside.end));
  };
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  keep(0, size());
  bool is_markdown = false;
  std::string own;  // the lines of a heading in a quote or list, without their marks
  if (const size_t under = line.find_last_of("\r\n"); under != std::string_view::npos) {
    std::string_view last = line.substr(under + 1), above = line.substr(0, under);
    const bool within = last.find_first_of("> \t") == 0;
    last.remove_prefix(std::min(last.find_first_not_of("> \t"), last.size()));
    const Trimmed row = trim(last, 0, static_cast<int64_t>(last.size()));
    const std::string_view mark = slice(last, row.begin, row.end);
    if ((mark.starts_with('=') || mark.starts_with('-')) && mark.find_first_not_of(mark.front()) == mark.npos) {
      line = above, is_markdown = true;
      if (within) {
        for (bool first = true; !above.empty(); first = false) {
          const size_t stop = std::min(above.find_first_of("\r\n"), above.size());
          std::string_view next = above.substr(0, stop);
          if (first) {
            next = past_marks(next);
          } else {
            next.remove_prefix(std::min(next.find_first_not_of("> \t"), stop));
          }
          own.append(next).push_back('\n');
          above.remove_prefix(std::min(stop + 1, above.size()));
        }
        line = own;
      }
      keep(0, size());
    }
  }
  const std::string_view bare = past_marks(line);
  const bool is_html = markup && is_html_heading(bare);
  if (bare.starts_with('#') || is_html) line = bare;
  const auto keep_name = [&] {
    if (!markup) return;
    line = without_attributes(line);
    keep(0, size());
  };
  if (line.starts_with('#')) {
    is_markdown = true;
    keep(std::min<int64_t>(static_cast<int64_t>(std::min(line.find_first_not_of('#'), line.size())), 6), size());
    keep_name();
    const size_t last = line.find_last_not_of('#');
    const int64_t stop = last == std::string_view::npos ? 0 : static_cast<int64_t>(last) + 1;
    if (stop < size() && (stop == 0 || space_length(line, character_before(line, stop)) > 0)) keep(0, stop);
    keep_name();
  } else if (is_markdown) {
    keep_name();
  } else if (line.size() > 4 && line.starts_with("==") && line.ends_with("==")) {
    const size_t first = line.find_first_not_of('='), last = line.find_last_not_of('=');
    if (first != std::string_view::npos) keep(static_cast<int64_t>(first), static_cast<int64_t>(last) + 1);
  }
  std::vector<char> shown;
  if (markup && (is_markdown || is_html) && line.find_first_of("\\`<&{![]*_~") != std::string_view::npos) {
    append_inline_text(line, is_html, labels, shown);
    line = {shown.data(), shown.size()};
    keep(0, size());
  }
  bool space = false;
  for (int64_t at = 0; at < size();) {
    const Decoded c = decode_utf8(line, at);
    if (is_space(c.code_point)) {
      space = true;
    } else {
      if (space) out.push_back(' ');
      space = false;
      out.insert(out.end(), line.begin() + at, line.begin() + at + c.length);
    }
    at += c.length;
  }
}

void write_outline(const Document& document, const Outline& outline, const std::vector<OwnSentences>& rows,
                   ChunkBlock& out) {
  OutlineWriter(document, outline, rows, out).run();
}

}  // namespace pychunk
