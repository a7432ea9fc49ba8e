#include "parsing/noise_features.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <unordered_map>

#include "common/check.h"
#include "common/interrupt.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// The classes of characters that are counted, as in _SORTS of noise_columns.py. The last class has all characters
// outside ASCII.
constexpr std::string_view kSorts[] = {"0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", ",", ".!?", ":;", "$%@#", "|/>",
                                       "()[]\"'"};
constexpr size_t kSortCount = std::size(kSorts) + 1, kStops = 3;
constexpr auto kSortOf = [] {
  std::array<uint8_t, 128> table{};
  for (uint8_t sort = 0; sort < std::size(kSorts); ++sort)
    for (const char c : kSorts[sort]) table[static_cast<uint8_t>(c)] = sort + 1;
  return table;
}();

// Return log2(1 + value) of a number from 0 on, interpolated linearly between powers of two.
double log_of(double value) {
  const auto bits = std::bit_cast<uint64_t>(value + 1);  // of a normal number
  constexpr uint64_t kPart = (uint64_t{1} << 52) - 1, kOne = uint64_t{1023} << 52;
  const double power = static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023);
  return power - 1 + std::bit_cast<double>((bits & kPart) | kOne);
}

double ratio_of(double part, double whole) { return part / std::max(whole, 1.0); }

double steps_of(double distance) { return std::clamp(distance / 8, -4.0, 4.0); }

// The sums over the blocks inside an element.
struct NoiseSums {
  double chars = 0, linked = 0, words = 0, stops = 0, ends = 0, repeated = 0, headings = 0;
};

NoiseSums operator+(const NoiseSums& a, const NoiseSums& b) {
  return {a.chars + b.chars, a.linked + b.linked,     a.words + b.words,      a.stops + b.stops,
          a.ends + b.ends,   a.repeated + b.repeated, a.headings + b.headings};
}

NoiseSums operator-(const NoiseSums& a, const NoiseSums& b) {
  return {a.chars - b.chars, a.linked - b.linked,     a.words - b.words,      a.stops - b.stops,
          a.ends - b.ends,   a.repeated - b.repeated, a.headings - b.headings};
}

constexpr int8_t kHeadingKind = 1;

class ColumnWriter {
 public:
  ColumnWriter(const NoiseBlocks& page, NoiseColumns& out)
      : page_(page), out_(out), blocks_(page.start.size()), elements_(page.parent.size()) {}

  void run() {
    read_text();
    read_titles();
    read_tree();
    read_alike();
    find_main();
    out_.width = 8 + static_cast<int64_t>(kSortCount) + page_.kinds + 12 + 11 * kNoiseLevels + 4 + 9 + 4 * kNoiseLevels;
    out_.dense.resize(blocks_ * static_cast<size_t>(out_.width));
    double* row = out_.dense.data();
    for (size_t b = 0; b < blocks_; ++b) {
      checkpoint_each(static_cast<int64_t>(b), 1024);
      next_ = row;
      write(b);
      PYCHUNK_CHECK(next_ - row == out_.width, "a row must have ", out_.width, " features, got ", next_ - row);
      round(row, next_);
      row = next_;
    }
  }

 private:
  // Count the characters of each class, and find equal texts.
  void read_text() {
    sorts_.resize(blocks_);
    std::unordered_map<std::string_view, int64_t> numbers;
    numbers.reserve(blocks_);
    int64_t character = 0, byte = 0;
    const auto size = static_cast<int64_t>(page_.text.size());
    const auto skip_to = [&](int64_t wanted, auto seen) {
      for (; character < wanted && byte < size; ++character) {
        const auto c = static_cast<uint8_t>(page_.text[static_cast<size_t>(byte)]);
        seen(c);
        byte += c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
      }
    };
    // Most characters have no class. A test costs less than a sum that waits for the one before it.
    const auto count = [](std::array<int32_t, kSortCount + 1>& sorts) {
      return [&sorts](uint8_t c) {
        if (const size_t sort = c < 0x80 ? kSortOf[c] : kSortCount; sort != 0) ++sorts[sort];
      };
    };
    for (size_t b = 0; b < blocks_; ++b) {
      auto& sorts = sorts_[b];
      skip_to(page_.start[b], [](uint8_t) {});
      const int64_t first = byte;
      skip_to(page_.end[b], count(sorts));
      const auto next = static_cast<int64_t>(numbers.size());
      const int64_t number = numbers.try_emplace(slice(page_.text, first, byte), next).first->second;
      out_.copy.push_back(number);
      if (number == next) copies_.push_back(0);
      ++copies_[static_cast<size_t>(number)];
    }
  }

