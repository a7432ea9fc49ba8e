// A target for blocks of Markdown. They are in order, begin and end at characters, and have no blank edges. They are
// the same in a batch as alone, and for all line endings.
#include "parsing/markdown.h"

#include "fuzz.h"

namespace {

std::vector<pychunk::MarkdownBlock> blocks_of(const std::string& text) {
  std::vector<pychunk::MarkdownBlock> out;
  pychunk::markdown_blocks(text, out);
  return out;
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Returns whether two texts have blocks of the same kinds and levels.
void require_same(const std::string& text, const std::string& other, const char* why) {
  const auto a = blocks_of(text), b = blocks_of(other);
  REQUIRE(a.size() == b.size(), why, ": ", a.size(), " blocks, then ", b.size());
  for (size_t i = 0; i < a.size(); ++i)
    REQUIRE(a[i].kind == b[i].kind && a[i].level == b[i].level, why, ": another kind or level of block ", i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  const int threads = 1 + static_cast<int>(input.option(2));
  const std::string text = fuzz::valid(input.bytes());
  int64_t before = 0;
  for (const MarkdownBlock& block : blocks_of(text)) {
    REQUIRE(before <= block.start && block.start < block.end, block.start, " to ", block.end, " after ", before);
    REQUIRE(block.end <= static_cast<int64_t>(text.size()), "ends at ", block.end, " of ", text.size());
    REQUIRE(fuzz::border(text, block.start) && fuzz::border(text, block.end), "no border of characters");
    REQUIRE(!blank(text[static_cast<size_t>(block.end) - 1]), "blank at the end ", block.end);
    REQUIRE(block.kind == BlockKind::kCode || !blank(text[static_cast<size_t>(block.start)]), "blank at ", block.start);
    const bool leveled =
        block.kind == BlockKind::kHeading || block.kind == BlockKind::kItem || block.kind == BlockKind::kQuote;
    REQUIRE(leveled ? block.level > 0 && block.level <= kDeepest : block.level == 0, "level ", block.level);
    before = block.end;
  }
  require_same(text, text + "\n", "a break at the end");
  if (text.find("\r\r\n") == text.npos) {
    std::string feeds;
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') feeds += text[i];
    require_same(text, feeds, "CR LF as LF");
  }

  const fuzz::Documents documents = fuzz::documents(text);
  const BlockTable table = markdown_blocks(documents.texts(), threads);
  for (int64_t i = 0; i < documents.size(); ++i) {
    const std::string one(documents.texts()[i]);
    const auto alone = blocks_of(one);
    const int64_t first = table.offsets.data[i];
    REQUIRE(table.offsets.data[i + 1] - first == static_cast<int64_t>(alone.size()), "document ", i, " in a batch");
    for (size_t b = 0; b < alone.size(); ++b) {
      const auto characters = [&](int64_t byte) {
        return fuzz::characters(std::string_view(one).substr(0, static_cast<size_t>(byte)));
      };
      const int64_t row = first + static_cast<int64_t>(b);
      REQUIRE(table.start.data[row] == characters(alone[b].start) && table.end.data[row] == characters(alone[b].end),
              "document ", i, ", block ", b, " in characters");
      REQUIRE(table.kind.data[row] == static_cast<int8_t>(alone[b].kind), "document ", i, ", kind of block ", b);
    }
  }
  return 0;
}
