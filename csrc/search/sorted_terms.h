// Where terms stand among sorted ones.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/view.h"

namespace pychunk {

// Of each wanted term its place among `sorted`, which rise by their bytes (of UTF-8: by code points); -1: not there.
std::vector<int64_t> places_of(const Texts& sorted, const std::vector<std::string>& wanted);

}  // namespace pychunk
