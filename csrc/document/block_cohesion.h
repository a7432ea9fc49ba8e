// The spans that are kept together in documents whose blocks are known. A heading stays with the text below it, a term
// with its definition, and a list with the line that introduces it. The rows of a table, and the lines of code, stay
// together. A caption stays with its table, an answer with its question, and code of a heading's level with this
// heading.
#pragma once
#include <cstdint>
#include <vector>

#include "document/cohesion.h"

namespace pychunk {

class Document;

// Return whether a sentence is in code with a level that is directly before a heading, as the comments and decorators
// above a definition are. The section of this heading begins with the code.
bool introduces_heading(const Document& document, int64_t s);

// Return the heading level of a sentence, also if the sentence is removed, or 0 if it is no heading.
uint8_t block_level(const Document& document, int64_t s);

// Write the heading level of each sentence to `levels`: 0 for sentences that are no headings or are removed.
void block_levels(const Document& document, std::vector<uint8_t>& levels);

// Set the cohesion at the boundaries of blocks and inside blocks that stay whole, and the strength of the boundaries
// between lines of code. find_cohesion() must be called before: it sets the cohesion elsewhere.
void find_block_cohesion(const Document& document, Borders& borders);

// Return the number of header rows, one or two, of the table that begins with a sentence.
int64_t table_heads(const Document& document, int64_t first);

// Return whether a line of code is ``` or ~~~, which may be followed by the name of the language.
bool opens_fence(const Document& document, int64_t s);

}  // namespace pychunk
