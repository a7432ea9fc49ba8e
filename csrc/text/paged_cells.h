// A builder of tables that map each code point to a number. Most numbers are 0 or equal over long ranges, so equal
// pages of 256 code points are stored once. A flat table of all code points takes 4 MB, and took 3 ms to clear and
// compare.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pychunk {

class PagedCells {
 public:
  static constexpr uint32_t kPoints = 0x110000, kPage = 256;

  PagedCells() : place_(kPoints / kPage), pages_(1), shared_{true} { uniform_[0] = 0; }

  void set(uint32_t c, uint32_t value) { own(c / kPage)[c % kPage] = value; }

  // Sets all code points in [first, last] to one value.
  void fill(uint32_t first, uint32_t last, uint32_t value) {
    for (uint32_t c = first; c <= last;) {
      if (c % kPage == 0 && last - c >= kPage - 1) {
        place_[c / kPage] = uniform(value);
        c += kPage;
      } else {
        set(c++, value);
      }
    }
  }

  // Appends the number of each page, and the cells of the distinct pages end to end.
  void finish(std::vector<uint16_t>& numbers, std::vector<uint32_t>& cells) const {
    std::vector<int32_t> number_of(pages_.size(), -1);
    std::unordered_map<std::string_view, uint16_t> known;
    for (const uint32_t place : place_) {
      if (number_of[place] < 0) {
        const Page& page = pages_[place];
        const std::string_view bytes(reinterpret_cast<const char*>(page.data()), sizeof page);
        const auto [found, is_new] = known.try_emplace(bytes, static_cast<uint16_t>(known.size()));
        if (is_new) cells.insert(cells.end(), page.begin(), page.end());
        number_of[place] = found->second;
      }
      numbers.push_back(static_cast<uint16_t>(number_of[place]));
    }
  }

 private:
  using Page = std::array<uint32_t, kPage>;

  // Returns a page filled with one value, which many code points share.
  uint32_t uniform(uint32_t value) {
    const auto [found, is_new] = uniform_.try_emplace(value, static_cast<uint32_t>(pages_.size()));
    if (is_new) {
      pages_.emplace_back().fill(value);
      shared_.push_back(true);
    }
    return found->second;
  }

  Page& own(uint32_t page) {
    if (shared_[place_[page]]) {
      const Page copy = pages_[place_[page]];
      place_[page] = static_cast<uint32_t>(pages_.size());
      pages_.push_back(copy);
      shared_.push_back(false);
    }
    return pages_[place_[page]];
  }

  std::vector<uint32_t> place_;  // the index in pages_ of each page
  std::vector<Page> pages_;      // the first one is all zeros
  std::vector<bool> shared_;
  std::map<uint32_t, uint32_t> uniform_;
};

}  // namespace pychunk
