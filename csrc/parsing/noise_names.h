// The blocks inside elements whose names give a reason for removal. pychunk/_engine/reference/parsing/noise_names.py
// does the same in NumPy.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"

namespace pychunk {

// The b blocks and e elements of one page; see HtmlFacts.
struct NamedElements {
  Ragged<uint32_t> names;  // of each element
  std::span<const int32_t> last, element, text_chars;
};

// The meanings of names: reasons[i] is the reason that the name with the hash known[i] gives. The hashes increase.
struct NameReasons {
  std::span<const uint32_t> known;
  std::span<const int64_t> reasons;
};

// Write to `why`, for each block, the reason of the innermost named element around it that holds at most half of the
// page's text. If an element has several names, the lowest reason counts.
void put_reasons(const NamedElements& page, const NameReasons& named, std::span<int64_t> why);

}  // namespace pychunk
