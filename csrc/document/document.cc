#include "document/document.h"

#include <algorithm>
#include <numeric>

#include "common/buffer.h"
#include "common/dispatch.h"
#include "common/interrupt.h"
#include "common/work_counters.h"
#include "document/block_cohesion.h"
#include "vectors/similarity.h"
#include "vectors/topic.h"

namespace pychunk {
namespace {

// Return the first numbers of a list as Python writes them, for a message.
std::string listed(std::span<const int32_t> values) {
  constexpr size_t kMost = 12;
  std::string out = "[";
  for (size_t i = 0; i < std::min(values.size(), kMost); ++i) out += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return out + (values.size() > kMost ? ", ..." : "") + "]";
}

}  // namespace

void Document::open(const Inputs& inputs, int64_t i) {
  inputs_ = &inputs, row_ = i, text_ = inputs.texts[i];
  counted_.reset(), counts_.clear();
  has_tokens_ = has_pages_ = has_affinities_ = has_vectors_ = keeps_affinities_ = cut_by_page_ = knows_ascii_ =
      knows_limits_ = false;
  counted_byte_ = counted_characters_ = line_byte_ = lines_ = 0;
  std::fill(std::begin(has_lengths_), std::end(has_lengths_), false);
  ids_.clear(), borders_.clear(), text_borders_.clear();
  if (inputs.sentences.size() > 0) {
    take_sentences();
  } else if (inputs.kept != nullptr) {
    inputs.kept->split.spans = inputs.kept->spans;
    work().split += static_cast<uint64_t>(split_edited(text_, inputs.plan->wrap, inputs.kept->split, sentences_));
  } else {
    split_sentences(text_, inputs.plan->wrap, sentences_);
    work().split += text_.size();
  }
  take_layout();
  if (inputs.page_starts.size() > 0) cut_at_pages();
  blocks_of_sentences(text_, starts(), blocks_, block_of_);
  find_removed(text_, starts(), inputs.layout.removed_of(i), removed_);
  check_given();
  take_vectors();
  // tokenize() appends the end of the text for a moment, and lengths() keeps spans of the starts.
  sentences_.starts.reserve(sentences_.starts.size() + 1);
  if (inputs.kept != nullptr) find_kept();
}

// Check that the caller passed one value for each sentence, or one for each pair of adjacent sentences.
void Document::check_given() const {
  const auto fits = [&](int64_t found, int64_t wanted, const char* what) {
    PYCHUNK_CHECK(
        found == wanted, "document ", name(), " has ", sentences(), sentences() == 1 ? " sentence" : " sentences",
        cut_by_page_ ? " (a page, block or removed span begins inside one)" : "", " but ", found, what,
        found == 1 ? "" : "s", "; pass columns={'sentence_spans': ...} to say which sentences they belong to");
  };
  const Inputs& in = *inputs_;
  const int64_t n = sentences(), pairs = std::max<int64_t>(0, n - 1);
  for (const RaggedRows* rows : {&in.vectors, &in.table_vectors})
    if (rows->given()) fits(rows->count(row_), n, " sentence vector");
  if (in.token_counts.size() > 0) fits(static_cast<int64_t>(in.token_counts[row_].size()), n, " token count");
  if (in.pair_scores.size() > 0) fits(static_cast<int64_t>(in.pair_scores[row_].size()), pairs, " pair score");
  if (!in.cuts.given()) return;
  if (in.cuts.score.size() > 0)
    fits(static_cast<int64_t>(in.cuts.score[row_].size()), in.cuts.pairs ? pairs : n, " score");
  const std::span<const int32_t> first = in.cuts.first[row_];
  bool good = first.empty() == (n == 0) && (first.empty() || (first.front() == 0 && first.back() < n));
  for (size_t g = 1; g < first.size(); ++g) good &= first[g] > first[g - 1];
  PYCHUNK_CHECK(good, "cuts of document ", name(), " must begin with 0, increase, and be less than ", n,
                ", its number of sentences; got ", listed(first));
}

// Check the vectors that the caller passed, even if nothing reads them.
void Document::take_vectors() {
  const std::span<const RawRows> raw = inputs_->vectors.raw;
  vectors_.begin(sentences(), raw.empty() ? inputs_->table.cols : inputs_->dim());
  if (raw.empty()) return;
  const auto at = static_cast<size_t>(row_);
  const Plan& plan = *inputs_->plan;
  const bool sums = plan.method->summaries && !inputs_->cuts.given() && is_summed(plan.summary);
  const int64_t bad = scaled_.open(raw[at], at + 1 < raw.size() ? raw[at + 1].data : nullptr, sums);
  PYCHUNK_CHECK(bad < 0, "sentence_vectors must be finite in float32; sentence ", bad, " of document ", name(),
                " is not: remove infinity and NaN");
}

void Document::close() {
  if (inputs_->kept != nullptr) keep();
  scaled_.close();
  for (Lengths& lengths : lengths_) forget_if_huge(lengths.low, lengths.high);
  counted_.reset();
  forget_if_huge(sentences_.starts, sentences_.flags, ids_, token_offsets_, token_counts_, counts_, page_starts_,
                 affinities_, borders_.cohesion, borders_.breaks, borders_.levels, text_borders_.cohesion,
                 text_borders_.breaks, text_borders_.levels, block_of_, removed_);
}

void Document::take_layout() {
  const auto size = static_cast<int64_t>(text_.size());
  const RemovedSpans removed = inputs_->layout.removed_of(row_);
  blocks_ = inputs_->layout.blocks_of(row_);
  const auto check = [&](std::span<const int64_t> from, std::span<const int64_t> to, const char* what) {
    const auto is_border = [&](int64_t at) {
      return at == size || !continues_character(static_cast<uint8_t>(text_[static_cast<size_t>(at)]));
    };
    int64_t before = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      PYCHUNK_CHECK(from[i] >= before && from[i] < to[i] && to[i] <= size && is_border(from[i]) && is_border(to[i]),
                    what, " of document ", name(), " must increase, begin before they end and be inside its text, got ",
                    from[i], " to ", to[i]);
      before = to[i];
    }
  };
  if (blocks_.size() + removed.size() == 0) return;
  check(blocks_.start, blocks_.end, "blocks");
  check(removed.start, removed.end, "removed spans");
  const bool own = inputs_->sentences.size() == 0;
  if (cut_at_layout(text_, blocks_, removed, own, sentences_) && !own) cut_by_page_ = true;
}

