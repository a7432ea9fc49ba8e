#include "tokens/sentencepiece/piece_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "common/check.h"
#include "common/interrupt.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

// sentencepiece subtracts the sum from all scores where it is beyond this limit.
constexpr float kMostScoreSum = 100000;
// The largest rounding error of a single-precision sum, divided by the sum, with some room.
constexpr float kSumRounding = 0x1.4p-24f;
// The number of characters before which the first node of a walk and its second one are prefetched.
constexpr size_t kFirstNodeAhead = 8, kSecondNodeAhead = 3;

}  // namespace

std::span<const PieceSearch::Part> PieceSearch::divide(const uint8_t* text, size_t size, bool measures) {
  PYCHUNK_CHECK(size < std::numeric_limits<uint32_t>::max() / 2,
                "a word must be shorter than 2 GiB after normalising, got ", size, " bytes");
  parts_.clear();
  if (v_.options.model == PieceModel::kBytePair)
    merge(text, size);
  else if (v_.follows_sentencepiece())
    find_path<true, true>(text, size);
  else if (measures)
    find_path<false, true>(text, size);
  else
    find_path<false, false>(text, size);
  return parts_;
}

// Nearly all time goes into the walks through the trie, one from each character. The floor is one wait for a node and
// one branch that no processor predicts, the end of the walk, for each character: some 15 ns with 250,000 pieces, or 65
// MB/s of English. Prefetching hides most of the waits. On 2.7 MB in six languages, without the cache of words:
// 22 MB/s with a trie of bytes and scores of their own, 25 with the scores in the nodes, 28 with a trie of characters
// and the prefetches. Sums that are written whether they are better or not were no faster with bytes.
template <bool kSingle, bool kSeconds>
void PieceSearch::find_path(const uint8_t* text, size_t size) {
  using Score = std::conditional_t<kSingle, float, double>;
  constexpr Score kNone = -std::numeric_limits<Score>::infinity();
  Paths<Score>& paths = [this]() -> Paths<Score>& {
    if constexpr (kSingle)
      return single_paths_;
    else
      return paths_;
  }();
  const Score unknown_score =
      kSingle ? static_cast<Score>(v_.single_unknown_score) : static_cast<Score>(v_.unknown_score);
  const size_t count = read_characters(text, size);
  if (paths.sums.size() < count + 1) {
    paths.sums.resize(count + count / 2 + 64);
    paths.links.resize(paths.sums.size());
  }
  Score* const sums = paths.sums.data();
  uint64_t* const links = paths.links.data();
  std::fill(sums, sums + count + 1, kNone);
  if constexpr (kSeconds) paths.seconds.assign(count + 1, kNone);
  if constexpr (kSingle) {
    if (sum_ > kMostScoreSum || sum_ < -kMostScoreSum) sum_ = 0;
    sums[0] = sum_;
  } else {
    sums[0] = 0;
  }
  const float before = sum_;
  bool was_reset = false;
  size_t frontier = 0;
  // Scores are added before they are compared, in the library's order, so that ties break as they do there. Both
  // results are written whatever the comparison finds, since no processor could predict it.
  const auto reach = [&](size_t end, size_t begin, Score sum, int32_t id) {
    const Score other = sums[end];
    const bool is_better = sum > other;
    if constexpr (kSingle) frontier = std::max(frontier, end);
    if constexpr (kSeconds) paths.seconds[end] = std::max(paths.seconds[end], std::min(sum, other));
    sums[end] = is_better ? sum : other;
    const uint64_t link = uint64_t{static_cast<uint32_t>(id)} << 32 | begin;
    links[end] = is_better ? link : links[end];
  };
  const uint16_t* const codes = codes_.data();
  const PieceTrie& trie = v_.trie;
  for (size_t at = 0; at < count; ++at) {
    if ((at & 0xFFFF) == 0xFFFF) checkpoint();
    if constexpr (kSingle) {
      const float sum = sums[at];
      if (sum > kMostScoreSum || sum < -kMostScoreSum) {
        was_reset = true;
        for (size_t i = at; i <= frontier; ++i) sums[i] -= sum;
      }
    }
    const Score here = sums[at];
    trie.prefetch_first(codes[at + kFirstNodeAhead]);
    trie.prefetch(trie.first(codes[at + kSecondNodeAhead]).children(), codes[at + kSecondNodeAhead + 1]);
    PieceTrie::Node node = trie.first(codes[at]);
    if (const int32_t id = node.id(); id >= 0)
      reach(at + 1, at, here + static_cast<Score>(node.score), id);
    else
      reach(at + 1, at, here + unknown_score, v_.options.unknown);
    for (size_t end = at + 1; node.children() != 0 && end < count;) {
      node = trie.child(node.children(), codes[end++]);
      if (const int32_t id = node.id(); id >= 0) reach(end, at, here + static_cast<Score>(node.score), id);
    }
  }
  for (size_t end = count; end > 0;) {
    const uint64_t link = links[end];
    const auto begin = static_cast<uint32_t>(link);
    parts_.push_back({static_cast<int32_t>(link >> 32), begin, static_cast<uint32_t>(end)});
    end = begin;
  }
  std::reverse(parts_.begin(), parts_.end());
  if constexpr (kSingle) {
    margin_ = {0, 0};
    if (!was_reset) measure(count, before);
    sum_ = sums[count];
  } else if constexpr (kSeconds) {
    count_ = count;
    least_ = std::numeric_limits<double>::infinity();
    for (const Part& part : parts_) least_ = std::min(least_, sums[part.end] - paths.seconds[part.end]);
  }
  for (Part& part : parts_) part.begin = starts_[part.begin], part.end = starts_[part.end];
}

