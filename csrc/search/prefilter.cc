#include "search/prefilter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/dispatch.h"
#include "common/parallel.h"
#include "search/scan.h"

namespace pychunk {
namespace {

constexpr int64_t kRowsSampled = 1000, kRowsATask = 8192;
constexpr double kLeastShare = 0.6;
// A bound is an integer times one unit of the query, and must fit into 31 bits. Codes add at most 2^29, the values that
// they stand for at most half of that, and each length at most 2^29.
constexpr double kMostOfLength = 32767.0, kMostByLength = 16384.0, kMostWeight = 8192.0;
// The step of a code as a share of the standard deviation. Codes reach three standard deviations to either side of 0
// before values are clipped. A step of 0.30 leaves 1.5 times as many rows as one of 0.37.
constexpr double kStep = 0.37;
// Lengths are rounded up, by the factor kRoundedUp. kLostOfLength is added for squares below the smallest float32.
constexpr float kRoundedUp = 1.00001f, kLostOfLength = 1e-17f;

// Return the sum of the squares of n numbers, of at most 2^14 each.
int64_t squares_of(const int8_t* numbers, int64_t n) {
  int32_t sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += int32_t{numbers[c]} * int32_t{numbers[c]};
  return sum;
}

// The addresses of the rows of all parts.
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
    if (!std::isfinite(scale)) continue;  // the file is damaged
    for (size_t c = 0; c < squares.size(); ++c) squares[c] += scale * row[c] * scale * row[c];
  }
  std::vector<float> steps;
  for (const double square : squares) {
    const auto step = static_cast<float>(kStep * std::sqrt(square / static_cast<double>(sampled)));
    steps.push_back(step > 1e-30f && step < 1e30f ? step : 0.0f);
  }
  return steps;
}

// The lengths of a row, rounded up: of what its codes lose, of its other numbers, and of the values that its codes
// stand for.
struct RowLengths {
  float rest, tail, coded;

  // Keep the greater one of each length. A value that is not a number counts as infinite.
  void take(const RowLengths& other) {
    rest = greater(rest, other.rest), tail = greater(tail, other.tail), coded = greater(coded, other.coded);
  }

 private:
  static float greater(float a, float b) {
    if (b <= a) return a;
    return b > a ? b : std::numeric_limits<float>::infinity();
  }
};

float rounded_up(float squares, float times = 1.0f) { return std::sqrt(squares) * times * kRoundedUp + kLostOfLength; }

double step_of(float longest) { return std::max(static_cast<double>(longest) / kMostOfLength * 1.00001, 1e-30); }
// Return more steps than the length has, and at most kMostOfLength if it is at most the greatest length of step_of().
// A conversion takes fewer instructions than rounding up, for which the baseline instruction set calls a function.
uint32_t in_steps(float length, double per_step) {
  return static_cast<uint32_t>(static_cast<double>(length) * per_step) + 1;
}

int64_t tasks_of(int64_t rows) { return (rows + kRowsATask - 1) / kRowsATask; }

// Calls work(task, begin, end) for tasks of consecutive rows.
template <typename Work>
void each_task(int64_t rows, int threads, const Work& work) {
  parallel_for(tasks_of(rows), threads, [&](int64_t task) {
    work(static_cast<size_t>(task), task * kRowsATask, std::min(rows, (task + 1) * kRowsATask));
  });
}

// Writes the codes of all rows, and two lengths of each, `rest` and `tail`. Returns the greatest lengths.
RowLengths code_rows(const RowPlaces& places, int64_t dim, int threads, const RowHeads& heads, float* rests_and_tails) {
  std::vector<float> inverses;
  for (const float step : heads.steps) inverses.push_back(step > 0.0f ? 1.0f / step : 0.0f);
  const Kernels& run = kernels();
  std::vector<RowLengths> longest(static_cast<size_t>(tasks_of(places.rows())), RowLengths{});
  each_task(places.rows(), threads, [&](size_t task, int64_t begin, int64_t end) {
    RowLengths most{};
    for (int64_t row = begin; row < end; ++row) {
      const int8_t* from = places[row];
      uint8_t* to = heads.codes.data + row / RowHeads::kGroup * RowHeads::kGroup * heads.head / 2;
      float squares[3];
      run.code_row(from, static_cast<size_t>(dim), inverses.size(), heads.steps.data(), inverses.data(),
                   to + row % RowHeads::kGroup * 4, squares);
      const float tail = rounded_up(squares[2], std::fabs(scale_of(from, dim)));
      const RowLengths lengths{rounded_up(squares[0]), tail, rounded_up(squares[1])};
      rests_and_tails[2 * row] = lengths.rest, rests_and_tails[2 * row + 1] = tail;
      most.take(lengths);
    }
    longest[task] = most;
  });
  RowLengths most{};
  for (const RowLengths& each : longest) most.take(each);
  return most;
}

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
  // Together these are large enough for large pages. The threads write to them first, so that none waits until one has
  // cleared them.
  Arena arena(Arena::bytes<uint8_t>(filled * head / 2) + Arena::bytes<uint32_t>(filled));
  arena.take(filled * head / 2, out->codes), arena.take(filled, out->lengths);
  const Buffer<float> rests_and_tails(2 * rows);
  const int64_t whole = rows / kGroup * kGroup;
  std::memset(out->codes.data + whole * head / 2, 0, static_cast<size_t>((filled - whole) * head / 2));
  std::memset(out->lengths.data + rows, 0, static_cast<size_t>(filled - rows) * sizeof(uint32_t));
  const RowLengths most = code_rows(places, dim, threads, *out, rests_and_tails.data);
  if (!std::isfinite(most.rest) || !std::isfinite(most.tail)) return nullptr;
  out->longest = static_cast<double>(most.coded);
  out->rest_step = step_of(most.rest), out->tail_step = step_of(most.tail);
  const double rest_per = 1.0 / out->rest_step, tail_per = 1.0 / out->tail_step;
  each_task(rows, threads, [&](size_t, int64_t begin, int64_t end) {
    for (const float* own = rests_and_tails.data + 2 * begin; begin < end; ++begin, own += 2)
      out->lengths.data[begin] = in_steps(own[0], rest_per) | in_steps(own[1], tail_per) << 16;
  });
  return out;
}

