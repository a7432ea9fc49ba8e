// What must not be cut apart where parsers saw blocks: a heading from what it heads, a term from its definition, a list
// from the line that introduces it, the rows of a table and the lines of code from each other, a caption from its
// table, an answer from its question.
#pragma once
#include <cstdint>
#include <vector>

#include "document/cohesion.h"

namespace pychunk {

class Document;

// Of a sentence, kept or not, the level of the heading that it is, 0: none.
uint8_t block_level(const Document& document, int64_t s);

// Of each sentence that is kept the level of the heading that it is, 0: none.
void block_levels(const Document& document, std::vector<uint8_t>& levels);

// Sets ties at borders of blocks, and in blocks that stay whole, and how strong the borders of lines of code are;
// find_ties() set the others.
void tie_blocks(const Document& document, Borders& borders);

// How many rows of heads the table has that begins with a sentence, one or two.
int64_t table_heads(const Document& document, int64_t first);

// Whether a line of code is ``` or ~~~, which may say the language.
bool opens_fence(const Document& document, int64_t s);

}  // namespace pychunk
