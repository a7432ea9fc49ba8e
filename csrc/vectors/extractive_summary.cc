#include "vectors/extractive_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr double kWholeOne = 2048.0, kAlike = kWholeOne * kWholeOne / 256.0;
// Adding and subtracting this constant rounds a number below 2^51 to the nearest integer, halves to the even one.
// std::rint does the same, but without SSE 4.1 it is a function call for each number.
constexpr double kToWhole = 6755399441055744.0;  // 1.5 * 2^52
constexpr size_t kPartial = 8;
// The most chunks that are processed together, so that the vectors of their windows stay in the cache. 16 chunks of a
// page each, and the pages around them, take 0.8 MB as float64.
constexpr int64_t kChunksTogether = 16;

double product_of(const double* a, const double* b, size_t dim) {
  std::array<double, kPartial> partial{};
  size_t c = 0;
  for (; c + kPartial <= dim; c += kPartial)
    for (size_t k = 0; k < kPartial; ++k) partial[k] += a[c + k] * b[c + k];
  double sum = 0.0;
  for (; c < dim; ++c) sum += a[c] * b[c];
  for (const double each : partial) sum += each;
  return sum;
}

void add_to(const double* a, size_t dim, double* sum) {
  for (size_t c = 0; c < dim; ++c) sum[c] += a[c];
}

struct ChunkWindows {
  const Matrix<const float>& vectors;
  std::span<const int64_t> first, since, until;

  // Returns the end of the chunks from `chunk` on whose windows overlap.
  int64_t together(int64_t chunk) const {
    const auto n = static_cast<int64_t>(since.size());
    int64_t end = chunk + 1;
    for (; end < std::min(n, chunk + kChunksTogether); ++end) {
      const auto at = static_cast<size_t>(end);
      if (since[at] < since[at - 1] || since[at] >= until[at - 1] || until[at] < until[at - 1]) break;
    }
    return end;
  }

  // Finds the best sentence for each of the chunks [begin, end), whose windows overlap.
  void best(int64_t begin, int64_t end, int64_t* out) const {
    const auto at = [](std::span<const int64_t> values, int64_t i) { return values[static_cast<size_t>(i)]; };
    const auto dim = static_cast<size_t>(vectors.cols);
    const int64_t low = at(since, begin), high = at(until, end - 1), zero = at(first, low);
    std::vector<double> whole(static_cast<size_t>(at(first, high) - zero) * dim);
    const float* from = vectors.row(zero);
    for (size_t i = 0; i < whole.size(); ++i) whole[i] = (double{from[i]} * kWholeOne + kToWhole) - kToWhole;
    const auto row = [&](int64_t sentence) { return whole.data() + static_cast<size_t>(sentence - zero) * dim; };
    std::vector<double> sums(static_cast<size_t>(high - low) * dim);
    const auto sum_of_chunk = [&](int64_t chunk) { return sums.data() + static_cast<size_t>(chunk - low) * dim; };
    for (int64_t chunk = low; chunk < high; ++chunk)
      for (int64_t s = at(first, chunk); s < at(first, chunk + 1); ++s) add_to(row(s), dim, sum_of_chunk(chunk));
    std::vector<double> around(dim);
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      std::fill(around.begin(), around.end(), 0.0);
      for (int64_t other = at(since, chunk); other < at(until, chunk); ++other)
        if (other != chunk) add_to(sum_of_chunk(other), dim, around.data());
      int64_t found = -1;
      double highest = 0.0;
      for (int64_t other = at(since, chunk); other < at(until, chunk); ++other) {
        if (other == chunk) continue;
        for (int64_t s = at(first, other); s < at(first, other + 1); ++s) {
          const double score = std::rint(product_of(row(s), around.data(), dim) / kAlike);
          if (found < 0 || score > highest) found = s, highest = score;
        }
      }
      out[chunk] = found;
    }
  }
};

}  // namespace

std::vector<int64_t> most_central(const Matrix<const float>& vectors, std::span<const int64_t> first,
                                  std::span<const int64_t> since, std::span<const int64_t> until, int threads) {
  const ChunkWindows windows{vectors, first, since, until};
  const auto n = static_cast<int64_t>(since.size());
  std::vector<int64_t> begins, out(since.size());
  for (int64_t chunk = 0; chunk < n; chunk = windows.together(chunk)) begins.push_back(chunk);
  begins.push_back(n);
  parallel_for(static_cast<int64_t>(begins.size()) - 1, threads, [&](int64_t i) {
    windows.best(begins[static_cast<size_t>(i)], begins[static_cast<size_t>(i) + 1], out.data());
  });
  return out;
}

}  // namespace pychunk