BlockKind Document::kind_of(int64_t s) const {
  const int32_t block = block_of_.empty() ? -1 : block_of_[static_cast<size_t>(s)];
  return block < 0 ? BlockKind::kParagraph : blocks_.kind_of(block);
}

void Document::take_sentences() {
  sentences_.clear();
  const std::span<const int64_t> starts = inputs_->sentences[row_];
  const auto size = static_cast<int64_t>(text_.size());
  if (starts.empty()) {
    PYCHUNK_CHECK(trim(text_, 0, size).empty(), "document ", name(), " has text but no sentence in sentence_spans");
    return;
  }
  sentences_.starts.assign(starts.begin(), starts.end());
  sentences_.starts.front() = 0;  // text before the first sentence belongs to it
  for (size_t s = 0; s < starts.size(); ++s)
    PYCHUNK_CHECK(
        (s == 0 ? starts[s] >= 0 : starts[s] > sentences_.starts[s - 1]) && starts[s] <= size &&
            (starts[s] == size || !continues_character(static_cast<uint8_t>(text_[static_cast<size_t>(starts[s])]))),
        "sentences of document ", name(), " must begin at a character and increase, got ", starts[s]);
  if (inputs_->flags.size() > 0) {
    const std::span<const uint8_t> flags = inputs_->flags[row_];
    PYCHUNK_CHECK(flags.size() == starts.size(), "document ", name(), " has ", starts.size(), " sentences but ",
                  flags.size(), " flags");
    sentences_.flags.assign(flags.begin(), flags.end());
    return;
  }
  // Most gaps are one space after an ASCII character. For these, the search for the end of the text before the gap and
  // for line breaks in it took a seventh of the time of documents with vectors of 8 dimensions.
  const uint8_t after_space = flags_of_gap(" ");
  for (const int64_t start : sentences_.starts) {
    const auto at = static_cast<size_t>(start);
    if (at >= 2 && text_[at - 1] == ' ' && text_[at - 2] > ' ' && text_[at - 2] < 0x7F) {
      sentences_.flags.push_back(after_space);
      continue;
    }
    const std::string_view gap = slice(text_, trim_end(text_, 0, start), start);
    sentences_.flags.push_back(start == 0 ? static_cast<uint8_t>(kParagraphStart) : flags_of_gap(gap));
  }
}

