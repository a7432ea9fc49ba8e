#include "segment/chunker.h"

#include <algorithm>
#include <limits>

#include "common/buffer.h"
#include "common/interrupt.h"
#include "document/oversize.h"
#include "text/graphemes.h"
#include "text/recursive.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

class Chunker {
 public:
  Chunker(const Inputs& inputs, Document& document, Chunking& out)
      : inputs_(inputs), plan_(*inputs.plan), document_(document), out_(out), limits_(document.limits()) {}

  void run() {
    if (plan_.cuts_text() && !inputs_.cuts.given()) {
      split_by_separators();
    } else {
      group();
    }
    if (inputs_.counts_tokens() && inputs_.counter != nullptr) refit();
    if (inputs_.outlines() && (inputs_.cuts.given() || !plan_.method->outline)) {
      OutlineBorders unused;
      find_outline(document_, out_.grouping.outline, unused);
    }
  }

 private:
  std::string_view piece(int64_t begin, int64_t end) const {
    return document_.text().substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  // Return whether the method fills groups of sentences up to a size of its own, whatever sections they belong to.
  bool bounds_groups() const { return plan_.method->sized && plan_.size > 0 && !plan_.cuts_text(); }
  Sections sections() const {
    if (plan_.min_characters == 0) return Sections::kIgnored;
    return bounds_groups() ? Sections::kNamed : Sections::kCut;
  }
  // Return whether groups depend on the kinds of the boundaries between sentences. If not, all boundaries are alike.
  bool heeds_borders() const { return plan_.keep_together || plan_.method->outline || document_.has_walls(); }
  void split_by_separators();

  void group() {
    group_sentences(inputs_, document_, out_.grouping);
    out_.begins.assign(static_cast<size_t>(document_.sentences()), CutReason::kEnd);
    for (size_t g = 0; g < out_.grouping.groups.size(); ++g) {
      const auto& reasons = out_.grouping.reasons;
      out_.begins[static_cast<size_t>(out_.grouping.groups[g].first)] =
          reasons.empty() ? plan_.method->reason : reasons[g];
    }
    std::vector<Group>& groups = out_.grouping.groups;
    if (heeds_borders() && !plan_.method->outline) {
      move_cuts(document_.borders(), sections(), out_.begins);
      groups_of_begins();
    }
    out_.parts.of_sentences(document_);
    has_affinities_ = false, out_.borders.clear();
    const Affinities affinities = [this] { return affinities_of_parts(); };
    const auto fit = [&](bool join_only) {
      const std::vector<Limit> limits = limits_of_parts();
      if (limits_.least > 0) join_short(groups, {is_under_least(), borders(), bounds_groups()}, limits, affinities);
      const size_t joined = groups.size();
      if (!join_only)
        for (const Limit& limit : limits)
          cut_long(groups, limit, affinities,
                   {.borders = borders(), .by_structure = true, .sections = !bounds_groups()});
      return groups.size() > joined;
    };
    const bool cut = fit(false);
    const bool split = split_long_sentences();
    if (limits_.least > 0 && (cut || split)) fit(true);  // join the groups that cutting left too short
    if (plan_.min_characters > 0 && groups.size() > 1)
      join_short(groups, {short_of_characters(), borders(), true}, limits_of_parts(), affinities);
    if (plan_.overlap > 0) {
      const Unit unit = bounds_groups() || !plan_.method->sized ? plan_.unit : Unit::kTokens;
      add_overlap(groups, lengths(unit), plan_.overlap, limits_of_parts(), out_.parts.pieces, borders(),
                  [&](const Group& g) { return tail_before(g, unit); });
      if (inputs_.counter != nullptr && unit == Unit::kTokens) {
        for (Group& g : groups) shorten_overlap(g);
      }
    }
    const bool counted =
        inputs_.counts_tokens() && inputs_.counter == nullptr;  // refit() may change the text of a chunk
    for (const Group& g : groups) {
      if (document_.is_removed(out_.parts.sentence(g.first))) continue;
      const bool has_tail = g.tail >= 0;
      const int64_t begin = has_tail ? g.tail : out_.parts.begin(g.overlap_first), end = out_.parts.begin(g.last);
      const int64_t tokens = !counted   ? 0
                             : has_tail ? length_of(begin, end, Unit::kTokens)
                                        : lengths(Unit::kTokens)(g.overlap_first, g.last);
      out_.spans.push_back({begin, end, out_.parts.sentence(g.overlap_first - (has_tail ? 1 : 0)),
                            out_.parts.sentence(g.last - 1) + 1, out_.parts.sentence(g.first), tokens});
    }
  }

  int64_t length_of(int64_t begin, int64_t end, Unit unit) {
    const Trimmed inside = trim(document_.text(), begin, end);
    return document_.length(piece(inside.begin, inside.end), unit);
  }

  // Remove sentences from a group's overlap until their text fits. With some tokenizers, it has more tokens than its
  // sentences have one by one.
  void shorten_overlap(Group& g) {
    if (g.tail >= 0) return;
    const auto tokens = [&] {
      return length_of(out_.parts.begin(g.overlap_first), out_.parts.begin(g.first), Unit::kTokens);
    };
    while (g.overlap_first < g.first && tokens() > plan_.overlap) ++g.overlap_first;
  }

  // Return the byte at which the tail begins that a group repeats from the previous sentence, or -1 if it repeats none.
  // The tail is at most as long as the overlap, and short enough for the group to stay within the limits.
  int64_t tail_before(const Group& g, Unit unit) {
    const int64_t sentence = out_.parts.sentence(g.first - 1);
    const int64_t begin = out_.parts.begin(g.first), end = out_.parts.begin(g.last);
    const auto room = [&](int64_t most, Unit of, int64_t limit) {
      if (limit <= 0) return most;
      return of == unit ? std::min(most, limit - length_of(begin, end, of)) : most;
    };
    const int64_t size = bounds_groups() ? plan_.size : 0;
    const int64_t most = room(room(plan_.overlap, plan_.unit, size), limits_.unit, limits_.most);
    if (most <= 0) return -1;
    const int64_t tail = document_.tail(sentence, unit, most).begin;
    const auto fits = [&](Unit of, int64_t limit) { return limit <= 0 || length_of(tail, end, of) <= limit; };
    return tail >= 0 && fits(plan_.unit, size) && fits(limits_.unit, limits_.most) ? tail : -1;
  }

  // Rebuild the groups from the sentences at which out_.begins starts one.
  void groups_of_begins() {
    std::vector<Group>& groups = out_.grouping.groups;
    groups.clear();
    for (int32_t s = 0; s < static_cast<int32_t>(out_.begins.size()); ++s) {
      if (s == 0 || out_.begins[static_cast<size_t>(s)] != CutReason::kEnd) groups.push_back({s, s, s});
      groups.back().last = s + 1;
    }
  }

  IsShort is_under_least() {
    return [least = limits_.least, &of = lengths(limits_.unit)](int64_t i, int64_t j) { return of(i, j) < least; };
  }
  IsShort short_of_characters() {
    return [this](int64_t i, int64_t j) {
      return document_.is_shorter(out_.parts.begin(i), out_.parts.begin(j), plan_.min_characters);
    };
  }

  // Return the boundaries of the parts, or null if the plan does not take them into account.
  const Borders* borders() {
    if (!heeds_borders()) return nullptr;
    const Borders& own = document_.borders();
    if (out_.parts.starts.empty()) return &own;
    if (out_.borders.known()) return &out_.borders;
    int64_t before = -1;
    for (const int32_t s : out_.parts.sentences) {
      const bool inside = s == before;
      out_.borders.cohesion.push_back(inside ? Cohesion::kOpen : own.cohesion[static_cast<size_t>(s)]);
      out_.borders.breaks.push_back(inside ? Break::kPiece : own.breaks[static_cast<size_t>(s)]);
      before = s;
    }
    return &out_.borders;
  }

  const Lengths& lengths(Unit unit) {
    const auto u = static_cast<size_t>(unit);
    if (out_.parts.starts.empty()) return document_.lengths(unit);
    if (out_.has_lengths[u]) return out_.lengths[u];
    out_.has_lengths[u] = true;
    out_.counts.clear();
    if (unit == Unit::kTokens)
      for (size_t p = 0; p < out_.parts.starts.size(); ++p) {
        const auto at = static_cast<int64_t>(p);
        out_.counts.push_back(out_.parts.pieces[p]
                                  ? document_.count_tokens(piece(out_.parts.begin(at), out_.parts.begin(at + 1)))
                                  : document_.token_counts()[static_cast<size_t>(out_.parts.sentence(at))]);
      }
    document_.measure_parts(unit, out_.parts.starts, out_.counts, out_.shared_words, out_.lengths[u]);
    return out_.lengths[u];
  }

  // Return the limits of a chunk: the method's own size and max_tokens.
  std::vector<Limit> limits_of_parts() {
    std::vector<Limit> found;
    if (bounds_groups()) found.push_back({&lengths(plan_.unit), plan_.size});
    if (limits_.most > 0) found.push_back({&lengths(limits_.unit), limits_.most});
    return found;
  }

  // Return the affinities of the parts. Pieces of one sentence, and sentences kept together, have a higher affinity
  // than any other two parts.
  std::span<const float> affinities_of_parts() {
    const std::span<const float> own = document_.affinities();
    if ((out_.parts.starts.empty() && !heeds_borders()) || own.empty()) return own;
    if (has_affinities_) return out_.affinities;
    has_affinities_ = true;
    out_.affinities.clear();
    const Borders* known = borders();
    const auto parts = static_cast<int64_t>(out_.parts.starts.empty() ? own.size() + 1 : out_.parts.starts.size());
    for (int64_t p = 1; p < parts; ++p) {
      const int64_t before = out_.parts.sentence(p - 1);
      const bool tied =
          out_.parts.sentence(p) == before || (known != nullptr && is_closed(known->cohesion[static_cast<size_t>(p)]));
      out_.affinities.push_back(tied ? std::numeric_limits<float>::infinity() : own[static_cast<size_t>(before)]);
    }
    return out_.affinities;
  }

  // Split groups of one sentence that exceed a limit into groups of one piece each. A sentence that exceeds the limit
  // only together with the text that leads to it, such as a heading, is halved. Return false if there is nothing to
  // split.
  bool split_long_sentences() {
    std::vector<Group>& groups = out_.grouping.groups;
    const std::vector<Limit> limits = limits_of_parts();
    const auto fits = [&](const Group& g) {
      return g.last - g.first > 1 || std::all_of(limits.begin(), limits.end(),
                                                 [&](const Limit& limit) { return limit.allows(g.first, g.last); });
    };
    // Return whether the previous group consists of text that leads to this group, such as a heading, and should not
    // stay alone. The result is false for a table row that fits: it is not cut in order to stay with its header row. It
    // is also false for a definition of code that begins a chunk after the signature above it.
    const auto is_led = [&](const Group& g) {
      return g.first > 0 && heeds_borders() && out_.begins[static_cast<size_t>(g.first)] != CutReason::kHeading &&
             document_.borders().cohesion[static_cast<size_t>(g.first)] == Cohesion::kLead &&
             !(has_rows(document_.kind_of(g.first)) && fits(g));
    };
    if (std::all_of(groups.begin(), groups.end(), [&](const Group& g) { return fits(g) && !is_led(g); })) return false;
    std::fill(std::begin(out_.has_lengths), std::end(out_.has_lengths), false);
    std::vector<Group> finer;
    Parts parts;
    parts.of_sentences(document_);
    for (const Group& g : groups) {
      const bool whole = fits(g);
      const int64_t begin = document_.begin(g.first), end = document_.end(g.first);
      std::vector<int64_t> starts;  // of the pieces of the first sentence
      if (!whole) starts = pieces_of(begin, end);
      if (const int64_t lead = is_led(g) ? lead_of(g.first, finer, parts) : g.first; lead < g.first) {
        // The text that leads to the sentence stays with its first piece, which becomes shorter accordingly.
        std::vector<int64_t> led = pieces_of(document_.begin(lead), end);
        if (led.size() > 1 && led[1] > begin) {
          parts.add(begin, g.first, true);
          ++finer.back().last;
          starts.assign(led.begin() + 1, led.end());
          if (const int64_t middle = whole ? middle_of(document_.begin(lead), begin, led[1], end) : 0; middle > 0)
            starts.assign(1, middle);
        }
      }
      for (const int64_t start : starts) {
        const auto at = static_cast<int32_t>(parts.starts.size());
        parts.add(start, g.first, true);
        finer.push_back({at, at + 1, at});
      }
      if (starts.empty()) {
        const auto at = static_cast<int32_t>(parts.starts.size());
        parts.add(begin, g.first, false);
        finer.push_back({at, at + 1, at});
      }
      for (int32_t s = g.first + 1; s < g.last; ++s) parts.add(document_.begin(s), s, false);
      finer.back().last += g.last - g.first - 1;
    }
    groups = std::move(finer);
    out_.parts = std::move(parts);
    has_affinities_ = false, out_.borders.clear();
    return true;
  }

  // Return the best word in (begin, most] before which to cut [lead, end) in two. It is near the middle, and after a
  // mark that ends a clause if there is one within a quarter of the text. 0 means that there is no word.
  int64_t middle_of(int64_t lead, int64_t begin, int64_t most, int64_t end) const {
    const std::string_view text = document_.text();
    const int64_t characters = count_characters(piece(lead, end));
    int64_t best = 0, least = 0, passed = 0;
    bool after_space = false;
    char32_t before = 0;  // the last character that is not white space
    for (int64_t at = lead; at <= most && at < end; ++passed) {
      const Decoded c = decode_utf8(text, at);
      const bool space = is_space(c.code_point);
      if (at > begin && after_space && !space) {
        constexpr std::u32string_view kClauseEnds = U",;:，；：、)–—";
        const bool clause = kClauseEnds.find(before) != std::u32string_view::npos;
        const int64_t cost = std::abs(2 * passed - characters) + (clause ? 0 : characters / 2);
        if (best == 0 || cost < least) best = at, least = cost;
      }
      after_space = space;
      if (!space) before = c.code_point;
      at += c.length;
    }
    return best;
  }

  // Return the first sentence of the last group if that group consists of whole sentences that lead to sentence s, else
  // s.
  int64_t lead_of(int64_t s, const std::vector<Group>& groups, const Parts& parts) {
    if (!heeds_borders() || groups.empty()) return s;
    const std::vector<Cohesion>& cohesion = document_.borders().cohesion;
    const auto first = static_cast<size_t>(groups.back().first);
    if (parts.pieces[first] != 0) return s;
    const int64_t lead = parts.sentences[first];
    for (int64_t border = lead + 1; border <= s; ++border)
      if (cohesion[static_cast<size_t>(border)] != Cohesion::kLead) return s;
    return lead;
  }

  // Return the starts of the pieces of a text that exceeds a limit.
  std::vector<int64_t> pieces_of(int64_t begin, int64_t stop) {
    std::vector<int64_t> starts{begin};
    const auto refine = [&](Unit unit, int64_t limit) {
      std::vector<int64_t> finer;
      for (size_t p = 0; p < starts.size(); ++p) {
        const int64_t end = p + 1 < starts.size() ? starts[p + 1] : stop;
        const Trimmed inside = trim(document_.text(), starts[p], end);
        if (document_.length(piece(inside.begin, inside.end), unit) <= limit) {
          finer.push_back(starts[p]);
        } else if (unit == Unit::kTokens && inputs_.counter != nullptr) {
          cut_to(starts[p], end, [limit](int64_t) { return limit; }, finer);
        } else {
          split_oversize(document_.text(), starts[p], end, unit, limit, inputs_.tokenizer, finer);
        }
      }
      starts = std::move(finer);
    };
    int64_t size = bounds_groups() ? plan_.size : 0;
    // Pieces of `size` would be cut into pieces of the limit and a short rest.
    if (inputs_.counter != nullptr && plan_.unit == limits_.unit && limits_.most > 0 && limits_.most < size) size = 0;
    if (size > 0) refine(plan_.unit, size);
    if (limits_.most > 0) refine(limits_.unit, limits_.most);
    return starts;
  }

  // The kinds of places where a piece may end, the best first. kUnit is the end of a sentence that need not stay with
  // the next one.
  enum class CutPlace : uint8_t { kUnit, kSentence, kWord, kCharacter };

  // Cut spans that are still too long, because sums of a counter's tokens only approximate those of a chunk's text.
  void refit() {
    int64_t limit = limits_.unit == Unit::kTokens ? limits_.most : 0;
    if (plan_.method->sized && plan_.size > 0 && plan_.unit == Unit::kTokens)
      limit = limit > 0 ? std::min(limit, plan_.size) : plan_.size;
    if (limit <= 0) return;
    std::vector<Span> fitting;
    int64_t least = 0;  // no chunk begins before the previous one
    for (size_t i = 0; i < out_.spans.size(); ++i) {
      Span span = out_.spans[i];
      // Text that leads to the next sentence, as a heading does, is cut together with it.
      while (i + 1 < out_.spans.size() && leads(span, out_.spans[i + 1])) {
        span.end = out_.spans[++i].end;
        span.last = out_.spans[i].last;
      }
      span.begin = std::max(span.begin, least);
      const auto limit_at = [&](int64_t at) { return lower_limit(span.begin, at, span.end, limit); };
      if (fits(span.begin, span.end, limit_at(span.begin))) {
        fitting.push_back(span);
      } else {
        // A chunk that is cut repeats nothing.
        int64_t begin = span.first < span.own_first ? std::max(document_.begin(span.own_first), least) : span.begin;
        if (!fitting.empty()) begin = std::max(begin, std::min(fitting.back().end, span.end));
        if (trim(document_.text(), begin, span.end).empty()) continue;
        std::vector<int64_t> starts;
        cut_to(begin, span.end, limit_at, starts);
        for (size_t p = 0; p < starts.size(); ++p) {
          const int64_t end = p + 1 < starts.size() ? starts[p + 1] : span.end;
          const int64_t first = document_.sentence_at(starts[p]);
          fitting.push_back({starts[p], end, first, document_.sentence_at(end - 1) + 1, first, 0});
        }
      }
      least = fitting.back().begin;
    }
    out_.spans = std::move(fitting);
  }

  // Return the limit of a piece that begins at `at`, of a chunk [first, end).
  int64_t lower_limit(int64_t first, int64_t at, int64_t end, int64_t limit) const {
    const std::span<const int64_t> pairs = document_.lower_limits();
    if (pairs.empty()) return limit;
    const int64_t from = trim(document_.text(), first, end).begin, to = trim(document_.text(), at, end).begin;
    size_t low = 0, high = pairs.size() / 2;  // the pairs at `to` or before it
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (pairs[2 * middle] <= to) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 && pairs[2 * low - 2] >= from ? std::min(limit, pairs[2 * low - 1]) : limit;
  }

  // Return whether all sentences of a chunk lead to the next chunk, as headings do.
  bool leads(const Span& span, const Span& next) {
    if (!plan_.keep_together || span.first < span.own_first || next.first < next.own_first) return false;
    if (span.begin != document_.begin(span.first) || next.begin != document_.begin(next.first)) return false;
    const std::vector<Cohesion>& cohesion = document_.borders().cohesion;
    for (int64_t s = span.first + 1; s <= next.first; ++s)
      if (cohesion[static_cast<size_t>(s)] != Cohesion::kLead) return false;
    return true;
  }

  bool fits(int64_t begin, int64_t end, int64_t limit) {
    const Trimmed inside = trim(document_.text(), begin, end);
    return inside.empty() || document_.count_tokens(piece(inside.begin, inside.end)) <= limit ||
           next_character(inside.begin) >= inside.end;
  }
  int64_t next_character(int64_t at) const { return at + decode_utf8(document_.text(), at).length; }

  // Append the starts of pieces of [begin, end) that fit, each as long as possible. A piece ends with a sentence that
  // need not stay with the next one if possible, or else with any sentence, a word or a character. `limit_at` returns
  // the limit of a piece by its beginning.
  template <typename LimitAt>
  void cut_to(int64_t begin, int64_t end, LimitAt limit_at, std::vector<int64_t>& starts) {
    while (begin < end) {
      starts.push_back(begin);
      const int64_t limit = limit_at(begin);
      int64_t reach = begin;  // the search ends here, not far beyond what fits, so that the time is linear in the text
      for (int64_t window = 64 + 8 * std::min<int64_t>(limit, 1 << 20); reach < end; window *= 2) {
        reach = window < end - begin ? next_border(document_.text(), begin + window, end) : end;
        if (!fits(begin, reach, limit)) break;
        if (reach == end) return;
      }
      int64_t stop = 0;
      for (const CutPlace place : {CutPlace::kUnit, CutPlace::kSentence, CutPlace::kWord, CutPlace::kCharacter})
        if (stop == 0) stop = furthest(begin, limit, borders(place, begin, reach));
      begin = stop > 0 ? stop : next_character(begin);
    }
  }
  // Return the last boundary for which [begin, boundary) fits, or 0 if there is none. A binary search finds it: the
  // boundaries rise, and the counts of the text up to them nearly always rise, too.
  int64_t furthest(int64_t begin, int64_t limit, const std::vector<int64_t>& borders) {
    size_t low = 0, high = borders.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (fits(begin, borders[middle], limit)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low > 0 ? borders[low - 1] : 0;
  }
  // Return the places of one place inside [begin, end) at which a piece may end.
  std::vector<int64_t> borders(CutPlace place, int64_t begin, int64_t end) {
    std::vector<int64_t> found;
    if (place <= CutPlace::kSentence) {
      bool leads = plan_.keep_together;  // whether all text so far leads to s, as a heading does: such text must not
                                         // be a piece by itself
      for (int64_t s = document_.sentence_at(begin) + 1; s < document_.sentences() && document_.begin(s) < end; ++s) {
        const Cohesion cohesion =
            plan_.keep_together ? document_.borders().cohesion[static_cast<size_t>(s)] : Cohesion::kOpen;
        leads = leads && cohesion == Cohesion::kLead;
        if (!leads && (place == CutPlace::kSentence || !is_closed(cohesion))) found.push_back(document_.begin(s));
      }
      return found;
    }
    const std::string_view text = document_.text();
    bool after_space = false;
    for (int64_t at = begin; at < end; at = next_character(at)) {
      const bool space = space_length(text, at) > 0;
      if (at > begin && !space && (place == CutPlace::kCharacter ? cluster_border(text, begin, at) == at : after_space))
        found.push_back(at);
      after_space = space;
    }
    return found;
  }

  const Inputs& inputs_;
  const Plan& plan_;
  Document& document_;
  Chunking& out_;
  const LengthLimits limits_;
  bool has_affinities_ = false;  // whether the affinities of the parts are known
};

void Chunker::split_by_separators() {
  RecursiveSplitter splitter({plan_.size, plan_.overlap, plan_.unit, plan_.separators});
  RecursiveInput input{.buffer = document_.text(), .begin = 0, .end = 0};
  thread_local std::vector<int64_t> tokens;
  if (plan_.unit == Unit::kTokens) {
    if (inputs_.counter != nullptr) {
      document_.counted().starts(tokens);
      input.count = [this](int64_t begin, int64_t end) { return document_.count_tokens(piece(begin, end)); };
    } else {
      token_starts(*inputs_.tokenizer, document_.text(), tokens);
    }
    input.token_starts = tokens;
  }
  std::vector<Piece> pieces;
  for (int64_t s = 0; s < document_.sentences(); ++s) {  // stretches between removed spans, mostly the whole text
    if (document_.is_removed(s)) continue;
    input.begin = document_.begin(s);
    if (!document_.has_walls()) s = document_.sentences() - 1;
    while (s + 1 < document_.sentences() && !document_.is_removed(s + 1)) ++s;
    input.end = document_.end(s);
    splitter.split(input, pieces);
  }
  forget_if_huge(tokens);

  // Tokens are counted in the text that goes into the table, because a word that had to be cut has other tokens than
  // its pieces.
  int64_t limit = plan_.max_tokens;
  const bool to_characters =
      std::find(plan_.separators.begin(), plan_.separators.end(), std::string()) != plan_.separators.end();
  if (plan_.unit == Unit::kTokens && to_characters) limit = limit > 0 ? std::min(limit, plan_.size) : plan_.size;
  if (inputs_.counter != nullptr) limit = 0;  // refit() cuts by the counter's tokens
  const bool counted = inputs_.counts_tokens() && inputs_.counter == nullptr;
  const auto add = [&](int64_t begin, int64_t end) {
    const int64_t used = counted ? document_.count_tokens(piece(begin, end)) : 0;
    if (limit > 0 && used > limit) return false;
    const int64_t first = document_.sentence_at(begin);
    out_.spans.push_back({begin, end, first, document_.sentence_at(end - 1) + 1, first, used});
    return true;
  };
  std::vector<int64_t> starts;
  const auto cut = [&](int64_t begin, int64_t end) {
    starts.clear();
    split_oversize(document_.text(), begin, end, Unit::kTokens, limit, inputs_.tokenizer, starts);
    starts.push_back(end);
  };
  for (const Piece& p : pieces) {
    // If the previous piece was cut into several chunks, only the last of them may be repeated.
    int64_t begin = out_.spans.empty() ? p.start : std::max(p.start, out_.spans.back().begin);
    if (add(begin, p.end)) continue;
    cut(begin, p.end);
    const int64_t known = out_.spans.empty() ? 0 : out_.spans.back().end;
    if (trim(document_.text(), begin, starts[1]).end <= known) {  // nothing new fits next to the repeated text
      begin = trim(document_.text(), known, p.end).begin;
      if (begin >= p.end || add(begin, p.end)) continue;
      cut(begin, p.end);
    }
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const Trimmed part = trim(document_.text(), starts[i], starts[i + 1]);
      const int64_t first = document_.sentence_at(part.begin);
      out_.spans.push_back({part.begin, part.end, first, document_.sentence_at(part.end - 1) + 1, first,
                            document_.count_tokens(piece(part.begin, part.end))});
    }
  }
}

}  // namespace

void chunk_document(const Inputs& inputs, Document& document, Chunking& out) {
  out.spans.clear();
  Chunker(inputs, document, out).run();
}

}  // namespace pychunk
