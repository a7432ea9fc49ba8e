#include "document.h"

#include <algorithm>

#include "buffer.h"
#include "dispatch.h"
#include "interrupt.h"
#include "similarity.h"

namespace pychunk {
namespace {

int64_t count(std::string_view text, int64_t begin, int64_t end) {
  return kernels().count_characters(reinterpret_cast<const uint8_t*>(text.data()) + begin,
                                    static_cast<size_t>(end - begin));
}

// What the white space before a sentence says of it (SentenceFlag).
uint8_t flags_of_gap(std::string_view gap) {
  int breaks = 0;
  bool page = false;
  for (size_t i = 0; i < gap.size();) {
    int length = 0;
    const char32_t c = decode(gap, i, length);
    if (c == '\r' && i + 1 < gap.size() && gap[i + 1] == '\n') ++length;
    breaks += (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
    page |= c == '\f';
    i += static_cast<size_t>(length);
  }
  uint8_t flags = 0;
  if (breaks > 0) flags |= kParagraphStart;
  if (breaks > 1 || page) flags |= kBlankLineBefore;
  if (page) flags |= kPageStart;
  return flags;
}

}  // namespace

void Document::open(const Inputs& inputs, int64_t i) {
  inputs_ = &inputs, row_ = i, text_ = inputs.texts[i];
  has_tokens_ = has_pages_ = has_affinities_ = cut_by_page_ = knows_ascii_ = false;
  counted_byte_ = counted_characters_ = 0;
  std::fill(std::begin(has_lengths_), std::end(has_lengths_), false);
  ids_.clear();
  if (inputs.sentence_starts.size() > 0) {
    take_sentences(inputs.sentence_starts[i]);
  } else {
    split_sentences(text_, inputs.plan->wrap, sentences_);
  }
  if (inputs.page_starts.size() > 0) cut_at_pages();
  vectors_.begin(sentences(), inputs.table.cols);
  const auto fits = [&](int64_t rows, const char* what) {
    PYCHUNK_CHECK(rows == sentences(), "document ", name(), " has ", sentences(), " sentences",
                  cut_by_page_ ? " (a page begins inside one)" : "", " but ", rows, what,
                  "; pass sentence_spans= to say which sentences they belong to");
  };
  for (const auto offsets : {inputs.vector_offsets, inputs.table_vector_offsets}) {
    const auto row = static_cast<size_t>(i);
    if (!offsets.empty()) fits(offsets[row + 1] - offsets[row], " sentence vectors");
  }
  if (inputs.summary_scores.size() > 0) fits(static_cast<int64_t>(inputs.summary_scores[i].size()), " scores");
  if (inputs.pair_scores.size() > 0 && sentences() > 0)
    fits(static_cast<int64_t>(inputs.pair_scores[i].size()) + 1, " scored ones");
}

void Document::close() {
  for (Lengths& lengths : lengths_) forget_if_huge(lengths.low, lengths.high);
  forget_if_huge(sentences_.starts, sentences_.flags, ids_, token_offsets_, token_counts_, page_starts_, affinities_);
}

std::vector<int64_t> Document::bytes_of(std::span<const int64_t> characters, const char* what) const {
  std::vector<int64_t> bytes;
  int64_t byte = 0, character = 0;
  for (const int64_t wanted : characters) {
    PYCHUNK_CHECK(wanted >= character && (bytes.empty() || wanted > character), what, " of document ", name(),
                  " must increase and not be negative, got ", wanted, " after ", character);
    for (; character < wanted && byte < static_cast<int64_t>(text_.size()); ++character) {
      int length = 0;
      decode(text_, static_cast<size_t>(byte), length);
      byte += length;
    }
    PYCHUNK_CHECK(character == wanted, what, " of document ", name(), " must lie in its ", character,
                  " characters, got ", wanted);
    bytes.push_back(byte);
  }
  return bytes;
}

void Document::take_sentences(std::span<const int64_t> first_characters) {
  sentences_.clear();
  sentences_.starts = bytes_of(first_characters, "sentence_spans");
  if (sentences_.starts.empty()) {
    PYCHUNK_CHECK(trim(text_, 0, static_cast<int64_t>(text_.size())).empty(), "document ", name(),
                  " has text but no sentence in sentence_spans");
    return;
  }
  sentences_.starts.front() = 0;
  for (const int64_t start : sentences_.starts) {
    int64_t gap = start;
    while (gap > 0) {
      int64_t last = gap - 1;
      while (last > 0 && (static_cast<unsigned char>(text_[static_cast<size_t>(last)]) & 0xC0) == 0x80) --last;
      if (space_length(text_, static_cast<size_t>(last)) == 0) break;
      gap = last;
    }
    sentences_.flags.push_back(
        start == 0 ? static_cast<uint8_t>(kParagraphStart)
                   : flags_of_gap(text_.substr(static_cast<size_t>(gap), static_cast<size_t>(start - gap))));
  }
}

const std::vector<int64_t>& Document::page_starts() {
  if (has_pages_) return page_starts_;
  has_pages_ = true;
  if (inputs_->page_starts.size() > 0) {
    page_starts_ = bytes_of(inputs_->page_starts[row_], "page_starts");
    if (page_starts_.empty() || page_starts_.front() > 0) page_starts_.insert(page_starts_.begin(), 0);
    return page_starts_;
  }
  page_starts_.assign(1, 0);
  for (size_t at = 0; (at = text_.find('\f', at)) != std::string_view::npos;)
    page_starts_.push_back(static_cast<int64_t>(++at));
  return page_starts_;
}

int64_t Document::page_at(int64_t byte) {
  const auto& starts = page_starts();
  return std::upper_bound(starts.begin(), starts.end(), byte) - starts.begin();
}

// A given page may begin inside a sentence: there it becomes a sentence border.
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
      if (before.empty() || rest.empty()) continue;
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
    counted_characters_ += count(text_, counted_byte_, byte);
  } else {
    counted_characters_ -= count(text_, byte, counted_byte_);
  }
  counted_byte_ = byte;
  return counted_characters_;
}