const std::vector<int64_t>& Document::page_starts() {
  if (has_pages_) return page_starts_;
  has_pages_ = true;
  if (inputs_->page_starts.size() > 0) {
    const std::span<const int64_t> given = inputs_->page_starts[row_];
    page_starts_.assign(given.begin(), given.end());
    if (page_starts_.empty() || page_starts_.front() > 0) page_starts_.insert(page_starts_.begin(), 0);
    return page_starts_;
  }
  page_starts_.assign(1, 0);
  for (size_t at = 0; (at = text_.find('\f', at)) != std::string_view::npos;)
    page_starts_.push_back(static_cast<int64_t>(++at));
  return page_starts_;
}

const Borders& Document::borders() {
  if (!borders_.known()) find_borders(inputs_->plan->keep_together || inputs_->plan->method->outline, borders_);
  return borders_;
}

const Borders& Document::text_borders() {
  if (inputs_->plan->keep_together || inputs_->plan->method->outline) return borders();
  if (!text_borders_.known()) find_borders(true, text_borders_);
  return text_borders_;
}

void Document::find_borders(bool cohesion, Borders& out) {
  out.breaks.resize(starts().size());
  for (int64_t s = 0; s < sentences(); ++s) {
    const uint8_t flag = flags(s);
    Break found = (flag & kPageStart) != 0         ? Break::kPage
                  : (flag & kBlankLineBefore) != 0 ? Break::kBlankLine
                  : (flag & kParagraphStart) != 0  ? Break::kLine
                                                   : Break::kSentence;
    if (s > 0 && turns_page(s)) found = Break::kPage;
    out.breaks[static_cast<size_t>(s)] = s == 0 ? Break::kDocument : found;
  }
  if (cohesion) {
    if (!block_of_.empty()) block_levels(*this, out.levels);
    find_cohesion(text_, starts(), out);
    if (!block_of_.empty()) find_block_cohesion(*this, out);
  } else {
    out.cohesion.assign(out.breaks.size(), Cohesion::kOpen);
  }
  for (int64_t s = 1; has_walls() && s < sentences(); ++s)
    if (is_removed(s) != is_removed(s - 1)) out.cohesion[static_cast<size_t>(s)] = Cohesion::kWall;
}

int64_t Document::page_at(int64_t byte) {
  const auto& starts = page_starts();
  return std::upper_bound(starts.begin(), starts.end(), byte) - starts.begin();
}

// Return whether a page begins inside a block. Text of one block continues across pages, unless the method cuts at
// pages.
bool Document::is_in_block(int64_t page_start) const {
  if (inputs_->plan->method->pages) return false;
  const auto block =
      std::upper_bound(blocks_.start.begin(), blocks_.start.end(), page_start - 1) - blocks_.start.begin();
  return block > 0 && page_start < blocks_.end[static_cast<size_t>(block) - 1];
}

bool Document::turns_page(int64_t s) {
  if (!has_given_pages()) return false;
  const auto& starts = page_starts();
  for (int64_t page = page_at(begin(s)); page > page_at(begin(s - 1)); --page)
    if (!is_in_block(starts[static_cast<size_t>(page) - 1])) return true;
  return false;
}

