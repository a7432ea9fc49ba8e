// A target for UTF-8 checks on any bytes, sentences of valid text, and every instruction set against the simplest.
#include "fuzz.h"

namespace pychunk {
const Kernels& kernels_baseline();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  const Wrap wrap = input.flag() ? input.flag() ? Wrap::kOn : Wrap::kAuto : Wrap::kOff;
  const std::string& bytes = input.bytes();
  int64_t bad = -1;
  for (size_t i = 0; i < bytes.size() && bad < 0;) {
    const size_t length = fuzz::character_at(bytes, i);
    if (length == 0) bad = static_cast<int64_t>(i);
    i += length;
  }
  const auto raw = [](const std::string& s) { return reinterpret_cast<const uint8_t*>(s.data()); };
  for (const Kernels* k : {&kernels(), &kernels_baseline()}) {
    const int64_t found = k->find_invalid_utf8(raw(bytes), bytes.size());
    REQUIRE((found < 0) == (bad < 0) && (bad < 0 || found == bad), k->name, " found ", found, ", expected ", bad);
  }
  const std::string text = fuzz::valid(bytes);
  const size_t words = (text.size() + 63) / 64;
  std::vector<uint64_t> fast(words), plain(words);
  kernels().mark_stops(raw(text), text.size(), fast.data());
  kernels_baseline().mark_stops(raw(text), text.size(), plain.data());
  REQUIRE(fast == plain, "mark_stops differs");
  REQUIRE(static_cast<int64_t>(kernels().count_characters(raw(text), text.size())) == fuzz::characters(text),
          "characters");

  SentenceList sentences;
  split_sentences(text, wrap, sentences);
  const auto& starts = sentences.starts;
  REQUIRE(starts.size() == sentences.flags.size(), "flags");
  REQUIRE(starts.empty() == trim(text, 0, static_cast<int64_t>(text.size())).empty(), starts.size(), " sentences");
  for (size_t s = 0; s < starts.size(); ++s) {
    REQUIRE(s == 0 ? starts[0] == 0 : starts[s] > starts[s - 1], "start ", s, " at ", starts[s]);
    REQUIRE(fuzz::border(text, starts[s]) && starts[s] < static_cast<int64_t>(text.size()), "start ", s, " at ",
            starts[s]);
    const int64_t end = s + 1 < starts.size() ? starts[s + 1] : static_cast<int64_t>(text.size());
    REQUIRE(!trim(text, starts[s], end).empty(), "sentence ", s, " is white space");
  }
  SentenceList again;
  split_sentences(text, wrap, again);
  REQUIRE(again.starts == starts && again.flags == sentences.flags, "twice the same");
  return 0;
}
