#include "tokens/byte_pair/byte_pair_vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <string>
#include <unordered_map>

#include "common/check.h"
#include "common/hash.h"
#include "tokens/byte_merges.h"

namespace pychunk {
namespace {

constexpr uint32_t kNoToken = BytePairVocabulary::kNone;
// The most bytes of a token for which every merge looks at all pairs. For longer ones a heap orders the pairs.
constexpr size_t kShortToken = 64;

// A hash table of strings that are stored elsewhere, each with its index.
class StringIndex {
 public:
  StringIndex(std::string_view bytes, std::span<const int64_t> offsets) : bytes_(bytes), offsets_(offsets) {
    slots_.assign(std::bit_ceil(2 * offsets.size() + 2), kNoToken);
    shift_ = 64 - std::countr_zero(slots_.size());
  }
  std::string_view string(size_t i) const {
    return bytes_.substr(static_cast<size_t>(offsets_[i]), static_cast<size_t>(offsets_[i + 1] - offsets_[i]));
  }
  // Returns the index of an equal string that was added before, or adds this one and returns kNoToken.
  uint32_t add(size_t i) {
    uint32_t& slot = slot_of(string(i));
    if (slot != kNoToken) return slot;
    slot = static_cast<uint32_t>(i);
    return kNoToken;
  }
  uint32_t find(std::string_view word) const { return const_cast<StringIndex*>(this)->slot_of(word); }

 private:
  uint32_t& slot_of(std::string_view word) {
    size_t i = hash128(word, 0).low >> shift_;
    while (slots_[i] != kNoToken && string(slots_[i]) != word) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  std::string_view bytes_;
  std::span<const int64_t> offsets_;
  std::vector<uint32_t> slots_;
  int shift_;
};

// The pairs of tokens that merge while the tables are built: the rank of each pair.
class PairRanks {
 public:
  explicit PairRanks(size_t pairs) {
    slots_.assign(std::bit_ceil(2 * pairs + 2), {kFree, 0});
    shift_ = 64 - std::countr_zero(slots_.size());
  }
  void set(uint32_t left, uint32_t right, uint32_t rank) { *find(left, right) = {key(left, right), rank}; }
  uint32_t get(uint32_t left, uint32_t right) const {
    const Entry* entry = const_cast<PairRanks*>(this)->find(left, right);
    return entry->key == kFree ? kNoToken : entry->rank;
  }

 private:
  struct Entry {
    uint64_t key;
    uint32_t rank;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};
  static uint64_t key(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
  Entry* find(uint32_t left, uint32_t right) {
    const uint64_t wanted = key(left, right);
    size_t i = wanted * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[i].key != wanted && slots_[i].key != kFree) i = (i + 1) & (slots_.size() - 1);
    return &slots_[i];
  }

  std::vector<Entry> slots_;
  int shift_;
};

// The last pair of the merges that make a token, by the indexes of tokens, and the rank of that pair.
struct LastPair {
  uint32_t left = kNoToken, right = kNoToken, rank = kNoToken;
  bool found() const { return rank != kNoToken; }
};

// Computes the last pairs of tokens.
class BytePairBuilder {
 public:
  explicit BytePairBuilder(const BytePairFile& file) : file_(file), index_(file.bytes, file.offsets) {
    const size_t n = file.ids.size();
    for (size_t i = 0; i < n; ++i) {
      const std::string_view token = index_.string(i);
      PYCHUNK_CHECK(!token.empty() && token.size() <= BytePairVocabulary::kMostBytes, "vocabulary: token ", file.ids[i],
                    " must have 1 to ", BytePairVocabulary::kMostBytes, " bytes, got ", token.size());
      PYCHUNK_CHECK(file.ids[i] >= 0, "vocabulary: ids must be 0 or more, got ", file.ids[i]);
      const uint32_t same = index_.add(i);
      PYCHUNK_CHECK(same == kNoToken, "vocabulary: tokens ", same == kNoToken ? 0 : file.ids[same], " and ",
                    file.ids[i], " are the same bytes");
    }
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const char c = static_cast<char>(byte);
      bytes_[byte] = index_.find({&c, 1});
      PYCHUNK_CHECK(bytes_[byte] != kNoToken, "vocabulary: byte ", byte,
                    " is no token; a byte-level vocabulary holds all 256 bytes");
    }
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return file.ids[a] < file.ids[b]; });
    for (size_t i = 1; i < n; ++i)
      PYCHUNK_CHECK(file.ids[order_[i]] != file.ids[order_[i - 1]], "vocabulary: two tokens have the id ",
                    file.ids[order_[i]]);
  }

