// Cosines between the sentence vectors of one document: of adjacent ones, and with a summary vector. All vectors have
// unit length or are zero. A cosine is therefore a dot product, and a zero vector has cosine 0 with every other vector.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "common/rows.h"
#include "common/view.h"

namespace pychunk {

// Scales x to unit length in place. A zero vector stays zero. Finite values may have any magnitude.
void normalize(float* x, int64_t dim);

// Writes the rows of `vectors`, each scaled to unit length, to `out`. Returns the first row that contains infinity or
// NaN, or -1 if there is none.
int64_t normalized(const Matrix<const float>& vectors, float* out);

// The sums of row i of `vectors` and row chosen[i] of `added`, scaled to unit length. If one of the two rows is zero,
// or nothing is chosen, the row of `vectors` stays as it is, bit for bit. The rows of `added` stay in the cache,
// because consecutive rows mostly have the same.
class UnitSums {
 public:
  UnitSums(const Matrix<const float>& vectors, std::span<const int64_t> chosen, const Matrix<const float>& added);

  int64_t rows() const { return vectors_.rows; }
  int64_t cols() const { return vectors_.cols; }

  // Sum i, before each of its values is multiplied by `scale`. Whoever reads the values multiplies, which saves a pass.
  struct Sum {
    const float* values;
    float scale;
  };
  // Returns sum i. Its values are in `room`, which has cols() values, or in `vectors`.
  Sum row(int64_t i, float* room) const;

  // Writes all sums. It reads and writes 4 bytes a value each, which is the floor.
  void write(int threads, float* out) const;

 private:
  Matrix<const float> vectors_;
  std::span<const int64_t> chosen_;
  Matrix<const float> added_;
  std::vector<uint8_t> zero_;  // whether each row of added_ is zero
};

// Computes a[i] = e_i . e_{i+1} for i < n - 1, where e_i is the vector of sentence i of n. With a window w > 1, a[i] is
// the cosine between two sums: of up to w vectors before the boundary, and of up to w after it.
void adjacent_cosines(const Rows& vectors, int64_t window, std::vector<float>& out);

// Sets out[i] = e_i . v.
void cosines_to(const Rows& vectors, const float* v, float* out);

// Returns whether a summary begins with the sum of all vectors.
inline bool is_summed(SummarySource source) {
  return source == SummarySource::kMean || source == SummarySource::kExtractive;
}
// Returns whether the seed decides on a summary.
inline bool is_drawn(SummarySource source) {
  return source == SummarySource::kSentence || source == SummarySource::kRandom;
}

// Computes the summary vector of a document from its own sentence vectors. It has dim values.
// - mean: the unit-length sum of all sentences.
// - lead: the unit-length sum of the sentences of the first paragraph (flags: SentenceFlag).
// - extractive: the unit-length sum of min(5, 1 + n / 20) sentences, chosen one by one. The score is the cosine with
//   the mean minus half the highest cosine with a chosen sentence. Of equal scores the earliest wins.
// - sentence: one sentence, drawn by `seed`.
// - random: a direction, drawn by `seed`.
// `took` gets the sentences of the summary in increasing order. It stays empty for mean and random.
void summary_vector(SummarySource source, const Rows& vectors, std::span<const uint8_t> flags, uint64_t seed,
                    std::vector<float>& out, std::vector<int32_t>& took);

}  // namespace pychunk