int32_t whole_limit(const HeadQuery& query, float limit) {
  const double units = (static_cast<double>(limit) - static_cast<double>(query.margin)) * query.per_unit;
  const double least = units - std::fabs(units) * 1e-6 - query.start - 1.0;
  constexpr double kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  if (!(least > kLeast)) return std::numeric_limits<int32_t>::min();
  return least < kMost ? static_cast<int32_t>(least) : std::numeric_limits<int32_t>::max();
}

// Build the bound of a query. A row is v = a + r + t: the values that its codes stand for, the remainder of these
// numbers, and the other numbers. A query is q = q' + d + q_t: its first numbers q_h, which are q' + d with the
// rounding error d, and its other numbers. Here q' = unit * weights * numbers / steps. Then
// v . q = a . q' + a . d + r . q_h + t . q_t,
// and each of the last three terms is at most the product of two lengths. Number c of a row is (code - 7.5) * steps[c],
// so a . q' = unit * (weights * numbers) . (codes - 7.5). The float32 product itself loses at most `rounding` of
// |v| * |q|.
//
// |d| is 0.01 for a query of length 1, and at most 0.015 among 64 queries. With one weight for all numbers, it would be
// 0.023 and at most 0.058.
HeadBound::HeadBound(const RowHeads& heads, const float* from, int64_t dim) : numbers(static_cast<size_t>(heads.head)) {
  const double rounding = (static_cast<double>(dim) / 32.0 + 40.0) * 0x1p-23, up = static_cast<double>(kRoundedUp);
  // The divisors that make the query's numbers integers of eight bits, and their sums over runs integers of sixteen. In
  // each run, positive and negative numbers are added separately, and so are numbers of even and of odd pairs. Each
  // number may be rounded up by a half.
  constexpr double kMostSum = kMostOfRun - static_cast<double>(kHeadRun) / 4.0 - 1.0;
  double by[2] = {}, sums[2][2] = {}, head = 0.0, tail = 0.0;
  for (size_t c = 0; c < static_cast<size_t>(dim); ++c) {
    const auto number = static_cast<double>(from[c]);
    (c < numbers.size() ? head : tail) += number * number;
    if (c >= numbers.size()) continue;
    const double product = number * static_cast<double>(heads.steps[c]);
    if (c >= kFirstHeadRun && (c - kFirstHeadRun) % kHeadRun == 0) std::fill_n(&sums[0][0], 4, 0.0);
    double &sum = sums[c / 2 % 2][product > 0.0], &own = by[c >= kFirstHeadRun];
    sum += std::fabs(product);
    own = std::max({own, std::fabs(product) / 127.0, sum / kMostSum});
  }
  const double all = std::sqrt(head + tail);
  const double by_rest = (std::sqrt(head) + rounding * all) * up * heads.rest_step;
  const double by_tail = (std::sqrt(tail) + rounding * all) * up * heads.tail_step;
  // The unit of the query. The divisors are even multiples of it, and rounding to float32 does not make it smaller.
  const auto runs = static_cast<double>(numbers.size() / kHeadRun + 2);
  const double heaviest = std::max(2.0, std::floor(kMostWeight / runs / 2.0) * 2.0);
  const double exact =
      std::max({by[0] / heaviest, by[1] / heaviest, by_rest / kMostByLength, by_tail / kMostByLength, 1e-30}) * up;
  const bool fits = exact < 1e30;
  query.unit = fits ? static_cast<float>(exact) : 1.0f;
  const auto unit = static_cast<double>(query.unit);
  for (size_t run = 0; run < 2; ++run)
    query.weights[run] = fits ? static_cast<int32_t>(std::ceil(by[run] / unit / 2.0)) * 2 : 0;
  double left = 0.0;
  query.start = 0;
  for (size_t c = 0; c < numbers.size(); ++c) {
    const auto number = static_cast<double>(from[c]), step = static_cast<double>(heads.steps[c]);
    const int32_t weight = query.weights[c >= kFirstHeadRun];
    if (step <= 0.0) continue;  // a is 0 here
    const double one = weight * unit / step, whole = weight > 0 ? std::nearbyint(number / one) : 0.0;
    numbers[c] = static_cast<int8_t>(whole);
    query.start -= 15 * numbers[c] * (weight / 2);
    left += (number - one * whole) * (number - one * whole);
  }
  const auto in_units = [&](double length) { return fits ? static_cast<uint32_t>(std::ceil(length / unit)) : 0u; };
  const double margin = heads.longest * (std::sqrt(left) + 2.0 * rounding * (all + std::sqrt(left))) * up + 2e-37;
  query.numbers = numbers.data();
  query.by_lengths = static_cast<int32_t>(in_units(by_rest) | in_units(by_tail) << 16);
  query.per_unit = 1.0 / unit;
  query.margin = fits && margin < 1e30 ? static_cast<float>(margin * up) : std::numeric_limits<float>::infinity();
}

}  // namespace pychunk
