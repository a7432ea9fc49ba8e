// Hashes of rows of a table that grow by one column at a time.
#pragma once
#include "common/hash.h"
#include "common/view.h"

namespace pychunk {

// Sets out[row] to the hash of states[row] and of the text of the row.
void extend_row_hashes(const Texts& texts, const Hash128* states, Hash128* out, int threads);

}  // namespace pychunk
