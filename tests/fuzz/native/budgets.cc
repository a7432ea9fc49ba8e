// A target for budgets: counted by itself, no chunk's text exceeds size or max_tokens. For a method without a size,
// max_tokens is in the plan's unit.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  Plan plan;
  constexpr const char* kMethods[] = {"sentence", "paragraph", "fixed", "semantic", "cluster", "pic", "recursive"};
  plan.method = method_named(kMethods[input.option(7)]);
  plan.unit = static_cast<Unit>(input.option(3));
  plan.size = 1 + input.option(60);
  plan.summary = SummarySource::kMean;
  plan.max_tokens = plan.method->sized && input.flag() ? 0 : 1 + input.option(40);
  if (input.flag()) plan.min_tokens = input.option(plan.max_tokens + 1);
  const int64_t room = plan.method->sized ? plan.size : plan.max_tokens;
  if (input.flag()) plan.overlap = input.option(room);
  fuzz::draw_atoms(input, plan);
  const fuzz::Documents all = fuzz::documents(fuzz::valid(input.bytes()));
  const Table t = fuzz::checked_table(input, fuzz::inputs(all, plan));
  for (int64_t i = 0; i < t.document.size; ++i) {
    const std::string_view piece(t.text.data + t.text_offsets.data[i],
                                 static_cast<size_t>(t.text_offsets.data[i + 1] - t.text_offsets.data[i]));
    if (fuzz::characters(piece) == 1) continue;
    const int64_t tokens = measure(piece, Unit::kTokens, &fuzz::tokenizer());
    const int64_t limited = plan.method->sized ? tokens : measure(piece, plan.unit, &fuzz::tokenizer());
    REQUIRE(plan.max_tokens == 0 || limited <= plan.max_tokens, "chunk ", i, " has ", limited, " of ", plan.max_tokens);
    if (!plan.method->sized) continue;
    const int64_t own = plan.unit == Unit::kTokens ? tokens
                        : plan.cuts_text()         ? fuzz::length_for_langchain(piece, plan.unit)
                                                   : measure(piece, plan.unit, nullptr);
    REQUIRE(own <= plan.size, "chunk ", i, " measures ", own, " of ", plan.size);
  }
  return 0;
}
