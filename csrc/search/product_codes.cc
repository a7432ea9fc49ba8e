#include "search/product_codes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr int64_t kBookSize = 16, kGroupsAnEncoding = 64;
// The number of groups that are scored before the limit is read again: 128 KB of codes of 64 pieces.
constexpr int64_t kGroupsAtOnce = 128;
constexpr float kMostOfATable = 255.0f;

struct CodeHit {
  uint16_t score;
  int64_t row;
};

bool code_ranks_before(const CodeHit& a, const CodeHit& b) {
  return a.score > b.score || (a.score == b.score && a.row < b.row);
}

// The best of hits that come in rising order of rows. Whenever there are four times as many hits as wanted, three in
// four are dropped.
struct BestCodes {
  size_t count;
  std::vector<CodeHit> hits;
  uint32_t least = 0;  // hits with a lower score are not among the best

  void cut() {
    if (hits.size() < count) return;
    std::nth_element(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(count) - 1, hits.end(),
                     code_ranks_before);
    hits.resize(count);
    least = uint32_t{hits.back().score} + 1;  // a later row with an equal score is not among the best
  }
};

// Return the score of each centroid for a query, as integers from 0 to 255 in one unit for all pieces.
std::vector<uint8_t> tables_of(const float* query, int64_t dim, const CodeBooks& books) {
  std::vector<float> scores(static_cast<size_t>(books.pieces * kBookSize));
  float widest = 0.0f;
  for (int64_t piece = 0; piece < books.pieces; ++piece) {
    float* own = scores.data() + piece * kBookSize;
    for (int64_t k = 0; k < kBookSize; ++k) {
      const float* centroid = books.centroids + (piece * kBookSize + k) * books.width;
      float sum = 0.0f;
      for (int64_t c = 0; c < books.width && piece * books.width + c < dim; ++c)
        sum += query[piece * books.width + c] * centroid[c];
      own[k] = std::isfinite(sum) ? sum : 0.0f;
    }
    const auto [lowest, highest] = std::minmax_element(own, own + kBookSize);
    widest = std::max(widest, *highest - *lowest);
    const float base = *lowest;
    for (int64_t k = 0; k < kBookSize; ++k) own[k] -= base;
  }
  std::vector<uint8_t> tables(static_cast<size_t>(books.held() * kBookSize));
  const float unit = widest > 0.0f && std::isfinite(widest) ? widest / kMostOfATable : 1.0f;
  for (size_t i = 0; i < scores.size(); ++i)
    tables[i] = static_cast<uint8_t>(std::min(kMostOfATable, scores[i] / unit + 0.5f));
  return tables;
}

// Search groups [begin, end) of rows, which are numbered from `first` on.
void search_groups(const CodedRows& part, int64_t first, int64_t begin, int64_t end, int64_t pieces,
                   const uint8_t* tables, const bool* allowed, BestCodes& best) {
  std::array<uint32_t, kGroupsAtOnce * kCodeGroup> found;
  std::array<uint16_t, kGroupsAtOnce * kCodeGroup> scores;
  for (int64_t group = begin; group < end; group += kGroupsAtOnce) {
    checkpoint();
    if (best.least > 65535) return;
    const int64_t groups = std::min(kGroupsAtOnce, end - group);
    const size_t n = kernels().codes_above(part.codes + group * pieces * kCodeBytes, static_cast<size_t>(groups),
                                           static_cast<size_t>(pieces), tables, static_cast<uint16_t>(best.least),
                                           found.data(), scores.data());
    for (size_t i = 0; i < n; ++i) {
      const int64_t row = group * kCodeGroup + found[i];
      if (row >= part.rows || (allowed != nullptr && !allowed[first + row])) continue;
      best.hits.push_back({scores[i], first + row});
    }
    if (best.hits.size() >= 4 * best.count) best.cut();
  }
}

}  // namespace

