#include "text/sentence_splitter.h"

#include <algorithm>
#include <iterator>

#include "common/dispatch.h"
#include "common/interrupt.h"
#include "text/abbreviations.h"
#include "text/characters.h"
#include "text/hard_wrap.h"
#include "text/sentence_rules.h"
#include "text/utf8_text.h"

namespace pychunk {
namespace {

// The splitter of one document.
class Splitter {
 public:
  Splitter(std::string_view text, SentenceList& out, const SplitBefore* before = nullptr)
      : text_(text), rules_(text), out_(out), before_(before) {}

  void run(Wrap wrap) {
    start_ = text_.skip_space(0);
    if (start_ == text_.size) return;
    out_.starts.push_back(0);
    out_.flags.push_back(kParagraphStart);
    thread_local std::vector<uint64_t> bits;
    bits.resize((text_.text.size() + 63) / 64);
    kernels().mark_stops(as_bytes(text_.text), text_.text.size(), bits.data());
    if (before_ != nullptr && !has_facts(wrap)) before_ = nullptr;
    if (wrap == Wrap::kAuto && before_ == nullptr) find_wrap(bits);
    wrapped_ = wrap == Wrap::kOn || width_ > 0;
    hyphens_ = wrap != Wrap::kOff;
    if (before_ != nullptr) take_from_start();
    for (size_t block = static_cast<size_t>(next_) / 64; block < bits.size(); ++block) {
      checkpoint_each(static_cast<int64_t>(block), 4096);
      block = std::max(block, static_cast<size_t>(next_) / 64);  // sentences were taken over
      if (block >= bits.size()) return;
      for (uint64_t mask = bits[block]; mask != 0; mask &= mask - 1) {
        const auto at = static_cast<int64_t>(64 * block) + __builtin_ctzll(mask);
        if (at >= next_) candidate(at);
      }
    }
  }

  int64_t taken() const { return taken_; }  // bytes of sentences that were taken over
  TextFacts facts() const { return {width_, rules_.german(), rules_.vietnamese()}; }

 private:
  // Returns whether the text has the facts of the text before the edit. A text whose lines may be wrapped counts as
  // one that has others, because every line has to be read to know.
  bool has_facts(Wrap wrap) {
    const TextFacts& known = before_->facts;
    if (before_->sentences.starts.empty() || known.width > 0) return false;
    if (wrap == Wrap::kAuto) {
      const auto breaks = kernels().count_line_feeds(as_bytes(text_.text), text_.text.size());
      if (!has_long_lines(text_.text, static_cast<size_t>(breaks))) return false;
    }
    return (known.german < 0 || known.german == (rules_.nouns_are_capitalised() ? 1 : 0)) &&
           (known.vietnamese < 0 || known.vietnamese == (rules_.looks_vietnamese() ? 1 : 0));
  }

  void take_from_start() {
    if (!before_->spans.empty() && before_->spans[0].from == 0 && before_->spans[0].to == 0)
      take_over(before_->spans[0], 0);
  }

  // Takes over the sentences after a paragraph that begins at `at`, if one began there before the edit. The splitter
  // has then the same state as there: it counts quotes from the paragraph's beginning, and looks back no further than
  // to the line feed before it.
  void resume(int64_t at, uint8_t flags) {
    const auto& [starts, all_flags] = before_->sentences;
    for (; span_ < before_->spans.size(); ++span_)
      if (at <= before_->spans[span_].to + before_->spans[span_].length) break;
    if (span_ == before_->spans.size() || at < before_->spans[span_].to) return;
    const KeptSpan span = before_->spans[span_];
    const int64_t old = at - span.to + span.from;
    const auto same = std::lower_bound(starts.begin(), starts.end(), old);
    const auto s = static_cast<size_t>(same - starts.begin());
    if (same != starts.end() && *same == old && all_flags[s] == flags && follows_line_feed(at, span.to))
      take_over(span, s);
  }

