#include "document/document_blocks.h"

#include <algorithm>

#include "common/buffer.h"
#include "common/interrupt.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// Find the bytes, in rising order, at which sentences must begin.
void find_marks(std::string_view text, const BlockSpans& blocks, const RemovedSpans& removed, bool own,
                std::vector<int64_t>& marks) {
  const auto size = static_cast<int64_t>(text.size());
  const auto add = [&](int64_t at, int64_t end) {
    at = trim_begin(text, at, end);
    if (at < end && (marks.empty() || marks.back() < at)) marks.push_back(at);
    return at;
  };
  for (int64_t b = 0; b < blocks.size(); ++b) {
    checkpoint_each(b, 4096);
    const int64_t start = blocks.start[static_cast<size_t>(b)], end = blocks.end[static_cast<size_t>(b)];
    const int64_t next = b + 1 < blocks.size() ? blocks.start[static_cast<size_t>(b) + 1] : size;
    add(start, next);
    if (own && has_rows(blocks.kind_of(b))) {
      const std::string_view rows = text.substr(0, static_cast<size_t>(end));
      auto at = static_cast<size_t>(start);
      size_t feed = rows.find('\n', at), turn = rows.find('\r', at);
      while ((at = std::min(feed, turn)) != rows.npos) {
        at = static_cast<size_t>(add(static_cast<int64_t>(at) + 1, end));
        if (feed < at) feed = rows.find('\n', at);
        if (turn < at) turn = rows.find('\r', at);
      }
    }
    add(end, next);  // text that belongs to no block
  }
  const auto of_blocks = static_cast<std::ptrdiff_t>(marks.size());
  for (int64_t r = 0; r < removed.size(); ++r)
    for (const int64_t at : {removed.start[static_cast<size_t>(r)], removed.end[static_cast<size_t>(r)]})
      if (const int64_t mark = trim_begin(text, at, size); mark < size) marks.push_back(mark);
  std::inplace_merge(marks.begin(), marks.begin() + of_blocks, marks.end());
  marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
}

// The tags in the text of one block of source. Bytes must be passed in rising order.
class TagSpans {
 public:
  explicit TagSpans(std::string_view text) : text_(text) {}
  void open(int64_t start, int64_t end) { next_ = begin_ = stop_ = start, end_ = end; }
  // Return whether a byte is inside a tag, after its "<". A tag is "<" or "</", a letter, and no other "<" up to the
  // ">".
  bool hold(int64_t at) {
    while (stop_ <= at && next_ < at) find();
    return begin_ < at && at < stop_;
  }

 private:
  void find() {
    const std::string_view block = text_.substr(0, static_cast<size_t>(end_));
    const size_t begin = block.find('<', static_cast<size_t>(next_));
    if (begin == block.npos) return void(next_ = end_);
    size_t name = begin + 1;
    if (name < block.size() && block[name] == '/') ++name;
    next_ = static_cast<int64_t>(begin) + 1;
    if (name >= block.size() || (block[name] | 0x20) < 'a' || (block[name] | 0x20) > 'z') return;
    const size_t stop = std::min(block.find_first_of("<>", name), block.size());
    next_ = static_cast<int64_t>(stop);
    if (stop < block.size() && block[stop] == '>') begin_ = static_cast<int64_t>(begin), stop_ = ++next_;
  }

  std::string_view text_;
  int64_t next_ = 0, end_ = 0, begin_ = 0, stop_ = 0;
};

// Return the first byte of a sentence that is not white space.
int64_t first_of_sentence(std::string_view text, std::span<const int64_t> starts, size_t s) {
  const int64_t end = s + 1 < starts.size() ? starts[s + 1] : static_cast<int64_t>(text.size());
  return trim_begin(text, starts[s], end);
}

}  // namespace

bool cut_at_layout(std::string_view text, const BlockSpans& blocks, const RemovedSpans& removed, bool own,
                   SentenceList& sentences) {
  if (sentences.starts.empty()) return false;
  thread_local std::vector<int64_t> marks;
  marks.clear();
  find_marks(text, blocks, removed, own, marks);
  SentenceList cut;
  size_t next = 0;
  int64_t block = 0;
  TagSpans tags(text);
  bool found = false, opened = false;
  const auto mark_up_to = [&](int64_t limit) {  // handles the marks before `limit`
    for (; next < marks.size() && marks[next] < limit; ++next) {
      const int64_t at = marks[next];
      if (trim_begin(text, cut.starts.back(), at) == at) {  // nothing of the sentence precedes the mark
        cut.flags.back() |= kParagraphStart;
        continue;
      }
      found = true;
      cut.starts.push_back(at);
      cut.flags.push_back(kParagraphStart | flags_of_gap(slice(text, trim_end(text, 0, at), at)));
    }
  };
  // Return whether a byte is at a place where the engine begins no sentence: inside a heading, a term, a row or a tag.
  const auto is_inside = [&](int64_t at) {
    for (; block < blocks.size() && blocks.end[static_cast<size_t>(block)] <= at; ++block) opened = false;
    if (!own || block == blocks.size() || at <= blocks.start[static_cast<size_t>(block)]) return false;
    const BlockKind kind = blocks.kind_of(block);
    if (is_whole(kind) || has_rows(kind)) return true;
    if (!blocks.has_markup(block)) return false;
    if (!opened) tags.open(blocks.start[static_cast<size_t>(block)], blocks.end[static_cast<size_t>(block)]);
    opened = true;
    return tags.hold(at);
  };
  for (size_t s = 0; s < sentences.starts.size(); ++s) {
    const int64_t start = sentences.starts[s];
    if (s > 0) mark_up_to(start);
    const bool marked = next < marks.size() && marks[next] == start;
    if (s > 0 && !marked && is_inside(start)) continue;
    cut.starts.push_back(start);
    cut.flags.push_back(sentences.flags[s]);
    if (marked) cut.flags.back() |= kParagraphStart, ++next;
  }
  mark_up_to(static_cast<int64_t>(text.size()));
  forget_if_huge(marks);
  sentences = std::move(cut);
  return found;
}

void blocks_of_sentences(std::string_view text, std::span<const int64_t> starts, const BlockSpans& blocks,
                         std::vector<int32_t>& out) {
  out.clear();
  if (blocks.size() == 0) return;
  size_t block = 0;
  for (size_t s = 0; s < starts.size(); ++s) {
    const int64_t at = first_of_sentence(text, starts, s);
    while (block < blocks.start.size() && blocks.start[block] <= at) ++block;
    out.push_back(static_cast<int32_t>(block) - 1);
  }
}

void find_removed(std::string_view text, std::span<const int64_t> starts, const RemovedSpans& removed,
                  std::vector<uint8_t>& out) {
  out.clear();
  if (removed.size() == 0) return;
  size_t span = 0;
  for (size_t s = 0; s < starts.size(); ++s) {
    const int64_t at = first_of_sentence(text, starts, s);
    while (span < removed.end.size() && removed.end[span] <= at) ++span;
    out.push_back(span < removed.end.size() && removed.start[span] <= at);
  }
}

}  // namespace pychunk
