#include "vectors/topic_inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/arithmetic.h"
#include "common/buffer.h"
#include "common/deterministic_math.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "text/sentence_splitter.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// The length of the shortest word whose repetition counts, and the number of bytes that identify a word.
constexpr int64_t kContentBytes = 5, kStemBytes = 6;
constexpr int32_t kNear = 2, kFar = 10, kAround = 3;  // sentences
constexpr int64_t kHeadingLineBytes = 80;             // of the longest heading
constexpr int64_t kWidestWindow = kTopicAround / 2;   // sentences on one side of the widest window
constexpr float kNoVector = 1e-8f;                    // smaller squares are rounding errors of a centred vector

// Returns the slot of a key in a table of 2^(64 - shift) slots, by Fibonacci hashing.
size_t place_of(uint64_t key, int shift) { return static_cast<size_t>((key * 0x9e3779b97f4a7c15u) >> shift); }
// Returns the shift for a table in which at least a fifth of the slots stay free. More stay free if keys repeat, as the
// words of a document do.
int shift_for(size_t keys) { return 64 - std::countr_zero(std::bit_ceil(keys + keys / 4 + 2)); }

// A map from a word to the last sentence that contained it.
class LastMet {
 public:
  void begin(size_t most_words) {
    shift_ = shift_for(most_words);
    places_.assign(size_t{1} << (64 - shift_), {});
  }
  // Returns the last sentence with the word, or -1 if there is none, and stores `sentence` in its place.
  int32_t exchange(uint64_t key, int32_t sentence) {
    for (size_t at = place_of(key, shift_);; at = (at + 1) & (places_.size() - 1)) {
      Place& place = places_[at];
      if (place.key == key) return std::exchange(place.last, sentence);
      if (place.key == 0) {
        place = {key, sentence};
        return -1;
      }
    }
  }
  void forget() { forget_if_huge(places_); }

 private:
  struct Place {
    uint64_t key = 0;
    int32_t last = 0;
  };
  std::vector<Place> places_;
  int shift_ = 0;
};

bool begins_item(std::string_view sentence) {
  if (sentence.starts_with("- ") || sentence.starts_with("* ") || sentence.starts_with("\u2022")) return true;
  size_t digits = 0;
  while (digits < sentence.size() && digits < 3 && sentence[digits] >= '0' && sentence[digits] <= '9') ++digits;
  return digits > 0 && digits < sentence.size() && (sentence[digits] == '.' || sentence[digits] == ')');
}

// Returns the first set bit at or after `at` and before `end`, or `end`.
int64_t next_bit(const std::vector<uint64_t>& bits, int64_t at, int64_t end) {
  while (at < end) {
    const uint64_t left = bits[static_cast<size_t>(at >> 6)] >> (at & 63);
    if (left != 0) return std::min(end, at + std::countr_zero(left));
    at = (at | 63) + 1;
  }
  return end;
}

// Calls each(position) for the bits set in [begin, end).
template <typename Each>
void for_each_bit(const std::vector<uint64_t>& bits, int64_t begin, int64_t end, Each each) {
  for (int64_t at = begin; at < end; at = (at | 63) + 1) {
    uint64_t left = bits[static_cast<size_t>(at >> 6)] & (~uint64_t{0} << (at & 63));
    if ((at >> 6) == (end >> 6)) left &= (uint64_t{1} << (end & 63)) - 1;
    for (; left != 0; left &= left - 1) each((at & ~int64_t{63}) + std::countr_zero(left));
  }
}

// Computes from the bytes of words where words begin, and where words of at least kContentBytes begin. Returns the
// number of these long words.
size_t word_starts_of(const std::vector<uint64_t>& in_words, std::vector<uint64_t>& starts,
                      std::vector<uint64_t>& long_words) {
  starts.resize(in_words.size()), long_words.resize(in_words.size());
  size_t count = 0;
  uint64_t before = 0;
  for (size_t i = 0; i < in_words.size(); ++i) {
    const uint64_t own = in_words[i], after = i + 1 < in_words.size() ? in_words[i + 1] : 0;
    starts[i] = own & ~(own << 1 | before >> 63);
    uint64_t whole = starts[i];
    for (int k = 1; k < kContentBytes; ++k) whole &= own >> k | after << (64 - k);
    long_words[i] = whole;
    count += static_cast<size_t>(std::popcount(whole));
    before = own;
  }
  return count;
}

