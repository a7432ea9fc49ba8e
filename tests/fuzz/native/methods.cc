// Every method with any options on one to four documents: exact spans, full coverage, the same alone as in a batch.
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pychunk;
  fuzz::Input input(data, size);
  Plan plan;
  constexpr Method kMethods[] = {Method::kSentence, Method::kParagraph, Method::kPage, Method::kFixed,
                                 Method::kSemantic, Method::kCluster,   Method::kPic,  Method::kRecursive};
  constexpr SummarySource kSources[] = {SummarySource::kMean, SummarySource::kLead, SummarySource::kExtractive,
                                        SummarySource::kRandom, SummarySource::kSentence};
  plan.method = kMethods[input.option(8)];
  plan.wrap = input.flag() ? Wrap::kAuto : Wrap::kOff;
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
  if (plan.has_size() && plan.method == Method::kFixed) plan.overlap = input.option(plan.size);
  fuzz::check_table(fuzz::documents(fuzz::valid(input.bytes())), plan, plan.overlap > 0);
  return 0;
}