  std::vector<LastPair> last_pairs() { return file_.by_id ? by_id() : by_merges(); }
  const std::array<uint32_t, 256>& bytes() const { return bytes_; }

 private:
  // Merges a token's bytes and returns the last pair, if the result is the token. The functions are as in merge_long.
  template <typename Rank, typename Made>
  LastPair last_pair(size_t token, Rank rank, Made made) {
    const std::string_view word = index_.string(token);
    if (word.size() < 2) return {};
    LastPair last;
    uint32_t result = kNoToken;
    const auto next = [&](uint32_t left, uint32_t right) { return rank(left, right); };
    const auto first = [&](uint8_t left, uint8_t right) { return rank(bytes_[left], bytes_[right]); };
    // The merges work on indexes of tokens. They look up every new pair, so the pair of the last merge is noted there.
    merge_indexes(word, first, next, made, [&](uint32_t left, uint32_t right, uint32_t order, uint32_t token_made) {
      last = {left, right, order};
      result = token_made;
    });
    return result == token ? last : LastPair{};
  }

  // Merges one word by repeated search for the lowest rank, and calls note(left, right, rank, result) for each merge.
  template <typename First, typename Next, typename Made, typename Note>
  void merge_indexes(std::string_view word, First first, Next next, Made made, Note note) {
    if (word.size() > kShortToken) return merge_long_indexes(word, first, next, made, note);
    const size_t size = word.size();
    uint32_t tokens[kShortToken], ranks[kShortToken];
    for (size_t i = 0; i < size; ++i) {
      tokens[i] = bytes_[static_cast<uint8_t>(word[i])];
      ranks[i] = i + 1 < size ? first(static_cast<uint8_t>(word[i]), static_cast<uint8_t>(word[i + 1])) : kNoToken;
    }
    for (size_t left = size; left > 1; --left) {
      const size_t at = static_cast<size_t>(std::min_element(ranks, ranks + left) - ranks);
      if (ranks[at] == kNoToken) return;
      const uint32_t result = made(ranks[at]);
      note(tokens[at], tokens[at + 1], ranks[at], result);
      tokens[at] = result;
      std::copy(tokens + at + 2, tokens + left, tokens + at + 1);
      std::copy(ranks + at + 2, ranks + left, ranks + at + 1);
      ranks[at] = at + 2 < left ? next(result, tokens[at + 1]) : kNoToken;
      if (at > 0) ranks[at - 1] = next(tokens[at - 1], result);
    }
  }

  template <typename First, typename Next, typename Made, typename Note>
  void merge_long_indexes(std::string_view word, First first, Next next, Made made, Note note) {
    // merge_long() numbers bytes as 0 to 255, so tokens are counted from 256 on here.
    const auto token_of = [&](uint32_t number) { return number < 256 ? bytes_[number] : number - 256; };
    LastPair pair;
    struct Looked {
      uint32_t left, right;
    };
    std::unordered_map<uint32_t, Looked> looked;  // the tokens of each rank that was found
    const auto keep = [&](uint32_t left, uint32_t right, uint32_t rank) {
      if (rank != kNoToken) looked[rank] = {left, right};
      return rank;
    };
    merge_long(
        reinterpret_cast<const uint8_t*>(word.data()), word.size(), memory_,
        [&](uint8_t left, uint8_t right) { return keep(bytes_[left], bytes_[right], first(left, right)); },
        [&](uint32_t left, uint32_t right) {
          return keep(token_of(left), token_of(right), next(token_of(left), token_of(right)));
        },
        [&](uint32_t rank) {
          const uint32_t result = made(rank);
          note(looked[rank].left, looked[rank].right, rank, result);
          return result + 256;
        },
        [](size_t, size_t, uint32_t) {});
  }

