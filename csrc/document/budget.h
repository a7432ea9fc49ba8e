// From a method's cuts to chunks that fit: groups of sentences, joined up to min_tokens, cut down to
// max_tokens, begun earlier by `overlap`.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/options.h"
#include "document/cohesion.h"
#include "document/run_lengths.h"

namespace pychunk {

// Lengths of runs of sentences in one unit: sentences [i, j) measure high[j - 1] - low[i].
// Tokens and words: low = sums before a sentence, high = sums through it. Characters: low = where a sentence
// begins, high = where it ends without its trailing white space. Tokens are those of the run's own text, also where a
// word lies across a border.
struct Lengths {
  std::vector<int64_t> low, high;
  const SharedWords* shared = nullptr;  // of tokens, where the sums are not enough
  int64_t operator()(int64_t i, int64_t j) const {
    const int64_t sum = high[j - 1] - low[i];
    return shared == nullptr ? sum : sum + shared->correction(i, j);
  }

  // Of tokens whose sums are only near: counts the run's own text.
  std::function<int64_t(int64_t, int64_t)> recount;
  // Whether sentences [i, j) measure at most `limit`; counted where the sum does not decide, which a border between two
  // sentences moves by some two tokens.
  bool within(int64_t i, int64_t j, int64_t limit) const {
    const int64_t sum = (*this)(i, j), doubt = recount ? 2 * (j - i) + 8 : 0;
    if (sum + doubt <= limit || sum - doubt > limit || !recount) return sum <= limit;
    return recount(i, j) <= limit;
  }
};

// One limit on a run of sentences; limit <= 0 allows everything.
struct Limit {
  const Lengths* lengths = nullptr;
  int64_t limit = 0;
  bool allows(int64_t i, int64_t j) const { return limit <= 0 || lengths->within(i, j, limit); }
};

// Sentences [first, last); those from `overlap_first` to `first` are repeated from the group before, or if there are
// none, the end of the sentence before from byte `tail` on.
struct Group {
  int32_t first, last, overlap_first;
  int64_t tail = -1;
};

// How much neighbouring sentences belong together (adjacent cosines, probabilities), or empty where there are no
// vectors; called only where a choice hangs on it.
using Affinities = std::function<std::span<const float>()>;

// Whether parts [i, j) are too short to be a chunk.
using IsShort = std::function<bool(int64_t, int64_t)>;

// How a run of parts is filled up to a size.
struct Filling {
  const Borders* borders = nullptr;  // null, or unknown ones: all alike
  bool by_structure = false;         // the strongest border of the second half of what fits, in place of the last
  bool even = false;                 // as many groups, of which the longest is as short as can be
  bool sections = true;              // a section begins a run; else its border is only stronger than any inside one
  int64_t least = 0;                 // of what groups are even to: the longest run that is tied
  IsShort is_scrap = nullptr;        // for what would be left over: no scrap, if it can be
  // What a tail of the part before a border measures, which is repeated if no whole part can be.
  std::function<int64_t(int64_t)> tail = nullptr;
  bool knows_borders() const { return borders != nullptr && borders->known(); }
};

// Greedy runs of the parts [first, last) up to `size`, each begun with as many whole ones from the end of the run
// before as fit into `overlap` and leave room for the next one, but not all of that run, or with a tail. A part that is
// too long stands alone. Of known borders those that are tied stay whole, unless nothing else fits, and a section
// begins a run.
void fill_groups(int64_t first, int64_t last, const Limit& size, int64_t overlap, const Filling& filling,
                 std::vector<Group>& groups);

// What sections are to cuts that settle_on_atoms() moves.
enum class Sections : uint8_t { kIgnored, kNamed, kCut };

// Moves the cuts before sentences (kEnd: none) off borders that are tied, to the nearest one on the side that the tie
// says, and adds one at each wall. kNamed: a cut by size before a section has its heading as a reason. kCut: so has one
// that is added before each section.
void settle_on_atoms(const Borders& borders, Sections sections, std::vector<CutReason>& cuts);

// Which groups join_short() joins.
struct Joining {
  IsShort is_short;
  const Borders* borders = nullptr;  // null, or unknown ones: all alike
  bool across_sections = false;      // where nothing else is left
  bool knows_borders() const { return borders != nullptr && borders->known(); }
};

// While a group is short it joins, from the left, across the border with the higher adjacent cosine
// (without vectors: the weaker one; on a tie: to the group before it), unless the two together break a limit; then the
// other side. Afterwards no group is too short beside one that it may join.
void join_short(std::vector<Group>& groups, const Joining& joining, std::span<const Limit> limits,
                const Affinities& affinities);

// Cuts groups that break `limit` at the border with the lowest adjacent cosine, the earliest on a tie, until every part
// fits or is one sentence; without vectors, or where all that is left is tied, as fill_groups() does.
void cut_long(std::vector<Group>& groups, const Limit& limit, const Affinities& affinities, const Filling& filling);

// The byte from which a group repeats the end of the sentence before it; -1: it repeats nothing.
using TailOf = std::function<int64_t(const Group&)>;

// overlap_first of every group but the first: as many whole sentences from the end of the group before as
// measure at most `overlap` and keep the group within the limits, but not all of that group. If there are none, a tail.
// pieces[s] != 0: s is no sentence but a piece of one that is too long; nothing is repeated before or after it, either,
// nor what is before a wall.
void add_overlap(std::vector<Group>& groups, const Lengths& lengths, int64_t overlap, std::span<const Limit> limits,
                 std::span<const uint8_t> pieces, const Borders* borders, const TailOf& tail);

}  // namespace pychunk
