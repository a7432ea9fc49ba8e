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
// A code's step as a share of the standard deviation: three to either side of 0 before numbers are cut off. With .30
// half as many rows more are left than with .37.
constexpr double kStep = 0.37;
// Lengths are rounded up, and what squares below the least float32 lose is added.
constexpr float kRoundedUp = 1.00001f, kLostOfLength = 1e-17f;
constexpr int64_t kRowLanes = 8;

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

float scale_of(const int8_t* row, int64_t dim) {
  float scale;
  std::memcpy(&scale, row + dim, sizeof(scale));
  return scale;
}

std::vector<float> steps_of(const RowPlaces& places, int64_t dim, int64_t head) {
  const int64_t sampled = std::min(places.rows(), kRowsSampled);
  std::vector<double> squares(static_cast<size_t>(head), 0.0);
  for (int64_t i = 0; i < sampled; ++i) {
    const int8_t* row = places[places.rows() * i / sampled];
    const double scale = static_cast<double>(scale_of(row, dim));
    if (!std::isfinite(scale)) continue;  // of a file that is damaged
    for (size_t c = 0; c < squares.size(); ++c) squares[c] += scale * row[c] * scale * row[c];
  }
  std::vector<float> steps;
  for (const double square : squares) {
    const auto step = static_cast<float>(kStep * std::sqrt(square / static_cast<double>(sampled)));
    steps.push_back(step > 1e-30f && step < 1e30f ? step : 0.0f);
  }
  return steps;
}

// One row's codes, and how much of the row they are.
class RowCoder {
 public:
  RowCoder(const std::vector<float>& steps, int64_t dim) : steps_(steps), dim_(dim) {
    for (const float step : steps) inverse_.push_back(step > 0.0f ? 1.0f / step : 0.0f);
  }

  struct Lengths {
    float rest, tail, coded;
  };
  // codes: [head]
  Lengths operator()(const int8_t* row, uint8_t* codes) const {
    const float scale = scale_of(row, dim_);
    float left[kRowLanes] = {}, kept[kRowLanes] = {};
    const auto head = static_cast<int64_t>(steps_.size());
    for (int64_t c = 0; c < head; c += kRowLanes) {
      float number[kRowLanes], stands_for[kRowLanes];
      int32_t code[kRowLanes];
      const float *step = steps_.data() + c, *inverse = inverse_.data() + c;
      for (int64_t k = 0; k < kRowLanes; ++k) number[k] = static_cast<float>(row[c + k]);
      for (int64_t k = 0; k < kRowLanes; ++k) {
        number[k] *= scale;
        float place = number[k] * inverse[k] + 8.0f;
        place = place > 0.0f ? place : 0.0f;  // what is no number becomes one
        place = place < 15.0f ? place : 15.0f;
        code[k] = static_cast<int32_t>(place);
        stands_for[k] = (static_cast<float>(code[k]) - 7.5f) * step[k];
      }
      for (int64_t k = 0; k < kRowLanes; ++k) {
        const float lacks = number[k] - stands_for[k];
        left[k] += lacks * lacks, kept[k] += stands_for[k] * stands_for[k];
      }
      for (int64_t k = 0; k < kRowLanes; ++k) codes[c + k] = static_cast<uint8_t>(code[k]);
    }
    const float tail = std::sqrt(static_cast<float>(squares_of(row + head, dim_ - head))) * std::fabs(scale);
    return {length(left), tail * kRoundedUp, length(kept)};
  }

 private:
  static float length(const float* squares) {
    float sum = 0.0f;
    for (int64_t k = 0; k < kRowLanes; ++k) sum += squares[k];
    return std::sqrt(sum) * kRoundedUp + kLostOfLength;
  }

  const std::vector<float>& steps_;
  std::vector<float> inverse_;
  int64_t dim_;
};

}  // namespace

