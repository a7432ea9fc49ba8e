#include "postings.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "check.h"
#include "interrupt.h"

namespace pychunk {
namespace {

// A term, and its first eight bytes as a number that sorts as they do.
struct SortedTerm {
  uint64_t head;
  int32_t number;
};

uint64_t head_of(std::string_view term) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t bytes = 0;
  std::memcpy(&bytes, term.data(), std::min<size_t>(8, term.size()));
  return __builtin_bswap64(bytes);
}

// Comparing heads first takes a third of the time of comparing the strings.
std::vector<SortedTerm> sorted_terms(const StringTable& terms, const std::vector<int64_t>& frequencies) {
  std::vector<SortedTerm> sorted;
  for (int32_t i = 0; i < terms.size(); ++i)
    if (frequencies[static_cast<size_t>(i)] > 0) sorted.push_back({head_of(terms[i]), i});
  std::sort(sorted.begin(), sorted.end(), [&](const SortedTerm& a, const SortedTerm& b) {
    return a.head != b.head ? a.head < b.head : terms[a.number] < terms[b.number];
  });
  return sorted;
}

}  // namespace

InvertedFile invert(const StringTable& terms, std::span<const CountedRows> batches) {
  std::vector<int64_t> next(static_cast<size_t>(terms.size()));  // how many rows, then where the next one goes
  int64_t total = 0;
  for (const CountedRows& batch : batches) {
    checkpoint();
    const auto postings = static_cast<int64_t>(batch.terms.size());
    PYCHUNK_CHECK(batch.counts.size() == batch.terms.size() &&
                      std::accumulate(batch.sizes.begin(), batch.sizes.end(), int64_t{0}) == postings,
                  "sizes must add up to the terms and counts of a batch");
    for (const int32_t size : batch.sizes) PYCHUNK_CHECK(size >= 0, "sizes must not be negative, got ", size);
    for (const int32_t term : batch.terms) {
      PYCHUNK_CHECK(term >= 0 && term < terms.size(), "terms must be below ", terms.size(), ", got ", term);
      ++next[static_cast<size_t>(term)];
    }
    total += postings;
  }
  const std::vector<SortedTerm> sorted = sorted_terms(terms, next);
  checkpoint();
  InvertedFile out;
  const auto count = static_cast<int64_t>(sorted.size());
  out.term_offsets = Buffer<int64_t>(count + 1), out.offsets = Buffer<int64_t>(count + 1);
  int64_t bytes = 0, at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<size_t>(sorted[static_cast<size_t>(i)].number);
    out.term_offsets[i] = bytes, out.offsets[i] = at;
    bytes += static_cast<int64_t>(terms[static_cast<int32_t>(number)].size());
    at += std::exchange(next[number], at);
  }
  out.term_offsets[count] = bytes, out.offsets[count] = at;
  out.terms = Buffer<char>(bytes);
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view term = terms[sorted[static_cast<size_t>(i)].number];
    std::memcpy(out.terms.data + out.term_offsets[i], term.data(), term.size());
  }
  out.rows = Buffer<int32_t>(total), out.counts = Buffer<int32_t>(total);
  int32_t row = 0;
  for (const CountedRows& batch : batches) {
    size_t i = 0;
    for (const int32_t size : batch.sizes) {
      checkpoint_each(row, 1024);
      for (const size_t end = i + static_cast<size_t>(size); i < end; ++i) {
        const int64_t place = next[static_cast<size_t>(batch.terms[i])]++;
        out.rows[place] = row, out.counts[place] = batch.counts[i];
      }
      ++row;
    }
  }
  return out;
}

}  // namespace pychunk