  // Takes over the sentences after sentence s of the text before the edit, up to the end or up to the last paragraph
  // whose sentences cannot depend on what follows the span. No decision looks further ahead than to the word or the
  // line after the next white space, and so not beyond a paragraph that has a letter and ends with a line feed.
  void take_over(const KeptSpan& span, size_t s) {
    const auto& [starts, flags] = before_->sentences;
    const int64_t shift = span.to - span.from, end = span.from + span.length;
    size_t last = starts.size() - 1;
    if (end < before_->size || end + shift < text_.size) {
      ++span_;  // there is no other paragraph to take over to in this span
      last = static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), end) - starts.begin());
      int64_t later = -1;  // the beginning of the next paragraph, which another one follows
      for (int paragraphs = 0;;) {
        if (last == 0 || --last <= s) return;
        const int64_t at = starts[last] + shift;
        if ((flags[last] & kParagraphStart) == 0 || !follows_line_feed(at, span.to)) continue;
        if (++paragraphs > 2 && has_letter(at, later)) break;
        later = at;
      }
    }
    for (size_t taken = s + 1; taken <= last; ++taken) {
      out_.starts.push_back(starts[taken] + shift);
      out_.flags.push_back(flags[taken]);
    }
    const int64_t from = start_;
    if (end + shift == text_.size && last + 1 == starts.size()) {
      next_ = text_.size;
    } else {
      next_ = start_ = quotes_to_ = starts[last] + shift;
      quotes_ = 0;
    }
    taken_ += next_ - from;
  }

  // Returns whether the white space before `at`, from `least` on, has a line feed.
  bool follows_line_feed(int64_t at, int64_t least) const {
    while (at > least && text_.space_before(at) > 0) {
      at -= text_.space_before(at);
      if (at >= least && text_.byte(at) == '\n') return true;
    }
    return false;
  }

  bool has_letter(int64_t begin, int64_t end) const {
    int length = 0;
    for (; begin < end; begin += length)
      if (is_letter(text_.at(begin, length))) return true;
    return false;
  }

  void find_wrap(const std::vector<uint64_t>& bits) {
    thread_local std::vector<int64_t> breaks;
    breaks.clear();
    for (size_t block = 0; block < bits.size(); ++block)
      for (uint64_t mask = bits[block]; mask != 0; mask &= mask - 1) {
        const auto i = static_cast<int64_t>(64 * block) + __builtin_ctzll(mask);
        if (text_.byte(i) == '\n') breaks.push_back(i);
      }
    width_ = wrap_width(text_.text, breaks);
  }

  void candidate(int64_t i) {
    if (continues_character(static_cast<uint8_t>(text_.byte(i)))) i = text_.before(i);  // its second byte was marked
    int length = 0;
    const char32_t c = text_.at(i, length);
    if (is_line_break(c)) return line_break(i, length);
    if (!is_stop_at(c, i) || i < start_) return;
    stop(i, c, length);
  }

  // A semicolon is the question mark of Greek.
  bool is_stop_at(char32_t c, int64_t i) const {
    return is_stop(c) || (c == ';' && i > 0 && is_greek(text_.at(text_.before(i))));
  }

  void line_break(int64_t i, int length) {
    if (i < start_) return;
    int64_t gap = i;
    while (gap > start_ && text_.space_before(gap) > 0) gap -= text_.space_before(gap);
    const int64_t next = text_.skip_space(i + length);
    next_ = next;
    if (next == text_.size) return;
    const uint8_t flags = flags_of_gap(text_.slice(gap, next));
    const bool single = flags == kParagraphStart && text_.byte(i) == '\n';
    if (single && is_wrap(i)) {
      if (wrapped_stop(gap, next)) border(next, 0);
      return;
    }
    border(next, flags);
    if (before_ != nullptr) resume(next, flags);
  }

  // Returns whether a single line feed is a space. It is one in wrapped text, and after a hyphen that divides a word.
  bool is_wrap(int64_t i) const {
    if (wrapped_) return !line_break_separates(text_.text, i, width_);
    return hyphens_ && hyphen_parts(text_.text, i) && !line_break_separates(text_.text, i, 0);
  }

  // Returns whether a sentence ends at the end of a wrapped line.
  bool wrapped_stop(int64_t end, int64_t next) {
    int64_t i = end;
    while (i > start_ && is_closer(text_.at(text_.before(i)))) i = text_.before(i);
    int64_t run = i;
    while (run > start_) {
      const int64_t b = text_.before(run);
      if (!is_stop_at(text_.at(b), b)) break;
      run = b;
    }
    return run < i && rules_.ends(start_, run, i, end, next);
  }

  void border(int64_t next, uint8_t flags) {
    out_.starts.push_back(next);
    out_.flags.push_back(flags);
    start_ = next;
    if ((flags & kParagraphStart) != 0) quotes_to_ = next, quotes_ = 0;
  }

  void stop(int64_t i, char32_t c, int length) {
    int64_t end = i + length;
    bool joined = is_joined_stop(c);
    for (char32_t d; end < text_.size && is_stop_at(d = text_.at(end, length), end); end += length)
      joined |= is_joined_stop(d);
    // In a pair of shads with a space between them, the second one begins no sentence.
    while (is_shad(c) && text_.is_byte(end, ' ') && is_shad(text_.at(end + 1))) end += 4;
    const int64_t stops = end;
    for (char32_t d; end < text_.size && is_closer(d = text_.at(end, length)) && !(joined && opens(d, end));)
      end += length;
    end = past_detached_quote(past_emoticon(past_references(end)));
    next_ = stops;
    const int64_t next = text_.skip_space(end);
    if (next == text_.size) return;
    if (joined) {
      if (next > end && has_line_break(end, next)) return;
      if (next == end && end > stops && is_quoted(end)) return;
      next_ = next;
      return border(next, 0);
    }
    if (next == end) return unspaced(i, c, stops, end);
    if (has_line_break(end, next)) return;  // the line break decides
    if (!rules_.ends(start_, i, stops, end, next)) return;
    next_ = next;
    border(next, 0);
  }

  // Returns whether a quotation mark opens the next text, after a stop that needs no space. Chinese and Japanese open
  // with U+201C, which closes in German. A straight quote opens if an even number of them precedes it in the paragraph.
  bool opens(char32_t c, int64_t i) { return c == 0x201C || (c == '"' && quotes_before(i) % 2 == 0); }

  // Returns whether the closing mark before i ends a quotation inside a sentence that continues. A Japanese particle
  // shows this, or a clause that names the speaker. The particle's letter also begins words (very, at any rate, at
  // last, suddenly), which the next letter reveals. This case is rare, so the function is kept out of the loop.
  [[gnu::noinline]] bool is_quoted(int64_t i) const {
    const std::string_view rest = text_.slice(i, std::min(text_.size, i + 6));
    if (rest.starts_with("って")) return true;
    constexpr std::string_view kWords[] = {"とて", "とこ", "とに", "とり", "とう", "とつ", "とき"};
    if (rest.starts_with("と") && std::find(std::begin(kWords), std::end(kWords), rest) == std::end(kWords))
      return true;
    const char32_t quote = text_.at(text_.before(i));
    if (quote != '"' && quote != 0x2019 && quote != 0x201D && quote != 0x300D && quote != 0x300F) return false;
    const auto ends_clause = [](char32_t c) {
      return std::u32string_view(U"，。！？：；、,!?:;“「『").find(c) != std::u32string_view::npos;
    };
    int64_t stop = i, last = i;
    int length = 0;
    for (int letters = 0; stop < text_.size && letters < 20; ++letters, last = stop, stop += length) {
      const char32_t c = text_.at(stop, length);
      if (ends_clause(c) || is_space(c)) break;
    }
    if (stop == text_.size || stop == i || !ends_clause(text_.at(stop))) return false;
    const char32_t particle = text_.at(last);
    if (last > i && std::u32string_view(U"着著了过過").find(particle) != std::u32string_view::npos) stop = last;
    return tells_speaker(text_.slice(i, stop));
  }

  // Returns whether the six dots of Chinese end a sentence. They do not in a quotation, or in stuttering.
  [[gnu::noinline]] bool is_chinese_pause(int64_t i, int64_t stops) const {
    if (text_.slice(i, stops) != "……" || i <= start_) return false;
    const int64_t at = text_.before(i);
    const char32_t before = text_.at(at), after = text_.at(stops);
    const auto chinese = [](char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; };
    if (at <= start_ || !chinese(before) || !chinese(after) || before == after) return false;
    for (int64_t b = i, letters = 0; b > start_ && letters < 40; ++letters) {
      b = text_.before(b);
      const char32_t c = text_.at(b);
      if (c == 0x201C || c == 0x300C || c == 0x300E) return false;
    }
    return true;
  }

  // Returns whether a stop ends a sentence without a space after it: a danda, a shad, or an Arabic, Armenian or
  // Ethiopic stop.
  [[gnu::noinline]] bool is_strong(int64_t i, char32_t c, int64_t stops) const {
    switch (c) {
      case 0x2026:
        return is_chinese_pause(i, stops);
      case 0x589:  // this Armenian stop is a colon in "10։30"
        return !(i > 0 && is_digit(text_.at(text_.before(i))) && is_digit(text_.at(stops)));
      case 0x6D4:
        return !rules_.is_initial(start_, i, stops);
      case 0x964:
      case 0x965:
      case 0x61F:
      case 0x1362:
      case 0x1367:
      case 0x17D4:
      case 0x104B:
        return true;
      default:
        return is_shad(c);
    }
  }

  // Skips reference marks such as "[6]", "[6][7]" or " [21]", which belong to the sentence before them.
  int64_t past_references(int64_t end) const {
    for (;;) {
      int64_t i = end;
      if (i < text_.size && text_.byte(i) == ' ') ++i;
      if (i >= text_.size || text_.byte(i) != '[') return end;
      const int64_t digits = ++i;
      while (i < text_.size && i - digits < 4 && is_digit(static_cast<unsigned char>(text_.byte(i)))) ++i;
      if (i == digits || i >= text_.size || text_.byte(i) != ']') return end;
      end = i + 1;
    }
  }

  // Skips an emoticon, which belongs to the sentence before it: "So good! :)", "Thanks.;-)".
  int64_t past_emoticon(int64_t end) const {
    int64_t i = end;
    if (text_.is_byte(i, ' ')) ++i;
    if (!text_.is_byte(i, ':') && !text_.is_byte(i, ';')) return end;
    if (text_.is_byte(++i, '-')) ++i;
    const int64_t mouth = i;
    while (i < text_.size && std::string_view("()DPp").find(text_.byte(i)) != std::string_view::npos) ++i;
    return i > mouth && (i == text_.size || text_.space_at(i) > 0) ? i : end;
  }

  // Skips a closing quote between spaces, as in tokenized text: "it has to." '' "the teams". A straight quote closes if
  // an odd number of them precedes it in the paragraph.
  int64_t past_detached_quote(int64_t end) {
    const int64_t quote = end + text_.space_at(end);
    int length = 0;
    const char32_t c = quote > end ? text_.at(quote) : 0;
    if (quote < text_.size) text_.at(quote, length);
    if (c == '\'') length = 2;
    const bool doubled = c == '\'' && text_.is_byte(quote + 1, '\'');
    if (c != '"' && c != 0x201D && c != 0xBB && !doubled) return end;
    if (quote + length < text_.size && text_.space_at(quote + length) == 0) return end;
    if (c == '"' && quotes_before(quote) % 2 == 0) return end;
    return has_line_break(end, quote) ? end : quote + length;
  }

  // Returns the number of straight quotes in the paragraph before i. Since i only grows, each byte is read once.
  int64_t quotes_before(int64_t i) {
    const std::string_view more = text_.slice(quotes_to_, std::max(quotes_to_, i));
    quotes_ += std::count(more.begin(), more.end(), '"');
    quotes_to_ = std::max(quotes_to_, i);
    return quotes_;
  }

  // Handles stops of scripts that need no space after a stop, and stops without a space in careless writing.
  void unspaced(int64_t i, char32_t c, int64_t stops, int64_t end) {
    if (end != stops || !(is_strong(i, c, stops) || rules_.ends_glued(start_, i, stops))) return;
    next_ = end;
    border(end, 0);
  }

  bool has_line_break(int64_t begin, int64_t end) const {
    int length = 0;
    for (int64_t j = begin; j < end; j += length)
      if (is_line_break(text_.at(j, length))) return true;
    return false;
  }

  Utf8Text text_;
  SentenceRules rules_;
  SentenceList& out_;
  int64_t start_ = 0;                   // of the current sentence, without leading white space
  int64_t next_ = 0;                    // marked bytes before this one are done
  int64_t width_ = 0;                   // line width of a hard-wrapped document; 0 if unknown
  bool wrapped_ = false;                // a single line feed is a space
  bool hyphens_ = true;                 // a line feed after a hyphen is a space
  int64_t quotes_to_ = 0, quotes_ = 0;  // straight quotes counted so far in the paragraph
  const SplitBefore* before_;           // sentences to take over; null if there are none
  int64_t taken_ = 0;                   // bytes of these sentences
  size_t span_ = 0;                     // the next of its spans to take sentences from
};

}  // namespace

uint8_t flags_of_gap(std::string_view gap) {
  const int breaks = count_breaks(as_bytes(gap), as_bytes(gap) + gap.size(), is_line_break);
  const bool page = gap.find('\f') != std::string_view::npos;
  uint8_t flags = 0;
  if (breaks > 0) flags |= kParagraphStart;
  if (breaks > 1 || page) flags |= kBlankLineBefore;
  if (page) flags |= kPageStart;
  return flags;
}

void split_sentences(std::string_view text, Wrap wrap, SentenceList& out) {
  out.clear();
  if (!text.empty()) Splitter(text, out).run(wrap);
}

int64_t split_edited(std::string_view text, Wrap wrap, SplitBefore& before, SentenceList& out) {
  out.clear();
  Splitter splitter(text, out, &before);
  if (!text.empty()) splitter.run(wrap);
  const auto size = static_cast<int64_t>(text.size());
  before = {out, size, splitter.facts(), {}};
  return size - splitter.taken();
}

}  // namespace pychunk