  void read_titles() {
    size_t at = 0;
    for (size_t b = 0; b < blocks_; ++b) {
      int64_t found = 0;
      for (int64_t i = 0; i < page_.hashed[b]; ++i)
        found += std::ranges::binary_search(page_.title, page_.hashes[at++]);
      in_title_.push_back(static_cast<double>(found) / static_cast<double>(std::max<int64_t>(page_.hashed[b], 1)));
      if (page_.kind[b] != kHeadingKind) continue;
      if (first_heading_ < 0 && page_.level[b] == 1) first_heading_ = static_cast<int64_t>(b);
      if (anchor_ < 0 && in_title_[b] >= 0.6 && page_.words[b] >= 3 && page_.words[b] <= 30) {
        anchor_ = static_cast<int64_t>(b);
      }
    }
    if (anchor_ < 0) anchor_ = first_heading_;
  }

  // Find the blocks inside each element, the sums over them, and the elements above each block.
  void read_tree() {
    running_.push_back({});
    for (size_t b = 0; b < blocks_; ++b) {
      running_.push_back(running_.back() +
                         NoiseSums{static_cast<double>(page_.text_chars[b]), static_cast<double>(page_.link_chars[b]),
                                   static_cast<double>(page_.words[b]), static_cast<double>(page_.stops[b]),
                                   static_cast<double>(sorts_[b][kStops + 1]), static_cast<double>(repeats(b) > 1),
                                   static_cast<double>(page_.kind[b] == kHeadingKind)});
    }
    // below[e] is the number of blocks whose element has a number below e. The elements of blocks increase.
    std::vector<int32_t> below(elements_ + 1);
    for (size_t e = 0, b = 0; e <= elements_; ++e) {
      while (b < blocks_ && page_.element[b] < static_cast<int64_t>(e)) ++b;
      below[e] = static_cast<int32_t>(b);
    }
    std::vector<int32_t> top(elements_);
    for (size_t e = 0; e < elements_; ++e) {
      first_.push_back(below[e]);
      last_.push_back(below[static_cast<size_t>(page_.last[e])]);
      const auto around = static_cast<size_t>(parent(static_cast<int64_t>(e)));
      const bool same = last_[around] - first_[around] == last_[e] - first_[e];
      top[e] = same && around < e ? top[around] : static_cast<int32_t>(e);
    }
    out_.near.resize(3 * blocks_), out_.path.resize(kNoisePath * blocks_), out_.above.resize(kNoiseLevels * blocks_);
    for (size_t b = 0; b < blocks_; ++b) {
      int64_t at = page_.element[b];
      for (size_t level = 0; level < 3; ++level, at = parent(at)) out_.near[level * blocks_ + b] = at;
      at = out_.near[2 * blocks_ + b];
      for (size_t level = 0; level < kNoisePath; ++level) {
        at = at < 0 ? -1 : page_.parent[static_cast<size_t>(at)];
        out_.path[level * blocks_ + b] = at;
      }
      at = page_.element[b];
      for (size_t level = 0; level < kNoiseLevels; ++level) {
        at = parent(top[static_cast<size_t>(at)]);
        out_.above[level * blocks_ + b] = at;
      }
    }
  }