// Cut each sentence inside which a given page begins, at the beginning of the page.
void Document::cut_at_pages() {
  if (sentences() == 0) return;
  SentenceList cut;
  size_t next = 0;
  const auto& starts = page_starts();
  for (int64_t s = 0; s < sentences(); ++s) {
    cut.starts.push_back(begin(s)), cut.flags.push_back(flags(s));
    while (next < starts.size() && starts[next] <= begin(s)) ++next;
    for (; next < starts.size() && starts[next] < end(s); ++next) {
      const Trimmed before = trim(text_, cut.starts.back(), starts[next]), rest = trim(text_, starts[next], end(s));
      if (before.empty() || rest.empty() || is_in_block(starts[next])) continue;
      cut_by_page_ = true;
      cut.starts.push_back(rest.begin), cut.flags.push_back(kParagraphStart | kPageStart);
    }
  }
  sentences_ = std::move(cut);
}

int64_t Document::sentence_at(int64_t at) const {
  return std::upper_bound(sentences_.starts.begin(), sentences_.starts.end(), at) - sentences_.starts.begin() - 1;
}

int64_t Document::characters_before(int64_t byte) {
  if (is_ascii()) return byte;
  if (byte < counted_byte_ / 2) counted_byte_ = counted_characters_ = 0;
  if (byte >= counted_byte_) {
    counted_characters_ += count_characters(slice(text_, counted_byte_, byte));
  } else {
    counted_characters_ -= count_characters(slice(text_, byte, counted_byte_));
  }
  counted_byte_ = byte;
  return counted_characters_;
}

bool Document::is_shorter(int64_t begin, int64_t end, int64_t characters) const {
  const Trimmed inside = trim(text_, begin, end);
  const int64_t bytes = inside.end - inside.begin;
  if (bytes < characters || bytes >= 4 * characters) return bytes < characters;
  return count_characters(slice(text_, inside.begin, inside.end)) < characters;
}

int64_t Document::line_at(int64_t at) {
  const auto breaks = [&](int64_t begin, int64_t end) {
    const std::string_view passed = slice(text_, begin, end);
    if (passed.size() < 8) return static_cast<int64_t>(std::count(passed.begin(), passed.end(), '\n'));
    return kernels().count_line_feeds(as_bytes(passed), passed.size());
  };
  lines_ += at >= line_byte_ ? breaks(line_byte_, at) : -breaks(at, line_byte_);
  line_byte_ = at;
  return lines_ + 1;
}

void Document::tokenize() {
  if (has_tokens_) return;
  has_tokens_ = true;
  if (!inputs_->token_offsets.empty()) return take_tokens();
  if (!kept_runs_.empty() && inputs_->kept != nullptr) return tokenize_rest();
  const size_t n = sentences_.starts.size();
  sentences_.starts.push_back(static_cast<int64_t>(text_.size()));
  encode_and_count(*inputs_->tokenizer, text_, sentences_.starts.data(), n, ids_, token_offsets_, token_counts_);
  sentences_.starts.pop_back();
  work().tokenized += text_.size();
}

void Document::take_tokens() {
  const auto first = static_cast<size_t>(inputs_->token_counts.offsets[row_]);
  const std::span<const int64_t> offsets = inputs_->token_offsets.subspan(first, starts().size() + 1);
  const std::span<const int32_t> own = inputs_->token_ids.subspan(
      static_cast<size_t>(offsets.front()), static_cast<size_t>(offsets.back() - offsets.front()));
  ids_.assign(own.begin(), own.end());
  token_offsets_.clear();
  for (const int64_t offset : offsets) token_offsets_.push_back(offset - offsets.front());
}

std::span<const int64_t> Document::token_counts() {
  if (inputs_->token_counts.size() > 0) return inputs_->token_counts[row_];
  if (inputs_->counter == nullptr) {
    tokenize();
    return token_counts_;
  }
  if (counts_.empty() && sentences() > 0) {
    std::vector<int64_t> bounds = sentences_.starts;
    bounds.push_back(static_cast<int64_t>(text_.size()));
    counts_.resize(sentences_.starts.size());
    counted().count(bounds.data(), counts_.size(), counts_.data());
  }
  return counts_;
}

CountedText& Document::counted() {
  if (!counted_) {
    counted_ = inputs_->counter->read(text_);
    if (inputs_->exact_counts && inputs_->token_counts.size() > 0) {
      std::vector<int64_t> bounds(starts().begin(), starts().end());
      bounds.push_back(static_cast<int64_t>(text_.size()));
      counted_->know(bounds.data(), bounds.size() - 1, inputs_->token_counts[row_].data());
    }
  }
  return *counted_;
}