  std::vector<LastPair> by_merges() {
    const size_t n = file_.ids.size(), rows = file_.merges.size() / 3;
    PYCHUNK_CHECK(file_.merges.size() % 3 == 0, "merges must be rows of three tokens, got ", file_.merges.size(),
                  " numbers");
    PairRanks ranks(rows);
    for (size_t row = 0; row < rows; ++row) {
      const int32_t* merge = file_.merges.data() + 3 * row;
      for (int i = 0; i < 3; ++i)
        PYCHUNK_CHECK(merge[i] >= 0 && static_cast<size_t>(merge[i]) < n, "merges: row ", row,
                      " must name tokens below ", n, ", got ", merge[i]);
      const std::string_view left = index_.string(static_cast<size_t>(merge[0])),
                             right = index_.string(static_cast<size_t>(merge[1])),
                             both = index_.string(static_cast<size_t>(merge[2]));
      PYCHUNK_CHECK(both.size() == left.size() + right.size() && both.starts_with(left) && both.ends_with(right),
                    "merges: row ", row, " must make the token of both parts, got token ",
                    file_.ids[static_cast<size_t>(merge[2])]);
      ranks.set(static_cast<uint32_t>(merge[0]), static_cast<uint32_t>(merge[1]), static_cast<uint32_t>(row));
    }
    std::vector<LastPair> found(n);
    for (size_t i = 0; i < n; ++i)
      found[i] = last_pair(
          i, [&](uint32_t left, uint32_t right) { return ranks.get(left, right); },
          [&](uint32_t rank) { return static_cast<uint32_t>(file_.merges[3 * size_t{rank} + 2]); });
    return found;
  }

  // The rank of a pair is the place of its result in the order of ids. In this order, the merges that make a token
  // usually need only pairs of tokens before it, whose last pairs are known. If a token is made in another way, all
  // pairs are looked up by their bytes, which is slower.
  std::vector<LastPair> by_id() {
    const size_t n = file_.ids.size();
    std::vector<LastPair> found(n);
    PairRanks ranks(n);
    std::vector<uint32_t> left_over;
    const auto made = [&](uint32_t rank) { return order_[rank]; };
    const auto known = [&](uint32_t left, uint32_t right) { return ranks.get(left, right); };
    for (uint32_t place = 0; place < n; ++place) {
      const uint32_t token = order_[place];
      if (index_.string(token).size() < 2) continue;
      // Two single bytes always merge.
      const std::string_view word = index_.string(token);
      LastPair last = word.size() == 2 ? LastPair{bytes_[static_cast<uint8_t>(word[0])],
                                                  bytes_[static_cast<uint8_t>(word[1])], place}
                                       : before_last(token, place, known, made);
      if (last.found())
        ranks.set(last.left, last.right, place);
      else
        left_over.push_back(token);
      found[token] = last;
    }
    places_.resize(n);
    for (uint32_t place = 0; place < n; ++place) places_[order_[place]] = place;
    std::string both;
    const auto by_bytes = [&](uint32_t left, uint32_t right) {
      both.assign(index_.string(left));
      both += index_.string(right);
      const uint32_t token = index_.find(both);
      return token == kNoToken ? kNoToken : places_[token];
    };
    const bool any = std::any_of(left_over.begin(), left_over.end(),
                                 [&](uint32_t token) { return last_pair(token, by_bytes, made).found(); });
    if (any)
      for (size_t i = 0; i < n; ++i) found[i] = last_pair(i, by_bytes, made);
    return found;
  }

