#include "duplicates/near_copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <utility>

#include "common/buffer.h"
#include "common/parallel.h"
#include "duplicates/shingles.h"

namespace pychunk {
namespace {

constexpr int64_t kReadTogether = 64;       // The number of documents that a thread takes at a time.
constexpr int64_t kComparedTogether = 512;  // The number of documents whose shares are counted in parallel.
constexpr uint64_t kOddStep = 0x9e3779b97f4a7c15u;
constexpr uint64_t kEmptyBin = ~uint64_t{0};

using Sketch = std::array<uint64_t, kSketch>;

struct Digest {
  uint64_t hash = 0;  // of all words in their order
  int64_t shingles = 0;
};

// Returns the digest of a document, and sets `shingles` to its shingles in their order.
Digest read_shingles(std::string_view text, std::vector<uint64_t>& shingles) {
  shingles.clear();
  Digest digest;
  uint64_t first = 0, second = 0;
  int64_t words = 0;
  hash_words(text, [&](uint64_t word) {
    digest.hash = std::rotl(digest.hash ^ word, 27) * kOddStep;
    if (++words >= kShingleWords) shingles.push_back(shingle_of(first, second, word));
    first = second, second = word;
  });
  digest.hash = mixed_bits(digest.hash + static_cast<uint64_t>(words));
  digest.shingles = static_cast<int64_t>(shingles.size());
  return digest;
}

int bin_of(uint64_t hash) { return static_cast<int>(hash >> 57); }
static_assert(kSketch == 1 << (64 - 57));

// Sets a value for each bin: the least hash in it. The first round puts each shingle into one bin. Each later round
// hashes all shingles again, for the bins that are empty so far. Round kSketch + i puts all shingles into bin i. The
// first round takes about 4 cycles a shingle. The later ones take about 128 ln 128 = 620 steps in all, for any number
// of shingles.
void make_sketch(const std::vector<uint64_t>& shingles, Sketch& sketch) {
  sketch.fill(kEmptyBin);
  for (const uint64_t hash : shingles) sketch[bin_of(hash)] = std::min(sketch[bin_of(hash)], hash);
  std::array<uint64_t, kSketch / 64> filled{};  // one bit a bin
  for (int bin = 0; bin < kSketch; ++bin) filled[bin / 64] |= uint64_t{sketch[bin] != kEmptyBin} << bin % 64;
  for (int round = 1; std::min(filled[0], filled[1]) != ~uint64_t{0}; ++round) {
    auto next = filled;
    for (const uint64_t shingle : shingles) {
      const uint64_t hash = mixed_bits(shingle + static_cast<uint64_t>(round) * kOddStep) & ~uint64_t{1};
      const int bin = round < kSketch ? bin_of(hash) : round - kSketch;
      if (filled[bin / 64] >> bin % 64 & 1) continue;
      sketch[bin] = std::min(sketch[bin], hash);
      next[bin / 64] |= uint64_t{1} << bin % 64;
    }
    filled = next;
  }
}

// The shingles of one document, which are counted against those of another. If half of the documents are near-copies,
// a core reads 198 MB/s this way (a table of two to four slots a shingle), and 119 MB/s if both lists are sorted.
class ShingleTable {
 public:
  // Returns the number of shingles that two lists have in common, each as often as it is in both.
  int64_t common(const std::vector<uint64_t>& one, const std::vector<uint64_t>& other) {
    mask_ = std::bit_ceil(2 * one.size() + 1) - 1;
    slots_.assign(mask_ + 1, {});
    for (const uint64_t shingle : one) {
      Slot& slot = find(shingle);
      slot.shingle = shingle, slot.is_used = true, ++slot.left;
    }
    int64_t found = 0;
    for (const uint64_t shingle : other) {
      Slot& slot = find(shingle);
      if (slot.left > 0) --slot.left, ++found;
    }
    return found;
  }

 private:
  struct Slot {
    uint64_t shingle = 0;
    uint32_t left = 0;
    bool is_used = false;
  };