int64_t Document::length(std::string_view piece, Unit unit) {
  if (unit != Unit::kTokens || inputs_->counter == nullptr) return measure(piece, unit, inputs_->tokenizer);
  const int64_t begin = piece.data() - text_.data();
  const Trimmed inside = trim(text_, begin, begin + static_cast<int64_t>(piece.size()));
  return inside.empty() ? 0 : counted().count(inside.begin, inside.end);
}

int64_t Document::weight(int64_t s) {
  if (inputs_->counter == nullptr || inputs_->tokenizer == nullptr) return token_counts()[static_cast<size_t>(s)];
  tokenize();
  return token_counts_[static_cast<size_t>(s)];
}

int64_t Document::weight(std::string_view piece) {
  if (inputs_->counter == nullptr || inputs_->tokenizer == nullptr) return count_tokens(piece);
  return measure(piece, Unit::kTokens, inputs_->tokenizer);
}

const Lengths& Document::lengths(Unit unit) {
  const auto u = static_cast<size_t>(unit);
  Lengths& out = lengths_[u];
  if (has_lengths_[u]) return out;
  has_lengths_[u] = true;
  const std::span<const int64_t> counts = unit == Unit::kTokens ? token_counts() : std::span<const int64_t>{};
  measure_parts(unit, sentences_.starts, counts, shared_words_, out);
  return out;
}

LengthLimits Document::limits() {
  if (knows_limits_) return limits_;
  knows_limits_ = true;
  const Plan& plan = *inputs_->plan;
  limits_ = {plan.method->sized ? Unit::kTokens : plan.unit, plan.max_tokens, plan.min_tokens};
  if (limits_.unit != Unit::kTokens || !plan.auto_limits || (plan.max_tokens == 0 && plan.min_tokens == 0) ||
      is_ascii())
    return limits_;
  // The tokenizer does not know the words if the text has at least 1.5 bytes for each character, and more than three
  // tokens for each word.
  const int64_t characters = count_characters(text_), bytes = static_cast<int64_t>(text_.size());
  if (2 * bytes < 3 * characters) return limits_;
  const std::span<const int64_t> counts = token_counts();
  const int64_t tokens = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  if (tokens > 3 * count_words(text_))
    limits_ = {Unit::kCharacters, kCharactersPerToken * plan.max_tokens, kCharactersPerToken * plan.min_tokens};
  return limits_;
}

std::span<const int64_t> Document::limited_lengths() {
  const Unit unit = limits().unit;
  if (unit == Unit::kTokens) return token_counts();
  limited_.clear();
  for (int64_t s = 0; s < sentences(); ++s) {
    const std::string_view text = slice(text_, begin(s), end(s));
    limited_.push_back(unit == Unit::kWords ? count_words(text) : count_characters(text));
  }
  return limited_;
}

