#include "row_heads.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "parallel.h"
#include "scan.h"

namespace pychunk {
namespace {

constexpr int64_t kRowsSampled = 1000, kRowsATask = 8192;
constexpr double kLeastShare = 0.6;

// The sum of the squares of n numbers, of at most 2^14 each.
int64_t squares_of(const int8_t* numbers, int64_t n) {
  int32_t sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += int32_t{numbers[c]} * int32_t{numbers[c]};
  return sum;
}

// Where the rows of all parts lie.
class RowPlaces {
 public:
  RowPlaces(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen)
      : parts_(parts), width_(dim + int64_t{sizeof(float)}), chosen_(chosen) {
    for (const StoredRows& part : parts) first_.push_back(first_.back() + part.rows);
  }
  int64_t rows() const { return chosen_.empty() ? first_.back() : static_cast<int64_t>(chosen_.size()); }
  const int8_t* operator[](int64_t place) const {
    const int64_t row = chosen_.empty() ? place : chosen_[static_cast<size_t>(place)];
    const auto part = std::upper_bound(first_.begin(), first_.end(), row) - first_.begin() - 1;
    const auto own = static_cast<size_t>(part);
    return static_cast<const int8_t*>(parts_[own].data) + (row - first_[own]) * width_;
  }

 private:
  std::span<const StoredRows> parts_;
  int64_t width_;
  std::span<const int64_t> chosen_;
  std::vector<int64_t> first_{0};
};

bool worth_it(const RowPlaces& places, int64_t dim, int64_t head) {
  const int64_t sampled = std::min(places.rows(), kRowsSampled);
  double share = 0.0;
  for (int64_t i = 0; i < sampled; ++i) {
    const int8_t* row = places[places.rows() * i / sampled];
    const int64_t all = squares_of(row, dim);
    share += all == 0 ? 1.0 : static_cast<double>(squares_of(row, head)) / static_cast<double>(all);
  }
  return share >= kLeastShare * static_cast<double>(sampled);
}

}  // namespace

std::unique_ptr<RowHeads> RowHeads::of(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                       int64_t together, int threads) {
  const RowPlaces places(parts, dim, chosen);
  const int64_t head = dim * 5 / 8 / 32 * 32, least = dim * 3 / 8 / 32 * 32;
  if (least == 0 || !worth_it(places, dim, least)) return nullptr;
  const int64_t rows = places.rows(), filled = (rows + together - 1) / together * together;
  auto out = std::make_unique<RowHeads>();
  out->head = head;
  out->numbers.resize(static_cast<size_t>(filled * head));
  out->scales.resize(static_cast<size_t>(filled));
  out->rests.resize(static_cast<size_t>(filled));
  parallel_for((filled + kRowsATask - 1) / kRowsATask, threads, [&](int64_t task) {
    for (int64_t row = task * kRowsATask; row < std::min(filled, (task + 1) * kRowsATask); ++row) {
      int8_t* group = out->numbers.data() + row / kGroup * kGroup * head + row % kGroup * 2;
      const int8_t* from = row < rows ? places[row] : nullptr;
      for (int64_t c = 0; c < head; c += 2) {
        int8_t* pair = group + c * kGroup;
        pair[0] = from == nullptr ? int8_t{0} : from[c], pair[1] = from == nullptr ? int8_t{0} : from[c + 1];
      }
      float scale = 0.0f, rest = 0.0f;
      if (from != nullptr) {
        std::memcpy(&scale, from + dim, sizeof(scale));
        rest = std::sqrt(static_cast<float>(squares_of(from + head, dim - head))) * 1.00001f;
      }
      out->scales[static_cast<size_t>(row)] = scale, out->rests[static_cast<size_t>(row)] = rest;
    }
  });
  return out;
}

}  // namespace pychunk