  // Merges a token by the known pairs, and returns the two tokens that are left, if there are two.
  template <typename Rank, typename Made>
  LastPair before_last(uint32_t token, uint32_t place, Rank rank, Made made) {
    const std::string_view word = index_.string(token);
    size_t parts = word.size();
    if (parts > kShortToken) {
      parts = 0;
      uint32_t numbers[2] = {kNoToken, kNoToken};
      const auto token_of = [&](uint32_t number) { return number < 256 ? bytes_[number] : number - 256; };
      merge_long(
          reinterpret_cast<const uint8_t*>(word.data()), word.size(), memory_,
          [&](uint8_t left, uint8_t right) { return rank(bytes_[left], bytes_[right]); },
          [&](uint32_t left, uint32_t right) { return rank(token_of(left), token_of(right)); },
          [&](uint32_t order) { return made(order) + 256; },
          [&](size_t, size_t, uint32_t number) {
            if (parts < 2) numbers[parts] = token_of(number);
            ++parts;
          });
      return parts == 2 ? LastPair{numbers[0], numbers[1], place} : LastPair{};
    }
    uint32_t tokens[kShortToken], ranks[kShortToken];
    for (size_t i = 0; i < parts; ++i) {
      tokens[i] = bytes_[static_cast<uint8_t>(word[i])];
      ranks[i] = kNoToken;
      if (i > 0) ranks[i - 1] = rank(tokens[i - 1], tokens[i]);
    }
    while (parts > 2) {
      const size_t at = static_cast<size_t>(std::min_element(ranks, ranks + parts) - ranks);
      if (ranks[at] == kNoToken) return {};
      tokens[at] = made(ranks[at]);
      std::copy(tokens + at + 2, tokens + parts, tokens + at + 1);
      std::copy(ranks + at + 2, ranks + parts, ranks + at + 1);
      --parts;
      ranks[at] = at + 1 < parts ? rank(tokens[at], tokens[at + 1]) : kNoToken;
      if (at > 0) ranks[at - 1] = rank(tokens[at - 1], tokens[at]);
    }
    return {tokens[0], tokens[1], place};
  }

  const BytePairFile& file_;
  StringIndex index_;
  std::array<uint32_t, 256> bytes_;
  std::vector<uint32_t> order_, places_;  // the tokens by their ids; the place of each token in this order
  MergeMemory memory_;
};

}  // namespace

BytePairVocabulary::BytePairVocabulary(const BytePairFile& file) : size_(static_cast<int64_t>(file.ids.size())) {
  const size_t n = file.ids.size();
  PYCHUNK_CHECK(n <= kMostTokens - 256, "vocabulary: at most ", kMostTokens - 256, " tokens are supported, got ", n);
  BytePairBuilder builder(file);
  const std::vector<LastPair> last = builder.last_pairs();
  std::vector<uint32_t> made;  // tokens that merges make, the first merge first
  for (uint32_t i = 0; i < n; ++i)
    if (last[i].found()) made.push_back(i);
  std::sort(made.begin(), made.end(), [&](uint32_t a, uint32_t b) { return last[a].rank < last[b].rank; });
  std::vector<uint32_t> number_of(n, kNoToken);
  std::vector<bool> reached(n);
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t token = builder.bytes()[byte];
    number_of[token] = byte;
    reached[token] = true;
    ids_.push_back(file.ids[token]);
  }
  for (const int32_t id : file.ids) highest_id_ = std::max(highest_id_, id);
  in_order_ =
      static_cast<size_t>(highest_id_) < kMostTokens - 256 &&
      std::is_sorted(made.begin(), made.end(), [&](uint32_t a, uint32_t b) { return file.ids[a] < file.ids[b]; });
  for (const uint32_t token : made) {
    number_of[token] = static_cast<uint32_t>(in_order_ ? size_t(file.ids[token]) + 256 : ids_.size());
    reached[token] = true;
    if (!in_order_) ids_.push_back(file.ids[token]);
  }
  byte_pairs_.assign(1 << 16, kNoToken);
  // A bucket has 3 pairs on average, and one in 250 more than 8.
  const size_t buckets = std::bit_ceil(made.size() / 4 + 2);
  pairs_.assign(buckets * MergeTables::kBucket, MergeTables::kFree);
  merges_ = {byte_pairs_.data(), pairs_.data(), 64 - std::countr_zero(buckets), buckets - 1};
  for (const uint32_t token : made) {
    const uint32_t left = number_of[last[token].left], right = number_of[last[token].right];
    add_pair(left, right, number_of[token]);
    if (left < 256 && right < 256) byte_pairs_[size_t{left} << 8 | right] = number_of[token];
  }
  build_words(file, reached);
}

