#include "tokens/transformer_batch.h"

#include <algorithm>
#include <numeric>

namespace pychunk {

Kept kept(const ModelRows& rows, int64_t row, const Template& shape) {
  const auto at = static_cast<size_t>(row);
  const bool pair = !rows.second.empty();
  const auto a = static_cast<int64_t>(rows.sentences[rows.first[at]].size());
  const auto b = pair ? static_cast<int64_t>(rows.sentences[rows.second[at]].size()) : 0;
  const int64_t room = std::max<int64_t>(0, shape.max_length - shape.special(pair));
  if (a + b <= room) return {a, b};
  if (!pair) return {room, 0};
  const int64_t shorter = std::min(a, b), half = room / 2;
  const int64_t low = shorter <= half ? shorter : half, high = room - low;
  return a > b ? Kept{high, low} : Kept{low, high};
}

void row_lengths(const ModelRows& rows, const Template& shape, int64_t* out) {
  const int64_t special = shape.special(!rows.second.empty());
  for (int64_t i = 0; i < rows.size(); ++i) {
    const Kept tokens = kept(rows, i, shape);
    out[i] = tokens.first + tokens.second + special;
  }
}

Batches plan_batches(std::span<const int64_t> lengths, int64_t budget, int64_t least) {
  Batches out;
  out.order.resize(lengths.size());
  std::iota(out.order.begin(), out.order.end(), int64_t{0});
  const auto length = [&](int64_t row) { return lengths[static_cast<size_t>(row)]; };
  std::stable_sort(out.order.begin(), out.order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
  out.borders.push_back(0);
  int64_t width = 0, rows = 0;
  for (size_t i = 0; i < out.order.size(); ++i) {
    const int64_t own = length(out.order[i]);
    const bool full = (rows + 1) * width > budget;
    const bool other = own != width && rows * width >= least;
    if (rows > 0 && (full || other)) {
      out.borders.push_back(static_cast<int64_t>(i));
      rows = 0;
    }
    if (rows++ == 0) width = own;
  }
  if (!out.order.empty()) out.borders.push_back(static_cast<int64_t>(out.order.size()));
  return out;
}

template <typename Id>
void fill(const ModelRows& rows, std::span<const int64_t> chosen, const Template& shape, int64_t width, Id* ids,
          Id* mask, Id* types) {
  const bool pair = !rows.second.empty();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const auto row = static_cast<size_t>(chosen[i]);
    const Kept tokens = kept(rows, chosen[i], shape);
    Id* begin = ids + static_cast<int64_t>(i) * width;
    Id* at = std::copy(shape.prefix.begin(), shape.prefix.end(), begin);
    const auto a = rows.sentences[rows.first[row]];
    at = std::copy_n(a.begin(), tokens.first, at);
    int64_t second = width;
    if (pair) {
      at = std::copy(shape.middle.begin(), shape.middle.end(), at);
      second = at - begin;
      const auto b = rows.sentences[rows.second[row]];
      at = std::copy_n(b.begin(), tokens.second, at);
    }
    at = std::copy(shape.suffix.begin(), shape.suffix.end(), at);
    const int64_t length = at - begin;
    std::fill(at, begin + width, static_cast<Id>(shape.pad));
    if (mask != nullptr) {
      Id* own = mask + static_cast<int64_t>(i) * width;
      std::fill(own, own + length, Id{1});
      std::fill(own + length, own + width, Id{0});
    }
    if (types != nullptr) {
      Id* own = types + static_cast<int64_t>(i) * width;
      std::fill(own, own + width, Id{0});
      if (second < length) std::fill(own + second, own + length, Id{1});
    }
  }
}

template void fill<int32_t>(const ModelRows&, std::span<const int64_t>, const Template&, int64_t, int32_t*, int32_t*,
                            int32_t*);
template void fill<int64_t>(const ModelRows&, std::span<const int64_t>, const Template&, int64_t, int64_t*, int64_t*,
                            int64_t*);

}  // namespace pychunk