void Document::tokenize() {
  if (has_tokens_) return;
  has_tokens_ = true;
  const size_t n = sentences_.starts.size();
  sentences_.starts.push_back(static_cast<int64_t>(text_.size()));
  encode_and_count(*inputs_->tokenizer, text_, sentences_.starts.data(), n, ids_, token_offsets_, token_counts_);
  sentences_.starts.pop_back();
}

const std::vector<int64_t>& Document::token_counts() {
  tokenize();
  return token_counts_;
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

void Document::measure_parts(Unit unit, std::span<const int64_t> starts, std::span<const int64_t> counts,
                             SharedWords& shared, Lengths& out) {
  out.low.clear(), out.high.clear();
  out.shared = nullptr, out.recount = nullptr;
  const auto size = static_cast<int64_t>(text_.size());
  if (unit == Unit::kTokens && inputs_->tokenizer->is_foreign()) {
    int64_t total = 0;
    for (const int64_t tokens : counts) {
      out.low.push_back(total);
      out.high.push_back(total += tokens);
    }
    out.recount = [this, starts, size](int64_t i, int64_t j) {
      const auto last = static_cast<size_t>(j);
      const Trimmed inside = trim(text_, starts[static_cast<size_t>(i)], last < starts.size() ? starts[last] : size);
      return count_tokens(
          text_.substr(static_cast<size_t>(inside.begin), static_cast<size_t>(inside.end - inside.begin)));
    };
    return;
  }
  if (unit == Unit::kTokens) {
    if (shared.build(*inputs_->tokenizer, text_, starts, size, counts, out.low, out.high)) out.shared = &shared;
    return;
  }
  int64_t words = 0;
  for (size_t p = 0; p < starts.size(); ++p) {
    const int64_t begin = starts[p], end = p + 1 < starts.size() ? starts[p + 1] : size;
    if (unit == Unit::kCharacters) {
      const Trimmed inside = trim(text_, begin, end);
      out.low.push_back(characters_before(inside.begin));
      out.high.push_back(characters_before(inside.end));
      continue;
    }
    out.low.push_back(words);
    words += count_words(text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    out.high.push_back(words);
  }
}

Matrix<const float> Document::given_rows(const Matrix<const float>& vectors, std::span<const int64_t> offsets) const {
  const auto row = static_cast<size_t>(row_);
  return vectors.slice(offsets[row], offsets[row + 1]);
}

Rows Document::table_vectors() {
  if (inputs_->table_vectors.data == nullptr) return vectors();
  return given_rows(inputs_->table_vectors, inputs_->table_vector_offsets);
}

Rows Document::vectors() {
  if (inputs_->vectors.data != nullptr) return given_rows(inputs_->vectors, inputs_->vector_offsets);
  tokenize();
  return {sentences(), inputs_->table.cols, vectors_, *this};
}

void Document::make_rows(int64_t begin, int64_t end, float* out) {
  const auto dim = static_cast<size_t>(inputs_->table.cols);
  const Kernels& run = kernels();
  sums_.resize(dim);
  for (int64_t s = begin; s < end; ++s, out += dim) {
    checkpoint_each(s - begin, 1024);
    const auto from = static_cast<size_t>(token_offsets_[static_cast<size_t>(s)]);
    const auto to = static_cast<size_t>(token_offsets_[static_cast<size_t>(s) + 1]);
    run.embedding_bag(inputs_->table.data, dim, ids_.data() + from, to - from, ids_.size() - from, sums_.data());
    run.unit_from_sums(sums_.data(), dim, out);
  }
}

std::span<const float> Document::given_scores() const {
  return inputs_->summary_scores.size() > 0 ? inputs_->summary_scores[row_] : std::span<const float>{};
}

std::span<const float> Document::affinities() {
  if (inputs_->pair_scores.size() > 0) return inputs_->pair_scores[row_];
  if (!has_vectors()) return {};
  if (!has_affinities_) {
    has_affinities_ = true;
    if (inputs_->pair_head != nullptr) {
      next_probabilities(*inputs_->pair_head, vectors(), affinities_);
    } else {
      adjacent_cosines(vectors(), 1, affinities_);
    }
  }
  return affinities_;
}

void Document::encode(std::string_view piece, float* out) const {
  thread_local Values<int32_t> ids;
  thread_local std::vector<int32_t> sums;
  thread_local std::vector<int64_t> offsets;
  const int64_t bounds[] = {0, static_cast<int64_t>(piece.size())};
  const auto dim = static_cast<size_t>(inputs_->table.cols);
  ids.clear(), offsets.clear(), sums.resize(dim);
  inputs_->tokenizer->encode(piece, bounds, 1, ids, offsets, nullptr);
  kernels().embedding_bag(inputs_->table.data, dim, ids.data(), ids.size(), ids.size(), sums.data());
  kernels().unit_from_sums(sums.data(), dim, out);
}

int64_t Document::fallback_tokens() {
  if (inputs_->fallback.empty() || is_ascii()) return 0;  // ASCII text is not of another script
  int64_t found = 0;
  for (const int32_t id : ids_) found += inputs_->fallback[static_cast<size_t>(id)];
  return found;
}

bool Document::is_ascii() {
  if (!knows_ascii_) {
    const auto size = static_cast<int64_t>(text_.size());
    knows_ascii_ = true, ascii_ = count(text_, 0, size) == size;
  }
  return ascii_;
}

}  // namespace pychunk
