// A target for every method with any options on one to four documents, some with given sentence vectors or
// probabilities. It checks exact spans, full coverage, and equal results alone and in a batch.
#include "fuzz.h"

namespace {

// A caller's inputs for each sentence: a vector of unit length, and its affinity to the previous one.
struct Given {
  static constexpr int64_t kDim = 4;
  std::vector<int64_t> vector_offsets{0}, score_offsets{0};
  std::vector<float> vectors, scores;

  explicit Given(const pychunk::Inputs& in) {
    const pychunk::SentenceTable sentences = pychunk::split(in);
    uint32_t state = 1;
    for (int64_t d = 0; d < in.texts.size(); ++d) {
      const int64_t begin = sentences.doc_offsets.data[d], end = sentences.doc_offsets.data[d + 1];
      for (int64_t s = begin; s < end; ++s) {
        state = (state + static_cast<uint32_t>(sentences.starts.data[s])) * 1664525 + 1013904223;
        for (int64_t i = 0; i < kDim; ++i) vectors.push_back((state >> (28 + i)) % 2 != 0 ? 0.5f : -0.5f);
        if (s > begin) scores.push_back(static_cast<float>(state >> 24) / 255);
      }
      vector_offsets.push_back(end);
      score_offsets.push_back(static_cast<int64_t>(scores.size()));
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  Plan plan;
  constexpr const char* kMethods[] = {"sentence", "paragraph", "page",      "fixed", "semantic",
                                      "cluster",  "pic",       "recursive", "nsp"};
  constexpr SummarySource kSources[] = {SummarySource::kMean, SummarySource::kLead, SummarySource::kExtractive,
                                        SummarySource::kRandom, SummarySource::kSentence};
  plan.method = method_named(kMethods[input.option(9)]);
  plan.wrap = input.flag() ? input.flag() ? Wrap::kOn : Wrap::kAuto : Wrap::kOff;
  plan.unit = static_cast<Unit>(input.option(3));
  plan.size = 1 + input.option(60);
  plan.threshold = static_cast<ThresholdKind>(input.option(5));
  const auto level = static_cast<double>(input.option(101));
  plan.threshold_value = plan.threshold == ThresholdKind::kPercentile || plan.threshold == ThresholdKind::kGradient
                             ? level
                             : level / 50 - 1;
  plan.window = 1 + input.option(6);
  plan.summary = kSources[input.option(5)];
  plan.k = static_cast<double>(input.option(9)) / 4 - 1;
  plan.chunk_vectors = input.flag();
  plan.sentence_vectors = input.flag();
  fuzz::draw_atoms(input, plan);
  if (plan.method->sized && !plan.cuts_text()) plan.overlap = input.option(plan.size);
  const fuzz::Documents all = fuzz::documents(fuzz::valid(input.bytes()));
  Inputs in = fuzz::inputs(all, plan);
  const bool given = input.flag();
  const bool by_pairs = plan.method->pairs;
  if (!given && !by_pairs) {
    const Table made = fuzz::checked_table(input, in);
    if (!plan.cuts_text() && input.one_in(4)) fuzz::check_given(made, in);
    return 0;
  }
  const Given from(in);
  if (by_pairs) {
    plan.window = 1;
    in.pair_scores = {from.scores, from.score_offsets};
  }
  if (given) {
    in.table = {};
    in.vectors = {{from.vectors.data(), from.vector_offsets.back(), Given::kDim}, from.vector_offsets};
  }
  const Table made = fuzz::checked_table(input, in);
  if (!plan.cuts_text() && input.one_in(4)) fuzz::check_given(made, in);
  return 0;
}
