// The integer columns of the chunk table. This is the only place that declares the name of each, the condition under
// which the table has it, and its value.
#pragma once
#include <cstdint>

namespace pychunk {

// The list of X(name, whether the table has it, value). Both expressions may use `in`, the Inputs. The value may also
// use `row`, the RowWriter at the row's chunk (chunk_rows.cc). The columns of the outline are set once all chunks of a
// document are known (outline.cc).
#define PYCHUNK_WHOLE_COLUMNS(X)                               \
  X(start, true, row.characters(row.inside.begin))             \
  X(end, true, row.characters(row.inside.end))                 \
  X(start_byte, true, row.inside.begin)                        \
  X(end_byte, true, row.inside.end)                            \
  X(line, true, row.line(row.inside.begin))                    \
  X(end_line, true, row.line(row.inside.end - 1))              \
  X(tokens, in.counts_tokens(), row.tokens())                  \
  X(overlap, true, row.overlap())                              \
  X(page, in.counts_pages(), row.page(row.inside.begin))       \
  X(page_end, in.counts_pages(), row.page(row.inside.end - 1)) \
  X(parent, in.outlines(), -1)                                 \
  X(depth, in.outlines(), 0)                                   \
  X(subtree, in.outlines(), 1)                                 \
  X(part, in.outlines(), 1)                                    \
  X(parts, in.outlines(), 1)

}  // namespace pychunk
