// The step from a method's cuts to chunks that fit. Groups of sentences are joined up to `min_tokens`, cut down to
// `max_tokens`, and extended backwards by `overlap`.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/options.h"
#include "document/cohesion.h"
#include "document/run_lengths.h"

namespace pychunk {

// The lengths of runs of sentences in one unit. Sentences [i, j) have the length high[j - 1] - low[i]. For tokens and
// words, `low` holds the sums before a sentence and `high` the sums through it. For characters, `low` holds the start
// of a sentence and `high` its end without trailing white space. A run has the number of tokens that its text has when
// it is encoded alone, even if a word crosses the boundary of the run.
struct Lengths {
  std::vector<int64_t> low, high;
  const SharedWords* shared = nullptr;  // corrects the sums of tokens; null if they are exact
  int64_t operator()(int64_t i, int64_t j) const {
    const int64_t sum = high[j - 1] - low[i];
    return shared == nullptr ? sum : sum + shared->correction(i, j);
  }

  // A function that counts the tokens of a run's text. It is set only if the sums of tokens are approximate.
  std::function<int64_t(int64_t, int64_t)> recount;
  // Return whether sentences [i, j) measure at most `limit`. recount() is called only if the sum is too close to the
  // limit to decide: the count may differ from the sum by about two tokens for each boundary between two sentences.
  bool within(int64_t i, int64_t j, int64_t limit) const {
    const int64_t sum = (*this)(i, j), doubt = recount ? 2 * (j - i) + 8 : 0;
    if (sum + doubt <= limit || sum - doubt > limit || !recount) return sum <= limit;
    return recount(i, j) <= limit;
  }
};

// A limit on a run of sentences. `limit` <= 0 allows everything.
struct Limit {
  const Lengths* lengths = nullptr;
  int64_t limit = 0;
  bool allows(int64_t i, int64_t j) const { return limit <= 0 || lengths->within(i, j, limit); }
};

// The parts [first, last), preceded by the parts [overlap_first, first), which repeat the end of the previous group. If
// there are no such parts, the group may instead repeat the end of the previous sentence, from byte `tail` on.
struct Group {
  int32_t first, last, overlap_first;
  int64_t tail = -1;
};

// A function that returns how closely neighbouring sentences belong together (adjacent cosines or probabilities), or
// nothing if there are no vectors. It is called only if a choice depends on it.
using Affinities = std::function<std::span<const float>()>;

// A function that returns whether parts [i, j) are too short to be a chunk.
using IsShort = std::function<bool(int64_t, int64_t)>;

// The options for filling a run of parts up to a size.
struct Filling {
  const Borders* borders = nullptr;  // null or unknown: all boundaries are alike
  bool by_structure = false;   // cut at the strongest boundary that leaves a group full enough, instead of the last one
  int64_t full = 2;            // with `by_structure`: a group is full enough with this fraction of the size (1 / full)
  bool even = false;           // make as many groups as without it, but the longest as short as possible
  bool sections = true;        // a section begins a run; if false, its boundary is only stronger than any inside it
  int64_t least = 0;           // even groups may be this long: the longest run of spans kept together
  IsShort is_scrap = nullptr;  // whether a remainder would be a short chunk, which is avoided if possible
  // A function that returns the length of the tail of the part before a boundary. The tail is repeated if no whole part
  // can be.
  std::function<int64_t(int64_t)> tail = nullptr;
  bool knows_borders() const { return borders != nullptr && borders->known(); }
};

// Fill greedy runs of the parts [first, last) up to `size`. Each run first repeats whole parts from the end of the
// previous run, as many as fit into `overlap` and leave room for the next part. It never repeats the whole previous
// run. If no whole part fits, it repeats a tail. A part that is too long becomes a run by itself. If boundaries are
// known, a section begins a run, and spans kept together stay whole if they fit into one.
void fill_groups(int64_t first, int64_t last, const Limit& size, int64_t overlap, const Filling& filling,
                 std::vector<Group>& groups);

// The effect of the beginnings of sections on cuts; see move_cuts().
enum class Sections : uint8_t { kIgnored, kNamed, kCut };

// Move each cut inside spans kept together to the nearest open boundary. The cut moves backwards from a kLead boundary,
// and forwards from a kTrail boundary. Add a cut at each wall. cuts[s] is the reason for the cut before part s, kEnd if
// there is none. With kNamed and kCut, a cut by size before a section gets the reason kHeading. With kCut, a cut with
// this reason is also added before each section that has none.
void move_cuts(const Borders& borders, Sections sections, std::vector<CutReason>& cuts);

// The rules by which join_short() joins groups.
struct Joining {
  IsShort is_short;
  const Borders* borders = nullptr;  // null or unknown: all boundaries are alike
  bool across_sections = false;      // also join across sections if nothing else is left
  bool knows_borders() const { return borders != nullptr && borders->known(); }
};

// Join short groups to a neighbour, from left to right. A short group joins the neighbour across the boundary with the
// higher adjacent cosine or, without vectors, across the weaker boundary. If both boundaries are equal, it joins the
// group before it. If the two groups together exceed a limit, it tries the neighbour on the other side. Afterwards no
// short group has a neighbour that it may join.
void join_short(std::vector<Group>& groups, const Joining& joining, std::span<const Limit> limits,
                const Affinities& affinities);

// Cut groups that exceed `limit` at the boundary with the lowest adjacent cosine, the earliest of equal ones, until
// every part fits or is one sentence. Without vectors, or if only spans kept together remain, cut as fill_groups()
// does.
void cut_long(std::vector<Group>& groups, const Limit& limit, const Affinities& affinities, const Filling& filling);

// A function that returns the byte from which a group repeats the end of the sentence before it, or -1 for none.
using TailOf = std::function<int64_t(const Group&)>;

// Set `overlap_first` of every group but the first. A group repeats whole sentences from the end of the previous group:
// as many as measure at most `overlap` together and leave the group within the limits. It never repeats the whole
// previous group. If no whole sentence fits, it repeats a tail. If pieces[s] != 0, s is not a whole sentence but a
// piece of a sentence that is too long. Nothing is repeated before or after a piece, or across a wall.
void add_overlap(std::vector<Group>& groups, const Lengths& lengths, int64_t overlap, std::span<const Limit> limits,
                 std::span<const uint8_t> pieces, const Borders* borders, const TailOf& tail);

}  // namespace pychunk