std::unique_ptr<RowHeads> RowHeads::of(std::span<const StoredRows> parts, int64_t dim, std::span<const int64_t> chosen,
                                       int64_t together, int threads) {
  const RowPlaces places(parts, dim, chosen);
  const int64_t head = dim * 3 / 4 / 32 * 32, least = dim * 3 / 8 / 32 * 32;
  if (least == 0 || places.rows() == 0 || !worth_it(places, dim, least)) return nullptr;
  const int64_t rows = places.rows(), filled = (rows + together - 1) / together * together;
  auto out = std::make_unique<RowHeads>();
  out->head = head;
  out->steps = steps_of(places, dim, head);
  out->codes.resize(static_cast<size_t>(filled * head / 2));
  out->rests.resize(static_cast<size_t>(filled));
  out->tails.resize(static_cast<size_t>(filled));
  const RowCoder coder(out->steps, dim);
  const int64_t tasks = (filled + kRowsATask - 1) / kRowsATask;
  std::vector<float> longest(static_cast<size_t>(tasks), 0.0f);
  parallel_for(tasks, threads, [&](int64_t task) {
    std::vector<uint8_t> codes(static_cast<size_t>(head));
    for (int64_t row = task * kRowsATask; row < std::min(rows, (task + 1) * kRowsATask); ++row) {
      const RowCoder::Lengths lengths = coder(places[row], codes.data());
      uint8_t* group = out->codes.data() + row / kGroup * kGroup * head / 2 + row % kGroup * 4;
      for (int64_t c = 0; c < head; c += 8, group += kGroup * 4) {
        const uint8_t* own = codes.data() + c;
        for (int64_t j = 0; j < 4; ++j) group[j] = static_cast<uint8_t>(own[j] | own[j + 4] << 4);
      }
      out->rests[static_cast<size_t>(row)] = lengths.rest, out->tails[static_cast<size_t>(row)] = lengths.tail;
      float& most = longest[static_cast<size_t>(task)];
      most = std::max(most, lengths.coded);
    }
  });
  out->longest = static_cast<double>(*std::max_element(longest.begin(), longest.end()));
  return out;
}

// Of a row v = a + r + t (what codes stand for, what they leave, the other numbers) and a query q = q' + d + q_t, with
// q' = 2 * unit * numbers / steps: v . q = a . q' + a . d + r . q_h + t . q_t, the last three at most products of
// lengths. What float32 loses, in the product itself and here, is at most `rounding` of |v| * |q|.
HeadBound::HeadBound(const RowHeads& heads, const float* from, int64_t dim) : numbers(static_cast<size_t>(heads.head)) {
  const double rounding = (static_cast<double>(dim) / 32.0 + 40.0) * 0x1p-23;
  double most = 0.0;
  for (size_t c = 0; c < numbers.size(); ++c)
    most = std::max(most, std::fabs(static_cast<double>(from[c]) * static_cast<double>(heads.steps[c])));
  const auto unit = static_cast<float>(most / 127.0 / 2.0);
  const bool fits = unit > 1e-30f && unit < 1e30f;
  int32_t sum = 0;
  double left = 0.0, head = 0.0, tail = 0.0;
  for (size_t c = 0; c < static_cast<size_t>(dim); ++c) {
    const auto number = static_cast<double>(from[c]);
    if (c >= numbers.size()) {
      tail += number * number;
      continue;
    }
    head += number * number;
    const auto step = static_cast<double>(heads.steps[c]);
    double stands_for = 0.0;
    if (fits && step > 0.0) {
      const double two = 2.0 * static_cast<double>(unit);
      const double whole = std::clamp(std::nearbyint(number * step / two), -127.0, 127.0);
      numbers[c] = static_cast<int8_t>(whole);
      sum += numbers[c];
      stands_for = two * whole / step;
    }
    if (step > 0.0) left += (number - stands_for) * (number - stands_for);  // else a is 0 here
  }
  const double all = std::sqrt(head + tail), up = static_cast<double>(kRoundedUp);
  query.numbers = numbers.data();
  query.unit = fits ? unit : 0.0f;
  query.shift = 15 * sum;
  query.by_rest = static_cast<float>((std::sqrt(head) + rounding * all) * up);
  query.by_tail = static_cast<float>((std::sqrt(tail) + rounding * all) * up);
  query.margin =
      static_cast<float>(heads.longest * (std::sqrt(left) + 2.0 * rounding * (all + std::sqrt(left))) * up + 2e-37);
}

}  // namespace pychunk
