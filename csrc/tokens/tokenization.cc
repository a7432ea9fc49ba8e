#include "tokens/tokenization.h"

#include <algorithm>
#include <vector>

#include "common/parallel.h"
#include "common/work_counters.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

// The bytes of text that one turn of a thread takes, enough to hide the cost of the turn.
constexpr int64_t kTurnBytes = 128 << 10;

}  // namespace

Tokens tokenize(const WordPiece& tokenizer, std::string_view text, std::span<const int64_t> bounds, bool byte_spans,
                int threads) {
  struct Part {
    Values<int32_t> ids;
    std::vector<int64_t> offsets, counts;
    Values<int64_t> spans;
  };
  const int64_t n = static_cast<int64_t>(bounds.size()) - 1;
  std::vector<int64_t> borders{0};
  for (int64_t i = 0; i < n; ++i)
    if (bounds[static_cast<size_t>(i) + 1] - bounds[static_cast<size_t>(borders.back())] >= kTurnBytes || i + 1 == n)
      borders.push_back(i + 1);
  std::vector<Part> parts(borders.size() - 1);
  const auto items = static_cast<int64_t>(parts.size());
  parallel_for(items, threads, [&](int64_t p) {
    Part& part = parts[static_cast<size_t>(p)];
    const int64_t begin = borders[static_cast<size_t>(p)], end = borders[static_cast<size_t>(p) + 1];
    encode_and_count(tokenizer, text, &bounds[static_cast<size_t>(begin)], static_cast<size_t>(end - begin), part.ids,
                     part.offsets, part.counts, byte_spans ? &part.spans : nullptr);
  });
  std::vector<int64_t> first{0};
  for (const Part& part : parts) first.push_back(first.back() + static_cast<int64_t>(part.ids.size()));
  Tokens out{Buffer<int32_t>(first.back()), Buffer<int64_t>(n + 1), Buffer<int64_t>(n),
             Buffer<int64_t>(byte_spans ? 2 * first.back() : 0)};
  parallel_for(items, threads, [&](int64_t p) {
    const Part& part = parts[static_cast<size_t>(p)];
    const int64_t before = first[static_cast<size_t>(p)], begin = borders[static_cast<size_t>(p)];
    std::copy(part.ids.begin(), part.ids.end(), out.ids.data + before);
    if (byte_spans) std::copy(part.spans.begin(), part.spans.end(), out.byte_spans.data + 2 * before);
    std::copy(part.counts.begin(), part.counts.end(), out.counts.data + begin);
    for (size_t i = 0; i + 1 < part.offsets.size(); ++i)
      out.offsets[begin + static_cast<int64_t>(i)] = before + part.offsets[i];
  });
  out.offsets[n] = first.back();
  if (n > 0) work().tokenized += static_cast<uint64_t>(bounds.back() - bounds.front());
  return out;
}

}  // namespace pychunk
