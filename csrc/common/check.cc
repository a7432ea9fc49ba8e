#include "common/check.h"

#include <stdexcept>

namespace pychunk {

void fail_with(std::initializer_list<Part> parts) {
  std::string message;
  for (const Part& part : parts) message += part.string();
  throw std::invalid_argument(message);
}

}  // namespace pychunk