// Returns the eight bytes with ASCII capitals in lower case.
uint64_t folded(uint64_t bytes) {
  constexpr uint64_t kEach = 0x0101010101010101u;
  const uint64_t low = bytes & (0x7f * kEach);
  const uint64_t from_a = low + (0x80 - 'A') * kEach, after_z = low + (0x7f - 'Z') * kEach;
  return bytes | ((from_a & ~after_z & ~bytes & (0x80 * kEach)) >> 2);
}

// Returns the first `size` <= 8 bytes of a word, with capitals in lower case and zeros after them. `left` bytes are
// readable.
uint64_t key_of(const char* word, int64_t size, int64_t left) {
  uint64_t bytes = 0;
  if (left >= 8) {
    std::memcpy(&bytes, word, 8);
    if (size < 8) bytes &= (uint64_t{1} << (8 * size)) - 1;
  } else {
    std::memcpy(&bytes, word, static_cast<size_t>(size));
  }
  return folded(bytes);
}

bool all_digits(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns 1 / |x| of a row or a sum of rows from its square, or 0 for a zero vector.
float inverse_norm(float square) { return square < kNoVector ? 0.0f : unit_scale(static_cast<double>(square)); }

// The work buffers of topic_text_inputs().
struct TextScratch {
  LastMet met;
  // A link connects a word with its next occurrence, up to kFar sentences later. links[s] is the number of links that
  // start at the gap before sentence s, minus the number of those that end there. content[s] is the number of words of
  // sentence s.
  std::vector<int32_t> links, content;
  std::vector<uint64_t> in_words, word_starts, long_words;  // one bit per byte
};

// Returns the buffers of the thread. This is a separate function because otherwise the compiler looks up the address of
// the thread's variable for each word.
[[gnu::noinline]] TextScratch& text_scratch() {
  thread_local TextScratch scratch;
  return scratch;
}

// The last rows of a sum, and their inverse norms.
class SumRing {
 public:
  void begin(float* rows, int64_t kept, size_t dim) {
    rows_ = rows, kept_ = kept, dim_ = dim, at_ = 0;
    std::fill_n(inverse_, kMost, 0.0f);
  }
  void advance() { at_ = at_ + 1 == kept_ ? 0 : at_ + 1; }
  // The row of the current sentence, or of the one `back` < kept sentences before it.
  float* row(int64_t back = 0) const { return rows_ + static_cast<size_t>(slot(back)) * dim_; }
  float& inverse(int64_t back = 0) { return inverse_[slot(back)]; }

  static constexpr int64_t kMost = 9;

 private:
  int64_t slot(int64_t back) const { return at_ >= back ? at_ - back : at_ - back + kept_; }

  float* rows_ = nullptr;
  int64_t kept_ = 0, at_ = 0;
  size_t dim_ = 0;
  float inverse_[kMost] = {};
};

}  // namespace

TopicWords::TopicWords(std::span<const uint64_t> keys)
    : shift_(shift_for(keys.size())), keys_(size_t{1} << (64 - shift_), 0), classes_(keys_.size()) {
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t at = place_of(keys[i], shift_);
    while (keys_[at] != 0) at = (at + 1) & (keys_.size() - 1);
    keys_[at] = keys[i], classes_[at] = static_cast<int32_t>(i + kTopicWordClasses);
  }
}

int32_t TopicWords::class_of(uint64_t key) const {
  if (keys_.empty()) return 2;
  size_t at = place_of(key, shift_);
  while (keys_[at] != 0 && keys_[at] != key) at = (at + 1) & (keys_.size() - 1);
  return keys_[at] == key ? classes_[at] : 2;
}

