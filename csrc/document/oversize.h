// One sentence that is longer than a budget, in pieces that are not.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

class WordPiece;

// Cuts text [begin, end), which is longer than `limit`, into consecutive pieces that are not: at word borders
// where a word fits, else at character borders; a single character is never cut. Appends where pieces begin.
void split_oversize(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit,
                    const WordPiece* tokenizer, std::vector<int64_t>& starts);

}  // namespace pychunk