  // Returns the slot of a shingle, or the free slot that it would get.
  Slot& find(uint64_t shingle) {
    size_t at = shingle & mask_;
    while (slots_[at].is_used && slots_[at].shingle != shingle) at = (at + 1) & mask_;
    return slots_[at];
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

class NearCopyFinder {
 public:
  NearCopyFinder(const Texts& texts, double share, int band, int threads)
      : texts_(texts),
        share_(share),
        band_(band),
        bands_(share < 1 ? kSketch / band : 0),
        threads_(threads),
        digests_(texts.size()),
        keys_(static_cast<size_t>(texts.size() * bands_)),
        copies_(static_cast<size_t>(texts.size())) {}

  NearCopies find() {
    read();
    link_equal();
    group();
    for (int64_t begin = 0; begin < texts_.size(); begin += kComparedTogether) {
      const int64_t end = std::min(begin + kComparedTogether, texts_.size());
      parallel_for(end - begin, threads_, [&](int64_t i) { search(begin + i, 0); });
      for (int64_t row = begin; row < end; ++row) {
        if (copies_[row].of < 0) search(row, begin);
        if (copies_[row].of < 0 && row < static_cast<int64_t>(offsets_.size()) - 1)
          for (int64_t at = offsets_[row]; at < offsets_[row + 1]; ++at) leaders_[groups_[at]].push_back(row);
      }
    }
    NearCopies found;
    for (int64_t row = 0; row < texts_.size(); ++row) {
      Copy copy = copies_[row];
      if (copy.of < 0) continue;
      // The first document with these words may be a near-copy itself. This one then has the same share.
      if (copy.is_equal && copies_[copy.of].of >= 0) copy = copies_[copy.of];
      found.rows.push_back(row), found.of.push_back(copy.of), found.shares.push_back(copy.share);
    }
    return found;
  }

 private:
  struct Copy {
    int64_t of = -1;
    double share = 0;
    bool is_equal = false;
  };

  // Reads all documents and stores the keys of their bands, band by band.
  void read() {
    const int64_t rows = texts_.size();
    parallel_for((rows + kReadTogether - 1) / kReadTogether, threads_, [&](int64_t part) {
      std::vector<uint64_t> shingles;
      Sketch sketch;
      for (int64_t row = part * kReadTogether; row < std::min(rows, (part + 1) * kReadTogether); ++row) {
        digests_[row] = read_shingles(texts_[row], shingles);
        if (shingles.empty() || bands_ == 0) continue;
        make_sketch(shingles, sketch);
        for (int band = 0; band < bands_; ++band) {
          uint64_t key = 0;
          for (int i = 0; i < band_; ++i) key = (key ^ sketch[band * band_ + i]) * kOddStep;
          keys_[static_cast<size_t>(band * rows + row)] = mixed_bits(key);
        }
      }
    });
  }

  // Links each document to the first one with the same words.
  void link_equal() {
    std::unordered_multimap<uint64_t, int64_t> first;
    first.reserve(static_cast<size_t>(texts_.size()));
    for (int64_t row = 0; row < texts_.size(); ++row) {
      const auto [begin, end] = first.equal_range(digests_[row].hash);
      const auto found = std::find_if(begin, end, [&](const auto& each) { return same_words(each.second, row); });
      if (found == end)
        first.emplace(digests_[row].hash, row);
      else
        copies_[row] = {found->second, 1, true};
    }
  }

  bool same_words(int64_t one, int64_t other) const {
    if (texts_[one] == texts_[other]) return true;
    std::vector<uint64_t> words, others;
    hash_words(texts_[one], [&](uint64_t word) { words.push_back(word); });
    hash_words(texts_[other], [&](uint64_t word) { others.push_back(word); });
    return words == others;
  }

  // Finds the documents that have a band's key in common with another, and numbers these groups.
  void group() {
    const int64_t rows = texts_.size();
    std::vector<std::vector<std::pair<uint64_t, int64_t>>> shared(static_cast<size_t>(bands_));
    parallel_for(bands_, threads_, [&](int64_t band) {
      // Most keys occur once. Two bits for each of 8 slots a document find nearly all of them without a sort.
      const size_t slots = std::bit_ceil(static_cast<size_t>(8 * rows));
      std::vector<bool> once(slots), twice(slots);
      const uint64_t* keys = keys_.data() + band * rows;
      const auto counts = [&](int64_t row) { return digests_[row].shingles > 0 && copies_[row].of < 0; };
      for (int64_t row = 0; row < rows; ++row) {
        if (!counts(row)) continue;
        const size_t slot = keys[row] & (slots - 1);
        if (once[slot]) twice[slot] = true;
        once[slot] = true;
      }
      auto& own = shared[band];
      for (int64_t row = 0; row < rows; ++row)
        if (counts(row) && twice[keys[row] & (slots - 1)]) own.emplace_back(keys[row], row);
      std::sort(own.begin(), own.end());
    });
    std::vector<std::pair<int64_t, int64_t>> members;  // (row, group)
    int64_t groups = 0;
    for (const auto& own : shared)
      for (size_t begin = 0, end; begin < own.size(); begin = end) {
        for (end = begin + 1; end < own.size() && own[end].first == own[begin].first;) ++end;
        if (end - begin < 2) continue;
        for (size_t i = begin; i < end; ++i) members.emplace_back(own[i].second, groups);
        ++groups;
      }
    std::sort(members.begin(), members.end());
    offsets_.assign(static_cast<size_t>(rows) + 1, 0);
    for (const auto& [row, number] : members) ++offsets_[row + 1], groups_.push_back(number);
    for (int64_t row = 0; row < rows; ++row) offsets_[row + 1] += offsets_[row];
    leaders_.resize(static_cast<size_t>(groups));
  }

  // Compares a document with those in its groups that are no near-copies, from row `least` on.
  void search(int64_t row, int64_t least) {
    if (copies_[row].of >= 0) return;
    std::vector<int64_t> candidates;
    for (int64_t at = offsets_[row]; at < offsets_[row + 1]; ++at) {
      const auto& known = leaders_[groups_[at]];
      candidates.insert(candidates.end(), std::lower_bound(known.begin(), known.end(), least), known.end());
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::vector<uint64_t> own, others;
    ShingleTable table;
    for (const int64_t other : candidates) {
      const auto [shorter, longer] = std::minmax({digests_[row].shingles, digests_[other].shingles});
      if (static_cast<double>(shorter) / static_cast<double>(longer) < share_) continue;
      if (own.empty()) read_shingles(texts_[row], own);
      read_shingles(texts_[other], others);
      const int64_t common = std::min(table.common(own, others), longer - 1);
      const double share = static_cast<double>(common) / static_cast<double>(longer);
      if (share < share_) continue;
      copies_[row] = {other, share, false};
      return;
    }
  }

  const Texts& texts_;
  const double share_;
  const int band_;
  const int64_t bands_;
  const int threads_;
  std::vector<Digest> digests_;
  Values<uint64_t> keys_;
  std::vector<Copy> copies_;
  std::vector<int64_t> offsets_, groups_;      // the groups of each document
  std::vector<std::vector<int64_t>> leaders_;  // the documents of each group that are no near-copies, so far
};

}  // namespace

NearCopies find_near_copies(const Texts& texts, double share, int band, int threads) {
  return NearCopyFinder(texts, share, band, threads).find();
}

}  // namespace pychunk