void Document::measure_parts(Unit unit, std::span<const int64_t> starts, std::span<const int64_t> counts,
                             SharedWords& shared, Lengths& out) {
  out.low.clear(), out.high.clear();
  out.shared = nullptr, out.recount = nullptr;
  const auto size = static_cast<int64_t>(text_.size());
  if (unit == Unit::kTokens && inputs_->counter != nullptr) {
    int64_t total = 0;
    for (const int64_t tokens : counts) {
      out.low.push_back(total);
      out.high.push_back(total += tokens);
    }
    out.recount = [this, starts, size](int64_t i, int64_t j) {
      const auto last = static_cast<size_t>(j);
      return count_tokens(slice(text_, starts[static_cast<size_t>(i)], last < starts.size() ? starts[last] : size));
    };
    return;
  }
  if (unit == Unit::kTokens) {
    if (shared.build(*inputs_->tokenizer, text_, starts, size, counts, out.low, out.high)) out.shared = &shared;
    return;
  }
  if (unit == Unit::kCharacters) {
    measure_characters(starts, out);
    return;
  }
  int64_t words = 0;
  for (size_t p = 0; p < starts.size(); ++p) {
    const int64_t begin = starts[p], end = p + 1 < starts.size() ? starts[p + 1] : size;
    out.low.push_back(words);
    words += count_words(text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    out.high.push_back(words);
  }
}

void Document::measure_characters(std::span<const int64_t> starts, Lengths& out) {
  const auto size = static_cast<int64_t>(text_.size());
  out.low.resize(starts.size()), out.high.resize(starts.size());
  // A part that is only white space adds nothing to a run that it begins or ends.
  for (size_t p = 0; p < starts.size(); ++p) {
    const Trimmed inside = trim(text_, starts[p], p + 1 < starts.size() ? starts[p + 1] : size);
    out.low[p] = inside.empty() ? -1 : characters_before(inside.begin);
    out.high[p] = !inside.empty() ? characters_before(inside.end) : p > 0 ? out.high[p - 1] : 0;
  }
  int64_t next = characters_before(size);
  for (size_t p = starts.size(); p-- > 0;) next = out.low[p] = out.low[p] < 0 ? next : out.low[p];
}

Rows Document::table_vectors() {
  if (!inputs_->table_vectors.given()) return vectors();
  return inputs_->table_vectors[row_];
}

Rows Document::vectors() {
  if (!inputs_->vectors.raw.empty()) {
    Rows rows(sentences(), inputs_->dim(), vectors_, scaled_);
    rows.scaled = &scaled_;
    return rows;
  }
  if (inputs_->vectors.given()) return inputs_->vectors[row_];
  tokenize();
  if (inputs_->kept == nullptr) return {sentences(), inputs_->table.cols, vectors_, *this};
  RowWindow& kept = inputs_->kept->vectors;
  if (!has_vectors_ && !kept.take_over(kept_runs_, sentences(), inputs_->table.cols, *this))
    kept.begin(sentences(), inputs_->table.cols);
  has_vectors_ = true;
  return {sentences(), inputs_->table.cols, kept, *this};
}

void Document::make_rows(int64_t begin, int64_t end, float* out) {
  const std::span<const int64_t> offsets(token_offsets_);
  embedding_bags(inputs_->table, ids_,
                 offsets.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin) + 1), out);
}

const float* Document::given_summary() {
  if (inputs_->summary_vectors.data != nullptr) return inputs_->summary_vectors.row(row_);
  if (inputs_->summaries.size() == 0) return nullptr;
  summary_.resize(static_cast<size_t>(inputs_->table.cols));
  encode(inputs_->summaries[row_], summary_.data());
  return summary_.data();
}

std::span<const float> Document::affinities() {
  if (inputs_->cuts.scored_pairs()) return inputs_->cuts.score[row_];
  if (inputs_->pair_scores.size() > 0) return inputs_->pair_scores[row_];
  if (!has_vectors()) return {};
  if (!has_affinities_) {
    has_affinities_ = true;
    if (inputs_->pair_head == nullptr && inputs_->topic_head != nullptr) {
      topic_affinities(*inputs_->topic_head, {text_, sentences_.starts, sentences_.flags}, vectors(), affinities_);
    } else if (inputs_->kept != nullptr && !inputs_->vectors.given()) {
      find_other_affinities();
    } else {
      pair_affinities(vectors(), affinities_);
    }
  }
  return affinities_;
}

void Document::pair_affinities(const Rows& vectors, std::vector<float>& out) const {
  if (inputs_->pair_head != nullptr) {
    next_probabilities(*inputs_->pair_head, vectors, out);
  } else {
    adjacent_cosines(vectors, 1, out);
  }
}

int64_t Document::tokens_met() {
  if (!inputs_->token_offsets.empty()) tokenize();
  return static_cast<int64_t>(ids_.size());
}

int64_t Document::fallback_tokens() {
  if (inputs_->fallback.empty() || is_ascii()) return 0;  // fallback tokens reveal other scripts; ASCII has none
  int64_t found = 0;
  for (const int32_t id : ids_) found += inputs_->fallback[static_cast<size_t>(id)];
  return found;
}

bool Document::is_ascii() {
  if (!knows_ascii_) {
    knows_ascii_ = true, ascii_ = count_characters(text_) == static_cast<int64_t>(text_.size());
  }
  return ascii_;
}

}  // namespace pychunk