  // Find the blocks that are alike: their elements, and the two elements above each, have the same names.
  void read_alike() {
    std::vector<uint64_t> names(elements_);
    for (size_t e = 0; e < elements_; ++e) {
      for (const uint32_t word : page_.names[static_cast<int64_t>(e)]) names[e] += word;
    }
    std::vector<uint64_t> signs;
    for (size_t b = 0; b < blocks_; ++b) {
      const auto name = [&](size_t level) { return names[static_cast<size_t>(out_.near[level * blocks_ + b])]; };
      signs.push_back(name(0) + name(1) * 31 + name(2) * 961 + static_cast<uint64_t>(page_.kind[b]));
    }
    std::vector<uint64_t> ordered(signs);
    std::ranges::sort(ordered);
    ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
    alike_.resize(ordered.size()), members_.resize(ordered.size());
    for (size_t b = 0; b < blocks_; ++b) {
      const auto number = static_cast<size_t>(std::ranges::lower_bound(ordered, signs[b]) - ordered.begin());
      out_.like.push_back(static_cast<int64_t>(number));
      alike_[number] = alike_[number] + (running_[b + 1] - running_[b]);
      ++members_[number];
    }
  }

  // Find the element with the most text that reads like prose, as if each paragraph voted for its ancestors.
  void find_main() {
    votes_.resize(elements_);
    for (size_t b = 0; b < blocks_; ++b) {
      const double chars = page_.text_chars[b], linked = page_.link_chars[b];
      const double prose = chars - linked >= 80 && chars >= 2 * linked ? chars - linked : 0;
      votes_[above(0, b)] += prose;
      votes_[above(1, b)] += prose / 2;
    }
    const auto most = std::ranges::max_element(votes_);
    most_votes_ = std::max(1.0, *most);
    const auto main = static_cast<size_t>(most - votes_.begin());
    begins_ = first_[main], ends_ = last_[main];
    for (const uint8_t told : page_.told) told_ += told;
  }

  void write(size_t b) {
    const double count = static_cast<double>(blocks_), position = static_cast<double>(b);
    const double chars = page_.text_chars[b], linked = page_.link_chars[b], length = std::max(chars, 1.0);
    const double words = static_cast<double>(page_.words[b]), stops = static_cast<double>(page_.stops[b]);
    const double total = running_.back().chars;
    put(log_of(chars) / 2);
    put(log_of(words) / 2);
    put(ratio_of(linked, length) * 4);
    put(log_of(page_.links[b]));
    put(ratio_of(chars, words) / 4);
    put(ratio_of(stops, words) * 6);
    put(in_title_[b] * 4);
    put(page_.ends_sentence[b] * 2.0);
    for (size_t sort = 0; sort < kSortCount; ++sort) {
      put(std::min(ratio_of(sorts_[b][sort + 1], length) * (sort < 2 ? 4 : 16), 4.0));
    }
    for (int64_t kind = 0; kind < page_.kinds; ++kind) put(page_.kind[b] == kind ? 2 : 0);
    put(page_.level[b]);
    put(page_.hidden[b] * 2.0);
    put(log_of(repeats(b) - 1));
    put(page_.depth[static_cast<size_t>(page_.element[b])] / 8.0);
    put(ratio_of(position, count) * 4);
    put(ratio_of(running_[b].chars, total) * 4);
    put(log_of(count) / 4);
    put(log_of(total) / 4);
    const double from = position - (first_heading_ < 0 ? count : static_cast<double>(first_heading_));
    put(steps_of(from));
    put(log_of(std::abs(from)) / 2 * static_cast<double>((from > 0) - (from < 0)));
    if (page_.kind[b] == kHeadingKind) last_heading_ = static_cast<double>(b);
    put(log_of(position - last_heading_) / 2);
    put(first_heading_ >= 0 ? 1 : 0);
    for (size_t level = 0; level < kNoiseLevels; ++level) write_above(above(level, b), position, total);
    const auto like = static_cast<size_t>(out_.like[b]);
    const NoiseSums& alike = alike_[like];
    put(log_of(members_[like]) / 2);
    put(log_of(ratio_of(alike.chars, members_[like])) / 2);
    put(ratio_of(alike.linked, alike.chars) * 4);
    put(ratio_of(alike.stops, alike.words) * 6);
    const double begins = begins_, ends = ends_, anchor = static_cast<double>(anchor_);
    put(position >= begins && position < ends ? 2 : 0);
    put(steps_of(position - begins));
    put(steps_of(position - ends));
    put(log_of(std::max(position - ends + 1, 0.0)));
    put(ratio_of(running_[static_cast<size_t>(ends_)].chars - running_[static_cast<size_t>(begins_)].chars, total) * 4);
    put(anchor_ < 0 ? 0 : steps_of(position - anchor));
    put(anchor_ < 0 ? -1 : position >= anchor);
    put(page_.told[b] * 4.0);
    put(log_of(told_));
    for (size_t level = 0; level < kNoiseLevels; ++level) {
      const size_t at = above(level, b);
      put(votes_[at] / most_votes_ * 2);
      put(first_[at] <= begins_ && last_[at] >= ends_ ? 2 : 0);
      put(first_[at] <= anchor_ && last_[at] > anchor_ ? 2 : 0);
      put(ratio_of(std::max(votes_[at], 1.0), std::max(within(at).chars, 1.0)) * 2);
    }
  }

