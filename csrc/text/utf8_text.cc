#include "text/utf8_text.h"

#include "common/dispatch.h"

namespace pychunk {

int64_t count_characters(std::string_view text) { return kernels().count_characters(as_bytes(text), text.size()); }

}  // namespace pychunk
