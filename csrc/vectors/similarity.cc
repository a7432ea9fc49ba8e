#include "vectors/similarity.h"

#include <algorithm>
#include <cmath>

#include "common/arithmetic.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "text/sentence_splitter.h"
#include "vectors/scaled_rows.h"

namespace pychunk {
namespace {

// SplitMix64: returns the next of a sequence of well-mixed 64-bit numbers.
uint64_t next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

void sum_rows(const Rows& vectors, int64_t begin, int64_t end, std::vector<float>& out) {
  const Kernels& run = kernels();
  const auto dim = static_cast<size_t>(vectors.cols);
  if (end - begin == vectors.rows && vectors.scaled != nullptr && !vectors.scaled->sum().empty()) {
    out.assign(vectors.scaled->sum().begin(), vectors.scaled->sum().end());
    return;
  }
  thread_local std::vector<float> partial;
  out.assign(dim, 0.0f);
  for (int64_t first = begin; first < end; first += kSumRows) {
    if (first > begin) checkpoint();
    partial.assign(dim, 0.0f);
    const Matrix<const float> part = vectors.get(first, std::min(first + kSumRows, end));
    for (int64_t i = 0; i < part.rows; ++i) run.add_scaled(part.row(i), dim, 1.0f, partial.data());
    run.add_scaled(partial.data(), dim, 1.0f, out.data());
  }
}

// Chooses greedily a few sentences that are near the mean and unlike each other. On entry `out` holds the mean.
void extract(const Rows& vectors, std::vector<float>& out, std::vector<int32_t>& took) {
  const Kernels& run = kernels();
  const auto n = static_cast<size_t>(vectors.rows), dim = static_cast<size_t>(vectors.cols);
  const auto picks = static_cast<size_t>(summary_picks(vectors.rows));
  thread_local std::vector<float> to_mean, to_chosen, highest, chosen;
  to_mean.resize(n), to_chosen.resize(n);
  highest.assign(n, -2.0f);  // below any cosine
  cosines_to(vectors, out.data(), to_mean.data());
  std::fill(out.begin(), out.end(), 0.0f);
  for (size_t pick = 0; pick < picks; ++pick) {
    size_t best = n;
    float best_score = 0.0f;
    for (size_t i = 0; i < n; ++i) {
      if (highest[i] == 2.0f) continue;  // already chosen
      const float score = pick == 0 ? to_mean[i] : pick_score(to_mean[i], highest[i]);
      if (best == n || score > best_score) best = i, best_score = score;
    }
    const auto at = static_cast<int64_t>(best);
    const float* row = vectors.get(at, at + 1).data;
    chosen.assign(row, row + dim);
    run.add_scaled(chosen.data(), dim, 1.0f, out.data());
    took.push_back(static_cast<int32_t>(best));
    if (pick + 1 == picks) break;
    cosines_to(vectors, chosen.data(), to_chosen.data());
    for (size_t i = 0; i < n; ++i) highest[i] = std::max(highest[i], to_chosen[i]);
    highest[best] = 2.0f;  // above any cosine
  }
  std::sort(took.begin(), took.end());
}

}  // namespace

void normalize(float* x, int64_t dim) {
  const auto size = static_cast<size_t>(dim);
  float squares = kernels().dot(x, x, size);
  if (!is_plain(squares)) {  // rescale by a power of two, which rounds nothing
    float largest = 0.0f;
    for (size_t j = 0; j < size; ++j) largest = std::max(largest, std::fabs(x[j]));
    if (largest == 0.0f) return;
    const int exponent = std::ilogb(largest);
    for (size_t j = 0; j < size; ++j) x[j] = std::ldexp(x[j], -exponent);
    squares = kernels().dot(x, x, size);
  }
  const float scale = unit_scale(static_cast<double>(squares));
  for (size_t j = 0; j < size; ++j) x[j] *= scale;
}

int64_t normalized(const Matrix<const float>& vectors, float* out) {
  const auto dim = static_cast<size_t>(vectors.cols);
  for (int64_t i = 0; i < vectors.rows; ++i, out += dim) {
    checkpoint_each(i, 4096);
    const float* row = vectors.row(i);
    // If a sum of squares is not finite, either an element is not finite, or the sum only overflowed.
    const bool suspect = !std::isfinite(kernels().dot(row, row, dim));
    if (suspect && !std::all_of(row, row + dim, [](float x) { return std::isfinite(x); })) return i;
    std::copy_n(row, dim, out);
    normalize(out, vectors.cols);
  }
  return -1;
}

namespace {

bool is_zero(const float* row, int64_t dim) {
  return std::all_of(row, row + dim, [](float x) { return x == 0.0f; });
}

}  // namespace

UnitSums::UnitSums(const Matrix<const float>& vectors, std::span<const int64_t> chosen,
                   const Matrix<const float>& added)
    : vectors_(vectors), chosen_(chosen), added_(added), zero_(static_cast<size_t>(added.rows)) {
  for (int64_t i = 0; i < added.rows; ++i) zero_[static_cast<size_t>(i)] = is_zero(added.row(i), added.cols);
}

UnitSums::Sum UnitSums::row(int64_t i, float* room) const {
  const float* const row = vectors_.row(i);
  if (chosen_.empty()) return {row, 1.0f};
  const int64_t other = chosen_[static_cast<size_t>(i)];
  if (zero_[static_cast<size_t>(other)] || is_zero(row, vectors_.cols)) return {row, 1.0f};
  float products[2];
  kernels().sum_and_products(row, added_.row(other), row, static_cast<size_t>(vectors_.cols), room, products);
  if (is_plain(products[0])) return {room, unit_scale(static_cast<double>(products[0]))};
  normalize(room, vectors_.cols);
  return {room, 1.0f};
}

void UnitSums::write(int threads, float* out) const {
  constexpr int64_t kBlock = 1024;
  parallel_for((vectors_.rows + kBlock - 1) / kBlock, threads, [&](int64_t block) {
    checkpoint();
    const int64_t end = std::min(vectors_.rows, (block + 1) * kBlock);
    for (int64_t i = block * kBlock; i < end; ++i) {
      float* const sum = out + i * vectors_.cols;
      const auto [values, scale] = row(i, sum);
      for (int64_t j = 0; j < vectors_.cols; ++j) sum[j] = values[j] * scale;
    }
  });
}

void cosines_to(const Rows& vectors, const float* v, float* out) {
  if (vectors.scaled != nullptr && vectors.scaled->is_plain()) return vectors.scaled->cosines(v, out);
  for (int64_t begin = 0; begin < vectors.rows; begin += RowWindow::kAhead) {
    checkpoint();
    const Matrix<const float> part = vectors.get(begin, std::min(begin + RowWindow::kAhead, vectors.rows));
    kernels().dot_rows(part.data, static_cast<size_t>(part.rows), static_cast<size_t>(part.cols), v, out + begin);
  }
}

void adjacent_cosines(const Rows& vectors, int64_t window, std::vector<float>& out) {
  const Kernels& run = kernels();
  const int64_t n = vectors.rows;
  const auto dim = static_cast<size_t>(vectors.cols);
  out.resize(static_cast<size_t>(std::max<int64_t>(0, n - 1)));
  if (window == 1 && vectors.scaled != nullptr && vectors.scaled->is_plain())
    return vectors.scaled->adjacent_cosines(out.data());
  if (window == 1) {
    for (int64_t i = 0; i + 1 < n; ++i) {
      checkpoint_each(i, 4096);
      const Matrix<const float> pair = vectors.get(i, i + 2);
      out[static_cast<size_t>(i)] = run.dot(pair.row(0), pair.row(1), dim);
    }
    return;
  }
  std::vector<float> left, right;
  for (int64_t i = 0; i + 1 < n; ++i) {
    checkpoint_each(i, window < 256 ? 64 : 1);
    const int64_t begin = std::max<int64_t>(0, i + 1 - window), end = std::min(n, i + 1 + window);
    vectors.get(begin, end);  // loads the rows on both sides of the boundary in one request
    sum_rows(vectors, begin, i + 1, left);
    sum_rows(vectors, i + 1, end, right);
    normalize(left.data(), vectors.cols);
    normalize(right.data(), vectors.cols);
    out[static_cast<size_t>(i)] = run.dot(left.data(), right.data(), dim);
  }
}

void summary_vector(SummarySource source, const Rows& vectors, std::span<const uint8_t> flags, uint64_t seed,
                    std::vector<float>& out, std::vector<int32_t>& took) {
  took.clear();
  if (vectors.rows == 0) {
    out.assign(static_cast<size_t>(vectors.cols), 0.0f);
    return;
  }
  switch (source) {
    case SummarySource::kMean:
      sum_rows(vectors, 0, vectors.rows, out);
      break;
    case SummarySource::kLead: {
      int64_t end = 1;
      while (end < vectors.rows && (flags[static_cast<size_t>(end)] & kParagraphStart) == 0) ++end;
      sum_rows(vectors, 0, end, out);
      for (int64_t s = 0; s < end; ++s) took.push_back(static_cast<int32_t>(s));
      break;
    }
    case SummarySource::kExtractive:
      sum_rows(vectors, 0, vectors.rows, out);
      normalize(out.data(), vectors.cols);
      extract(vectors, out, took);
      break;
    case SummarySource::kSentence: {
      const auto drawn = static_cast<int64_t>(next_random(seed) % static_cast<uint64_t>(vectors.rows));
      const float* row = vectors.get(drawn, drawn + 1).data;
      out.assign(row, row + vectors.cols);
      took.push_back(static_cast<int32_t>(drawn));
      return;
    }
    case SummarySource::kRandom:
      // Each element is the sum of four uniform 16-bit numbers minus the mean of such sums. It is close enough to
      // Gaussian, and exact in float32.
      out.resize(static_cast<size_t>(vectors.cols));
      for (float& x : out) {
        const uint64_t bits = next_random(seed);
        const auto total =
            static_cast<int64_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
        x = static_cast<float>(total - 131070);
      }
      break;
    case SummarySource::kGiven:
      fail("a given summary must be passed, it cannot be computed");
  }
  normalize(out.data(), vectors.cols);
}

}  // namespace pychunk
