// The look-up of terms in a sorted list.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Return the position of each wanted term in `sorted`, or -1 if it is not there. `sorted` rises by bytes, which for
// UTF-8 is the order of code points.
std::vector<int64_t> places_of(const Texts& sorted, const std::vector<std::string>& wanted);

}  // namespace pychunk