void BytePairVocabulary::add_pair(uint32_t left, uint32_t right, uint32_t made) {
  const uint64_t key = MergeTables::key(left, right);
  for (size_t i = merges_.home(key);; i = (i + 1) & merges_.mask)
    for (size_t k = 0; k < MergeTables::kBucket; ++k)
      if (uint64_t& slot = pairs_[i * MergeTables::kBucket + k]; slot == MergeTables::kFree) {
        slot = key << MergeTables::kNumberBits | made;
        return;
      }
}

void BytePairVocabulary::build_words(const BytePairFile& file, const std::vector<bool>& reached) {
  const size_t n = file.ids.size();
  const auto token = [&](size_t i) {
    return file.bytes.substr(static_cast<size_t>(file.offsets[i]),
                             static_cast<size_t>(file.offsets[i + 1] - file.offsets[i]));
  };
  const auto is_word = [&](size_t i) { return file.whole_words || reached[i]; };
  size_t words = 0, long_words = 0;
  for (size_t i = 0; i < n; ++i)
    if (is_word(i)) ++(token(i).size() <= kKeyBytes ? words : long_words);
  const size_t size = std::bit_ceil(2 * words + 2);
  word_shift_ = 64 - std::countr_zero(size);
  words_.assign(size + words + 1, Slot{{0, 0}, -1, 0, 0});  // the search never wraps
  long_words_.assign(std::bit_ceil(2 * long_words + 2), LongWord{0, 0, -1});
  long_shift_ = 64 - std::countr_zero(long_words_.size());
  for (size_t i = 0; i < n; ++i) {
    const std::string_view word = token(i);
    if (!is_word(i)) continue;
    if (word.size() > kKeyBytes) {
      size_t at = hash128(word, 0).low >> long_shift_;
      while (long_words_[at].length != 0) at = (at + 1) & (long_words_.size() - 1);
      long_words_[at] = {long_bytes_.size(), static_cast<uint32_t>(word.size()), file.ids[i]};
      long_bytes_.insert(long_bytes_.end(), word.begin(), word.end());
      continue;
    }
    uint8_t bytes[2 * kKeyBytes] = {};
    std::copy(word.begin(), word.end(), bytes);
    const WordKey key = load_key(bytes, word.size());
    Slot* slot = words_.data() + (home(key) - words_.data());
    while (slot->length != 0) ++slot;
    *slot = {key, file.ids[i], static_cast<uint32_t>(word.size()), 0};
  }
}

int32_t BytePairVocabulary::find_long(std::string_view word) const {
  size_t at = hash128(word, 0).low >> long_shift_;
  for (;; at = (at + 1) & (long_words_.size() - 1)) {
    const LongWord& entry = long_words_[at];
    if (entry.length == 0) return -1;
    if (std::string_view(long_bytes_.data() + entry.begin, entry.length) == word) return entry.id;
  }
}

}  // namespace pychunk