  void write_above(size_t at, double position, double total) {
    const NoiseSums inner = within(at);
    const double many = last_[at] - first_[at];
    put(log_of(inner.chars) / 2);
    put(ratio_of(inner.chars, total) * 4);
    put(ratio_of(inner.linked, inner.chars) * 4);
    put(ratio_of(inner.stops, inner.words) * 6);
    put(log_of(ratio_of(inner.words, many)));
    put(log_of(many) / 2);
    put(std::min(ratio_of(inner.ends * 16, inner.chars), 4.0));
    put(ratio_of(inner.repeated, many) * 4);
    put(ratio_of(inner.headings, many) * 4);
    put(ratio_of(position - first_[at], many) * 2);
    put(page_.depth[at] / 8.0);
  }

  void put(double value) { *next_++ = value; }

  // Clip values to -8 to 8 and round them to multiples of 1 / 64, half to even. std::rint would take five times as
  // long.
  static void round(double* begin, const double* end) {
    constexpr double kRound = 0x1.8p52;
    for (double* value = begin; value != end; ++value) {
      const double least = *value < -8 ? -8 : *value, clipped = least > 8 ? 8 : least;
      *value = std::copysign(clipped * 64 + kRound - kRound, *value) / 64;
    }
  }

  int64_t parent(int64_t e) const { return std::max(page_.parent[static_cast<size_t>(e)], 0); }
  size_t above(size_t level, size_t b) const { return static_cast<size_t>(out_.above[level * blocks_ + b]); }
  double repeats(size_t b) const { return copies_[static_cast<size_t>(out_.copy[b])]; }
  NoiseSums within(size_t e) const {
    return running_[static_cast<size_t>(last_[e])] - running_[static_cast<size_t>(first_[e])];
  }

  const NoiseBlocks& page_;
  NoiseColumns& out_;
  const size_t blocks_, elements_;
  std::vector<std::array<int32_t, kSortCount + 1>> sorts_;
  std::vector<int32_t> copies_, first_, last_, members_;
  std::vector<double> in_title_, votes_;
  std::vector<NoiseSums> running_, alike_;
  int64_t first_heading_ = -1, anchor_ = -1;
  int32_t begins_ = 0, ends_ = 0;
  double most_votes_ = 1, told_ = 0, last_heading_ = -1;
  double* next_ = nullptr;  // of a row of features
};

}  // namespace

NoiseColumns noise_columns(const NoiseBlocks& page) {
  NoiseColumns out;
  if (!page.start.empty()) ColumnWriter(page, out).run();
  return out;
}

}  // namespace pychunk