// Sets the code and the first byte of each character, and returns the number of characters.
size_t PieceSearch::read_characters(const uint8_t* text, size_t size) {
  if (codes_.size() < size + 1 + kFirstNodeAhead) {
    codes_.resize(size + size / 2 + 64);
    starts_.resize(codes_.size());
  }
  size_t count = 0;
  for (size_t at = 0; at < size; ++count) {
    const auto [c, length] = decode_utf8(text + at);
    codes_[count] = v_.trie.code(c);
    starts_[count] = static_cast<uint32_t>(at);
    at += static_cast<size_t>(length);
  }
  starts_[count] = static_cast<uint32_t>(size);
  std::fill_n(codes_.begin() + static_cast<int64_t>(count), kFirstNodeAhead + 1, uint16_t{0});
  return count;
}

// Sums differ from the exact ones by at most kSumRounding times the largest sum, once for each step. A path is certain
// if it is better than the second best path to each of its pieces' ends by more than that.
void PieceSearch::measure(size_t count, float before) {
  float least = std::numeric_limits<float>::infinity(), reach = 0;
  for (size_t i = 1; i <= count; ++i)
    if (std::isfinite(single_paths_.sums[i])) reach = std::max(reach, std::fabs(single_paths_.sums[i] - before));
  for (const Part& part : parts_)
    least = std::min(least, single_paths_.sums[part.end] - single_paths_.seconds[part.end]);
  const float error = 2 * kSumRounding * (std::fabs(before) + reach) * static_cast<float>(count + 1);
  margin_ = {least - error, reach + error};
}

bool PieceSearch::same_after_sum(Margin margin, size_t size) const {
  const float most = std::fabs(sum_) + margin.reach;
  return most < kMostScoreSum && margin.least > 2 * kSumRounding * most * static_cast<float>(size + 2);
}

// A sum of s scores is below s times the highest one, and each of its additions rounds by at most 2^-53 of that. Two
// sums are compared, and each may have such an error both here and in the whole word: four times in all. The bound is
// twice that, for a mark, and for characters that normalising adds.
bool PieceSearch::is_certain(size_t before) const {
  const double most = v_.most_score * static_cast<double>(before + count_);
  return least_ > 0x1p-50 * most * static_cast<double>(before + count_ + 1);
}

void PieceSearch::add(const int32_t* ids, size_t count) {
  for (size_t i = 0; i < count; ++i) sum_ += v_.single_scores[static_cast<size_t>(ids[i])];
}

void PieceSearch::consider(std::string_view text, int32_t left, int32_t right) {
  if (left < 0 || right < 0) return;
  const Symbol &a = symbols_[static_cast<size_t>(left)], &b = symbols_[static_cast<size_t>(right)];
  if (a.is_fixed || b.is_fixed) return;
  const std::string_view piece = text.substr(a.begin, a.size + b.size);
  const int32_t id = v_.trie.find(piece);
  if (id < 0 || id == v_.options.unknown) return;
  pairs_.push_back({v_.single_scores[static_cast<size_t>(id)], left, right, a.size + b.size});
  std::push_heap(pairs_.begin(), pairs_.end());
  if (v_.has_unused && v_.kinds[static_cast<size_t>(id)] == PieceKind::kUnused) merged_[piece] = a.size;
}

void PieceSearch::merge(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  symbols_.clear();
  pairs_.clear();
  merged_.clear();
  for (size_t at = 0; at < size;) {
    size_t length = v_.starts_symbol[bytes[at]] ? v_.symbols.longest(text.substr(at)) : 0;
    const bool is_fixed = length > 0;
    if (!is_fixed) length = static_cast<size_t>(decode_utf8(bytes + at).length);
    const auto own = static_cast<int32_t>(symbols_.size());
    symbols_.push_back({own - 1, at + length < size ? own + 1 : -1, static_cast<uint32_t>(at),
                        static_cast<uint32_t>(length), is_fixed});
    at += length;
  }
  for (size_t i = 1; i < symbols_.size(); ++i) consider(text, static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
  for (int64_t turn = 0; !pairs_.empty(); ++turn) {
    checkpoint_each(turn, 1 << 16);
    const Pair pair = pairs_.front();
    std::pop_heap(pairs_.begin(), pairs_.end());
    pairs_.pop_back();
    Symbol &left = symbols_[static_cast<size_t>(pair.left)], &right = symbols_[static_cast<size_t>(pair.right)];
    if (left.size == 0 || right.size == 0 || left.size + right.size != pair.size) continue;
    left.size = pair.size;
    left.after = right.after;
    right.size = 0;
    if (right.after >= 0) symbols_[static_cast<size_t>(right.after)].before = pair.left;
    consider(text, left.before, pair.left);
    consider(text, pair.left, left.after);
  }
  for (int32_t i = symbols_.empty() ? -1 : 0; i >= 0; i = symbols_[static_cast<size_t>(i)].after)
    add_symbol(text, symbols_[static_cast<size_t>(i)].begin, symbols_[static_cast<size_t>(i)].size);
}

// Adds a symbol, or its halves if it is a piece that must not be used.
void PieceSearch::add_symbol(std::string_view text, uint32_t begin, uint32_t size) {
  const std::string_view piece = text.substr(begin, size);
  int32_t id = v_.trie.find(piece);
  if (id >= 0 && v_.kinds[static_cast<size_t>(id)] == PieceKind::kUnused) {
    const auto found = merged_.find(piece);
    if (found != merged_.end()) {
      add_symbol(text, begin, found->second);
      return add_symbol(text, begin + found->second, size - found->second);
    }
    id = -1;
  }
  parts_.push_back({id < 0 ? v_.options.unknown : id, begin, begin + size});
}

}  // namespace pychunk
