// Chunks by headings, and the tree that they form. Each section consists of units, which are sentences that belong
// together. Units are packed into chunks up to a size.
#pragma once

namespace pychunk {

struct Plan;
class Document;
struct Grouping;

void group_by_structure(const Plan& plan, Document& document, Grouping& out);

}  // namespace pychunk