void topic_text_inputs(const TopicWords& words, const TopicText& text, TopicInputs& out) {
  const size_t n = text.starts.size();
  out.rows.assign(n * kTopicInputs, 0.0f);
  out.words.assign(n * 2, 0);
  auto& [met, links, content, in_words, word_starts, long_words] = text_scratch();
  const auto size = static_cast<int64_t>(text.text.size());
  in_words.resize(static_cast<size_t>(size + 63) / 64);
  kernels().mark_words(as_bytes(text.text), text.text.size(), in_words.data());
  met.begin(word_starts_of(in_words, word_starts, long_words));
  links.assign(n + 1, 0), content.assign(n + 1, 0);
  int32_t* const linked = links.data();
  const uint64_t* const in_word = in_words.data();
  LastMet& met_before = met;
  const auto words_at = [=](int64_t at) { return (in_word[at >> 6] >> (at & 63) & 1) != 0; };
  for (size_t s = 0; s < n; ++s) {
    checkpoint_each(static_cast<int64_t>(s), 256);
    const auto sentence = static_cast<int32_t>(s);
    const int64_t end = s + 1 < n ? text.starts[s + 1] : size;
    const Trimmed inside = trim(text.text, text.starts[s], end);
    const std::string_view own = slice(text.text, inside.begin, inside.end);
    float* row = out.rows.data() + s * kTopicInputs;
    int32_t count = 0, near = 0, far = 0, never = 0, ordinal = 0;
    const auto meet = [&](int64_t word) {
      // The word has at least five letters. The key includes a sixth if there is one.
      const bool longer = word + kContentBytes < size && words_at(word + kContentBytes);
      const uint64_t key = key_of(text.text.data() + word, longer ? kStemBytes : kContentBytes, size - word);
      const int32_t before = met_before.exchange(key, sentence);
      if (before == sentence) return;
      // The counts avoid branches, which no processor could predict.
      const int32_t distance = before < 0 ? kFar + 1 : sentence - before, comes_back = distance <= kFar;
      ++count;
      never += before < 0;
      near += distance <= kNear;
      far += comes_back;
      linked[before + 1] += comes_back;
      linked[sentence + 1] -= comes_back;
    };
    for_each_bit(long_words, text.starts[s], end, meet);
    for (int64_t word = text.starts[s]; ordinal < 2; ++ordinal) {
      word = next_bit(word_starts, word, end);
      if (word == end) break;
      int64_t stop = word + 1;
      while (stop < size && words_at(stop)) ++stop;
      const uint64_t key = key_of(text.text.data() + word, std::min<int64_t>(8, stop - word), size - word);
      out.words[2 * s + static_cast<size_t>(ordinal)] =
          all_digits(slice(text.text, word, stop)) ? 1 : words.class_of(key);
      word = stop;
    }
    content[s] = count;
    const auto of = static_cast<float>(std::max(1, count));
    row[7] = log_length(inside.end - inside.begin);
    row[8] = static_cast<float>(near) / of;
    row[9] = static_cast<float>(far) / of;
    row[10] = static_cast<float>(never) / of;
    const bool begins = (text.flags[s] & kParagraphStart) != 0;
    const bool alone = begins && (s + 1 == n || (text.flags[s + 1] & kParagraphStart) != 0);
    row[12] = begins;
    row[13] = (text.flags[s] & kBlankLineBefore) != 0;
    row[14] = alone;
    row[15] = own.starts_with('#') || (alone && s + 1 < n && inside.end - inside.begin <= kHeadingLineBytes);
    row[16] = begins_item(own);
  }
  int32_t across = 0, around = 0;  // links across the gap; words in the kAround sentences on either side
  for (size_t s = 0; s < std::min<size_t>(n, kAround); ++s) around += content[s];
  for (size_t s = 0; s < n; ++s) {
    across += links[s];
    out.rows[s * kTopicInputs + 11] = static_cast<float>(across) / static_cast<float>(1 + around);
    if (s + kAround < n) around += content[s + kAround];
    if (s >= kAround) around -= content[s - kAround];
  }
  met.forget();
  forget_if_huge(links, content, in_words, word_starts, long_words);
}

