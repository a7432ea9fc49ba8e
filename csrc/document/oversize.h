// Splitting of one sentence that is longer than a budget into pieces that fit.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/options.h"

namespace pychunk {

class WordPiece;

// Cut text [begin, end), which is longer than `limit`, into consecutive pieces of at most `limit`, and append the
// starts of the pieces. Cuts are at word boundaries if a word fits, or else at character boundaries. A single character
// is never cut.
void split_oversize(std::string_view text, int64_t begin, int64_t end, Unit unit, int64_t limit,
                    const WordPiece* tokenizer, std::vector<int64_t>& starts);

}  // namespace pychunk
