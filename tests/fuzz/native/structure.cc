// A target for blocks, removed spans and pages on one to four documents. Chunks and removed spans cover the text. With
// method structure, paths are the common headings of a chunk's sections, and every subtree is a slice.
#include "fuzz.h"

namespace {

using namespace pychunk;

// The blocks and spans of all documents, drawn from their text.
struct Drawn {
  std::vector<int8_t> kinds;
  std::vector<int16_t> levels;
  std::vector<int64_t> starts, ends, from, to, pages;
  std::vector<int64_t> blocks{0}, removed{0}, page_offsets{0};
  uint32_t state = 1;

  int64_t draw(int64_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  }
  int64_t next(std::string_view text, int64_t at, int64_t within) {
    at += draw(within);
    while (at < static_cast<int64_t>(text.size()) && !fuzz::border(text, at)) ++at;
    return std::min(at, static_cast<int64_t>(text.size()));
  }
  Drawn(const Inputs& in, int64_t seed) {
    state = static_cast<uint32_t>(seed) * 2654435761u + 1;
    for (int64_t d = 0; d < in.texts.size(); ++d) {
      const std::string_view text = in.texts[d];
      const auto size = static_cast<int64_t>(text.size());
      for (int64_t at = 0; at < size && draw(20) > 0;) {
        const int64_t begin = next(text, at, 4), end = next(text, begin, 40);
        at = end;
        if (begin == end) continue;
        kinds.push_back(static_cast<int8_t>(draw(kLastBlockKind + 1)));
        if (draw(3) == 0) kinds.back() = static_cast<int8_t>(BlockKind::kHeading);
        levels.push_back(static_cast<int16_t>(draw(5)));
        starts.push_back(begin), ends.push_back(end);
      }
      for (int64_t at = next(text, 0, 200); at < size && draw(4) > 0;) {
        const int64_t begin = next(text, at, 60), end = next(text, begin, 30);
        at = end;
        if (begin < end) from.push_back(begin), to.push_back(end);
      }
      for (int64_t at = next(text, 0, 100); at < size; at = next(text, at + 1, 100)) pages.push_back(at);
      blocks.push_back(static_cast<int64_t>(starts.size()));
      removed.push_back(static_cast<int64_t>(from.size()));
      page_offsets.push_back(static_cast<int64_t>(pages.size()));
    }
  }
  void give(Inputs& in, bool with_blocks, bool with_removed, bool with_pages) const {
    if (with_blocks) in.layout.blocks = {kinds, levels, starts, ends}, in.layout.block_offsets = blocks;
    if (with_removed) in.layout.removed = {from, to}, in.layout.removed_offsets = removed;
    if (with_pages) in.page_starts = {pages, page_offsets};
  }
};

bool is_removed(const Inputs& in, int64_t d, int64_t at) {
  const RemovedSpans spans = in.layout.removed_of(d);
  for (int64_t r = 0; r < spans.size(); ++r)
    if (spans.start[static_cast<size_t>(r)] <= at && at < spans.end[static_cast<size_t>(r)]) return true;
  return false;
}

// A heading that makes a section, with the bytes between which the section begins: code of a level introduces the
// heading after it, and their section begins with the code, with the part of it after a page, or with the heading.
struct Heading {
  int64_t earliest, latest, level;
};

std::vector<Heading> headings_of(const Inputs& in, int64_t d) {
  const std::string_view text = in.texts[d];
  const auto size = static_cast<int64_t>(text.size());
  const BlockSpans blocks = in.layout.blocks_of(d);
  std::vector<Heading> out;
  int64_t before = -1, before_at = 0;  // the last block with text, and its first byte that is not white space
  for (int64_t b = 0; b < blocks.size(); ++b) {
    const int64_t next = b + 1 < blocks.size() ? blocks.start[static_cast<size_t>(b) + 1] : size;
    const int64_t at = trim_begin(text, blocks.start[static_cast<size_t>(b)], next);
    if (at == next) continue;
    if (blocks.kind_of(b) == BlockKind::kHeading && !is_removed(in, d, at)) {
      const bool introduced = before >= 0 && blocks.kind_of(before) == BlockKind::kCode &&
                              blocks.level[static_cast<size_t>(before)] > 0 &&
                              blocks.kind_of(before + 1) == BlockKind::kHeading;
      out.push_back({introduced ? before_at : at, at, std::max<int64_t>(1, blocks.level[static_cast<size_t>(b)])});
    }
    before = b, before_at = at;
  }
  return out;
}

// Return the length of the path of bytes [begin, end). Sections in doubt begin early or late, as is said for both ends.
int64_t path_length(const std::vector<Heading>& headings, int64_t begin, int64_t end, bool early_begin,
                    bool early_end) {
  std::vector<int64_t> above;  // levels of the headings above the text
  size_t common = 0;
  bool inside = false;
  for (const Heading& heading : headings) {
    const bool before = (early_begin ? heading.earliest : heading.latest) <= begin;
    if (!before && (early_end ? heading.earliest : heading.latest) >= end) break;
    if (!before && !inside) common = above.size(), inside = true;
    while (!above.empty() && above.back() >= heading.level) above.pop_back();
    common = std::min(common, above.size());
    above.push_back(heading.level);
  }
  return static_cast<int64_t>(inside ? common : above.size());
}

// Checks chunks [from, to) of document d.
void check_document(const Inputs& in, const Table& t, int64_t d, int64_t from, int64_t to) {
  const std::string_view text = in.texts[d];
  std::vector<uint8_t> held(text.size(), 0);
  int64_t last = 0;
  for (int64_t i = from; i < to; ++i) {
    const int64_t begin = t.start_byte.data[i], end = t.end_byte.data[i];
    REQUIRE(begin < end && fuzz::border(text, begin) && fuzz::border(text, end), i, " ", begin, " ", end);
    REQUIRE(begin >= last || in.plan->overlap > 0, "chunk ", i, " begins at ", begin, " before ", last);
    last = end;
    for (int64_t at = begin; at < end; ++at) held[static_cast<size_t>(at)] = 1;
  }
  for (int64_t at = 0; at < static_cast<int64_t>(text.size()); ++at) {
    if (continues_character(static_cast<uint8_t>(text[static_cast<size_t>(at)])) || space_length(text, at) > 0)
      continue;
    REQUIRE((held[static_cast<size_t>(at)] != 0) != is_removed(in, d, at), "byte ", at, " of document ", d);
  }
  if (!in.outlines()) return;
  for (int64_t i = from; i < to; ++i) {
    const int64_t parent = t.parent.data[i], row = i - from;
    REQUIRE(parent < row && (parent < 0 ? t.depth.data[i] == 0 : t.depth.data[i] == t.depth.data[from + parent] + 1), i,
            " hangs on ", parent);
    REQUIRE(t.subtree.data[i] >= 1 && row + t.subtree.data[i] <= to - from, i, " ", t.subtree.data[i]);
    for (int64_t j = row + 1; j < to - from; ++j) {  // below it exactly within its subtree
      int64_t above = j;
      while (above > row) above = t.parent.data[from + above];
      REQUIRE((above == row) == (j < row + t.subtree.data[i]), "subtree of ", i, " at ", j);
    }
    REQUIRE(t.part.data[i] >= 1 && t.part.data[i] <= t.parts.data[i], i, " ", t.part.data[i]);
  }
  const BlockSpans blocks = in.layout.blocks_of(d);
  if (blocks.size() == 0 || in.plan->overlap > 0) return;  // repeated text counts for no path
  const std::vector<Heading> headings = headings_of(in, d);
  for (int64_t i = from; i < to; ++i) {
    const int64_t path =
        t.outline.path_offsets[static_cast<size_t>(i) + 1] - t.outline.path_offsets[static_cast<size_t>(i)];
    const auto length = [&](bool early_begin, bool early_end) {
      return path_length(headings, t.start_byte.data[i], t.end_byte.data[i], early_begin, early_end);
    };
    const auto [least, most] =
        std::minmax({length(false, false), length(false, true), length(true, false), length(true, true)});
    // One more for a removed title.
    REQUIRE(path >= least && path <= most + 1, "chunk ", i, " has a path of ", path, " headings, not ", least);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Input input(data, size);
  Plan plan;
  constexpr const char* kMethods[] = {"structure", "structure", "recursive", "paragraph", "semantic", "pic"};
  plan.method = method_named(kMethods[input.option(6)]);
  plan.unit = static_cast<Unit>(input.option(3));
  plan.size = 1 + input.option(60);
  plan.summary = SummarySource::kMean;
  plan.chunk_vectors = input.flag();
  if (input.flag()) plan.max_tokens = 1 + input.option(40);
  if (input.flag()) plan.overlap = plan.method->outline ? 0 : input.option(plan.size);
  fuzz::draw_atoms(input, plan);
  if (plan.method->outline) plan.min_characters = 0;
  const int64_t given = input.option(8), seed = input.option(256);
  const fuzz::Documents all = fuzz::documents(fuzz::valid(input.bytes()));
  Inputs in = fuzz::inputs(all, plan);
  const Drawn drawn(in, seed);
  drawn.give(in, given % 2 != 0, given / 2 % 2 != 0, given / 4 % 2 != 0);
  const Table t = segment(in);
  int64_t next = 0;
  for (int64_t d = 0; d < in.texts.size(); ++d) {
    int64_t end = next;
    while (end < t.document.size && t.document.data[end] == d) ++end;
    check_document(in, t, d, next, end);
    next = end;
  }
  REQUIRE(static_cast<int64_t>(t.outline.path_offsets.size()) == (in.outlines() ? next + 1 : 1), "paths");
  in.threads = 2;
  const Table two = segment(in);
  REQUIRE(two.document.size == next && fuzz::same_rows(two, 0, t, 0, next) && two.outline.path == t.outline.path &&
              two.outline.headers == t.outline.headers && two.outline.sections == t.outline.sections,
          "on two threads");
  return 0;
}
