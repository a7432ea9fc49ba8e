// A target for wikitext. Its passes end on any page, and the blocks of the text are in order and without blank edges.
#include "fuzz.h"
#include "parsing/wiki/brackets.h"
#include "parsing/wiki/elements.h"
#include "parsing/wiki/lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  const bool shown = input.option(2) == 1;
  const std::string page = fuzz::valid(input.bytes());

  WikiContext context;
  context.most_blocks = page.size();
  const auto opaque = [&](std::string_view name, std::string_view content, std::string& out) {
    REQUIRE(!name.empty() && page.size() >= content.size(), name, " of ", content.size(), " bytes");
    context.held.emplace_back(content);
    out += '\x04' + std::to_string(context.held.size() - 1) + '\x04';
  };
  WikiNames names;
  names.add_template = [&](std::string_view content, std::string& out) {
    if (shown) out += content;
  };
  names.is_hidden = [&](std::string_view target, bool has_label) {
    REQUIRE(target.find(':') != target.npos, "a target without a colon");
    return has_label;
  };
  context.has_letters = [](std::string_view text) { return !text.empty(); };
  context.add_entity = [&](std::string_view name, std::string& out) {
    REQUIRE(name.size() >= 2 && name.size() <= 32, "an entity of ", name.size(), " bytes");
    out += shown ? " " : "&";
  };
  const WikiText found = wiki_text(without_brackets(without_elements(page, opaque), names), context);

  const int64_t characters = fuzz::characters(found.text);
  REQUIRE(found.kinds.size() == found.start.size() && found.start.size() == found.end.size(), "columns of blocks");
  int64_t before = 0;
  for (size_t b = 0; b < found.start.size(); ++b) {
    REQUIRE(before <= found.start[b] && found.start[b] < found.end[b], found.start[b], " to ", found.end[b]);
    before = found.end[b];
  }
  REQUIRE(before <= characters, "a block ends at ", before, " of ", characters);
  return 0;
}