void topic_mean(const Rows& vectors, std::vector<float>& mean) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(vectors.cols);
  thread_local std::vector<float> partial;
  mean.assign(dim, 0.0f);
  for (int64_t first = 0; first < vectors.rows; first += kSumRows) {
    checkpoint();
    partial.assign(dim, 0.0f);
    const Matrix<const float> part = vectors.get(first, std::min(first + kSumRows, vectors.rows));
    for (int64_t i = 0; i < part.rows; ++i) run.add_scaled(part.row(i), dim, 1.0f, partial.data());
    run.add_scaled(partial.data(), dim, 1.0f, mean.data());
  }
  const auto scale = static_cast<float>(1.0 / static_cast<double>(vectors.rows));
  for (float& x : mean) x *= scale;
}

void topic_cosines(const Rows& vectors, const float* mean, int64_t begin, int64_t end, float* rows) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(vectors.cols);
  const float of_mean = inverse_norm(run.dot(mean, mean, dim));
  // The sums of the last 1, 2, 4 and 8 rows up to a row. Each sum is made from two sums of half as many rows, when its
  // last row comes. It is compared at once with the sum before it, while both are in the cache. A ring holds as many
  // rows of a sum as are read again. At 256 columns all take 22 kB, less than a core's first-level cache.
  //
  // Budget for a sentence of 256 columns: 18 rows read and 4 written, 2,600 instructions with 256-bit registers.
  constexpr size_t kSums = 4;
  constexpr int64_t kWindows[kSums] = {1, 2, 4, 8}, kKept[kSums] = {5, 3, 5, SumRing::kMost};
  thread_local std::vector<float> kept, less_mean, zeros;
  zeros.assign(dim, 0.0f);
  less_mean.assign(mean, mean + dim);
  for (float& x : less_mean) x = -x;
  SumRing sums[kSums];
  kept.assign(static_cast<size_t>(kKept[0] + kKept[1] + kKept[2] + kKept[3]) * dim, 0.0f);
  float* next = kept.data();
  for (size_t k = 0; k < kSums; ++k) {
    sums[k].begin(next, kKept[k], dim);
    next += static_cast<size_t>(kKept[k]) * dim;
  }
  const float *const minus = less_mean.data(), *const zero = zeros.data();
  // Sets input `column` of the sentence after the gap, if that sentence was requested.
  const auto tell = [&](int64_t gap, size_t column, float product, float left, float right) {
    if (gap >= begin && gap < end && gap > 0)
      rows[(gap - begin) * kTopicInputs + static_cast<int64_t>(column)] = product * left * right;
  };
  // The loop reads up to kWidestWindow - 1 rows after the last sentence, and as many before the rows to the left of the
  // first one. Rows outside the document are zero.
  for (int64_t s = std::max<int64_t>(begin - kTopicAround, 0); s < end + kWidestWindow - 1; ++s) {
    checkpoint_each(s, 64);
    const float* row = s < vectors.rows ? vectors.get(s, s + 1).data : nullptr;
    if (row != nullptr && s >= begin && s < end)  // rows have unit length or are zero
      rows[(s - begin) * kTopicInputs + 6] = run.dot(row, mean, dim) * of_mean;
    for (size_t k = 0; k < kSums; ++k) {
      sums[k].advance();
      const int64_t width = kWindows[k];
      const float* one = k == 0 ? (row != nullptr ? row : zero) : sums[k - 1].row();
      const float* more = k == 0 ? (row != nullptr ? minus : zero) : sums[k - 1].row(width / 2);
      float products[2];
      run.sum_and_products(one, more, sums[k].row(width), dim, sums[k].row(), products);
      sums[k].inverse() = inverse_norm(products[0]);
      tell(s - width + 1, k, products[1], sums[k].inverse(width), sums[k].inverse());
    }
    SumRing &ones = sums[0], &fours = sums[2];
    tell(s, 4, run.dot(fours.row(1), ones.row(), dim), fours.inverse(1), ones.inverse());
    tell(s - 3, 5, run.dot(ones.row(4), fours.row(), dim), ones.inverse(4), fours.inverse());
  }
}

}  // namespace pychunk