void encode_rows(const StoredRows& rows, StoredAs kind, int64_t dim, const CodeBooks& books, uint8_t* out,
                 int threads) {
  const auto& own = kernels();
  const int64_t used = books.pieces * books.width, groups = (rows.rows + kCodeGroup - 1) / kCodeGroup;
  const int64_t kept = std::min(used, dim), held = books.held();
  // |x - c|^2 is lowest where x . c - |c|^2 / 2 is highest.
  std::vector<float> bias(static_cast<size_t>(books.pieces * kBookSize));
  for (size_t i = 0; i < bias.size(); ++i) {
    float sum = 0.0f;
    for (int64_t c = 0; c < books.width; ++c) {
      const float number = books.centroids[static_cast<int64_t>(i) * books.width + c];
      sum += number * number;
    }
    bias[i] = -0.5f * sum;
  }
  parallel_for((groups + kGroupsAnEncoding - 1) / kGroupsAnEncoding, threads, [&](int64_t task) {
    std::vector<float> row(static_cast<size_t>(dim)), turned(static_cast<size_t>(used * kCodeGroup));
    std::array<uint8_t, kCodeGroup> codes;
    for (int64_t g = task * kGroupsAnEncoding; g < std::min(groups, (task + 1) * kGroupsAnEncoding); ++g) {
      checkpoint();
      const int64_t there = std::min(kCodeGroup, rows.rows - g * kCodeGroup);
      for (int64_t r = 0; r < there; ++r) {
        const int64_t at = g * kCodeGroup + r;
        float scale = 1.0f;
        const float* numbers = row.data();
        if (kind == StoredAs::kBytes) {
          const int8_t* from = static_cast<const int8_t*>(rows.data) + at * (dim + int64_t{sizeof(float)});
          own.widen_bytes(from, static_cast<size_t>(kept), row.data());
          std::memcpy(&scale, from + dim, sizeof(scale));
        } else if (kind == StoredAs::kHalves) {
          own.widen_halves(static_cast<const uint16_t*>(rows.data) + at * dim, static_cast<size_t>(kept), row.data());
        } else {
          numbers = static_cast<const float*>(rows.data) + at * dim;
        }
        for (int64_t c = 0; c < kept; ++c) turned[static_cast<size_t>(c * kCodeGroup + r)] = numbers[c] * scale;
      }
      uint8_t* group = out + g * held * kCodeBytes;
      for (int64_t piece = 0; piece < books.pieces; ++piece, group += kCodeBytes) {
        own.best_centroids(turned.data() + piece * books.width * kCodeGroup, static_cast<size_t>(books.width),
                           books.centroids + piece * kBookSize * books.width, bias.data() + piece * kBookSize,
                           codes.data());
        for (int64_t r = there; r < kCodeGroup; ++r) codes[static_cast<size_t>(r)] = 0;
        for (size_t r = 0; r < static_cast<size_t>(kCodeBytes); ++r)
          group[r] = static_cast<uint8_t>(codes[r] | codes[r + static_cast<size_t>(kCodeBytes)] << 4);
      }
      std::fill(group, out + (g + 1) * held * kCodeBytes, uint8_t{0});
    }
  });
}

std::vector<std::vector<int64_t>> best_by_codes(std::span<const CodedRows> parts, const CodeBooks& books,
                                                const Matrix<const float>& queries, int64_t count, const bool* allowed,
                                                int threads) {
  // The positions of a query's groups, part after part.
  std::vector<int64_t> first{0}, borders{0};
  for (const CodedRows& part : parts) {
    first.push_back(first.back() + part.rows);
    borders.push_back(borders.back() + (part.rows + kCodeGroup - 1) / kCodeGroup);
  }
  const auto wanted = static_cast<size_t>(std::clamp<int64_t>(count, 0, first.back()));
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(queries.rows));
  if (wanted == 0) return out;
  // A run begins without a limit, so there are no more runs than the threads need.
  const int64_t most = std::max<int64_t>(1, borders.back() / kGroupsAtOnce);
  const int64_t runs =
      queries.rows >= threads ? 1 : std::min<int64_t>((threads + queries.rows - 1) / queries.rows, most);
  std::vector<std::vector<uint8_t>> tables;
  for (int64_t q = 0; q < queries.rows; ++q) tables.push_back(tables_of(queries.row(q), queries.cols, books));
  std::vector<std::vector<CodeHit>> found(static_cast<size_t>(queries.rows * runs));
  parallel_for(queries.rows * runs, threads, [&](int64_t task) {
    const auto query = static_cast<size_t>(task / runs);
    const int64_t run = task % runs, begin = borders.back() * run / runs, end = borders.back() * (run + 1) / runs;
    BestCodes best{wanted, {}};
    for (size_t p = 0; p < parts.size(); ++p) {
      const int64_t from = std::max(begin, borders[p]) - borders[p], to = std::min(end, borders[p + 1]) - borders[p];
      if (from < to) search_groups(parts[p], first[p], from, to, books.held(), tables[query].data(), allowed, best);
    }
    best.cut();
    found[static_cast<size_t>(task)] = std::move(best.hits);
  });
  parallel_for(queries.rows, threads, [&](int64_t query) {
    const auto q = static_cast<size_t>(query), each = static_cast<size_t>(runs);
    std::vector<CodeHit> hits = std::move(found[q * each]);
    for (size_t run = 1; run < each; ++run)
      hits.insert(hits.end(), found[q * each + run].begin(), found[q * each + run].end());
    std::sort(hits.begin(), hits.end(), code_ranks_before);
    hits.resize(std::min(hits.size(), wanted));
    for (const CodeHit& hit : hits) out[q].push_back(hit.row);
  });
  return out;
}

}  // namespace pychunk
