// Blocks inside elements that are named for what they hold: pychunk/_engine/reference/parsing/noise_names.py has the
// same in NumPy.
#pragma once
#include <cstdint>
#include <span>

#include "common/view.h"

namespace pychunk {

// Of b blocks and e elements of one page; see HtmlFacts.
struct NamedElements {
  Ragged<uint32_t> names;  // of each element
  std::span<const int32_t> last, element, text_chars;
};

// What names mean: reasons[i] of the name of hash known[i], which rise.
struct NameReasons {
  std::span<const uint32_t> known;
  std::span<const int64_t> reasons;
};

// Puts into `why` of each block the reason of the innermost element around it that is named for one and holds at most
// half of the page's text; of several names of one element the least reason.
void put_reasons(const NamedElements& page, const NameReasons& named, std::span<int64_t> why);

}  // namespace pychunk
