#include "atoms.h"

#include <algorithm>

#include "characters.h"
#include "interrupt.h"
#include "measure.h"
#include "utf8_text.h"

namespace pychunk {
namespace {

enum class HeadingLooks : uint8_t { kNone, kPlain, kMarked };

constexpr std::u32string_view kOpening = U"\"'“‘«„([{", kClosing = U"\"'”’»)]}", kBullets = U"-*+•‣◦▪–—·";
constexpr char kCell = '|';

bool is_one_of(std::u32string_view characters, char32_t c) { return characters.find(c) != std::u32string_view::npos; }
bool is_letter_or_digit(char32_t c) { return is_letter(c) || is_digit(c); }

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

char32_t first_of(std::string_view text) { return text.empty() ? 0 : decode_utf8(text, 0).code_point; }
char32_t last_of(std::string_view text) {
  return text.empty() ? 0 : decode_utf8(text, character_before(text, static_cast<int64_t>(text.size()))).code_point;
}
std::string_view without_last(std::string_view text) {
  return text.substr(0, static_cast<size_t>(character_before(text, static_cast<int64_t>(text.size()))));
}
bool introduces(std::string_view text) { return is_one_of(U":：", last_of(text)); }

// Length of the tag or character reference at the start of text, 0 if there is none.
size_t markup_length(std::string_view text) {
  if (text[0] == '<') {
    const size_t at = text.find_first_of("<>", 1);
    return at != std::string_view::npos && text[at] == '>' ? at + 1 : 0;
  }
  if (text[0] != '&') return 0;
  const auto is_name = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '#';
  };
  size_t end = 1;
  while (end < text.size() && end <= 10 && is_name(text[end])) ++end;
  return end > 1 && end < text.size() && text[end] == ';' ? end + 1 : 0;
}

// No letter outside of mark-up, and no more than a bare number.
bool is_scrap(std::string_view text) {
  bool digits = false;
  int64_t characters = 0;
  for (size_t i = 0; i < text.size();) {
    if (const size_t length = markup_length(text.substr(i)); length > 0) {
      i += length;
      continue;
    }
    const Decoded c = decode_utf8(text, static_cast<int64_t>(i));
    if (is_letter(c.code_point)) return false;
    digits = digits || is_digit(c.code_point);
    ++characters;
    i += static_cast<size_t>(c.length);
  }
  return !digits || characters <= kNumberCharacters;
}

bool has_digit(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What a line looks like by itself.
HeadingLooks looks_of(std::string_view text) {
  if (text.empty() || static_cast<int64_t>(text.size()) > kHeadingBytes) return HeadingLooks::kNone;
  const auto size = static_cast<int64_t>(text.size());
  char32_t first = 0;  // letter or digit
  bool letters = false;
  int64_t characters = 0;
  for (int64_t i = 0; i < size; ++characters) {
    const Decoded c = decode_utf8(text, i);
    if (first == 0 && is_letter_or_digit(c.code_point)) first = c.code_point;
    letters = letters || is_letter(c.code_point);
    i += c.length;
  }
  if (first == 0) return HeadingLooks::kNone;
  const int64_t marks = std::min<int64_t>(static_cast<int64_t>(text.find_first_not_of('#')), 7);
  if (marks >= 1 && marks <= 6 && space_length(text, marks) > 0) return HeadingLooks::kMarked;
  if (size > 4 && text.starts_with("==") && text.ends_with("==")) return HeadingLooks::kMarked;
  const Decoded begins = decode_utf8(text, 0);
  const char32_t last = last_of(text), before_last = last_of(without_last(text));
  // Speech ends with its stop inside, a title of a work with the stop behind it.
  if (is_one_of(kOpening, begins.code_point) && !(last == '.' && is_one_of(kClosing, before_last)))
    return HeadingLooks::kNone;
  if (begins.code_point == kCell) return HeadingLooks::kNone;  // a row of a table
  if (is_one_of(kBullets, begins.code_point) && begins.length < size && space_length(text, begins.length) > 0)
    return HeadingLooks::kNone;
  const int64_t words = count_words(text);
  if (words > kHeadingWords) return HeadingLooks::kNone;
  if (is_stop(last)) {
    if ((last != '.' && last != '?') || is_stop(before_last) || words > 8) return HeadingLooks::kNone;
  } else if (is_one_of(U",;:，；：、-–—", last)) {
    return HeadingLooks::kNone;
  }
  if (!letters && characters < 4) return HeadingLooks::kNone;
  return case_of(first) == Case::kLower ? HeadingLooks::kNone : HeadingLooks::kPlain;
}

class TieFinder {
 public:
  TieFinder(std::string_view text, std::span<const int64_t> starts, Borders& borders)
      : text_(text), starts_(starts), borders_(borders), sentences_(static_cast<int64_t>(starts.size())) {}

  void run() {
    const auto n = static_cast<size_t>(sentences_);
    heading_.assign(n, 0), scrap_.assign(n, 0), inside_.resize(n);
    for (int64_t s = 0; s < sentences_; ++s) {
      checkpoint_each(s, 4096);
      inside_[static_cast<size_t>(s)] = trim(text_, starts_[static_cast<size_t>(s)], end(s));
      const std::string_view own = sentence(s);
      const bool word = !own.empty() && is_ascii_letter(own[0]);  // most of them
      scrap_[static_cast<size_t>(s)] = !word && is_scrap(own);
    }
    if (borders_.levels.empty()) {
      find_headings();
      borders_.levels = heading_;
    } else {
      heading_ = borders_.levels;
    }
    borders_.ties.assign(n, Tie::kOpen);
    bool led = false;  // the sentence before leads
    for (int64_t s = 0; s < sentences_; ++s) {
      const Break before = border(s), after = border(s + 1);
      const std::string_view own = sentence(s);
      bool leads = false, trails = false;
      if (scrap_[static_cast<size_t>(s)] && !heading_[static_cast<size_t>(s)]) {
        leads = after < Break::kPage && ((led && before < Break::kPage) || after < before);
        trails = !leads;
      } else {
        const bool opens = after == Break::kSentence && is_one_of(U"“‘«„([{", last_of(own)) && own.size() > 1 &&
                           ends_with_space(without_last(own));
        const bool introduces_next = after > Break::kSentence && after < Break::kPage && introduces(own) &&
                                     !heading_[static_cast<size_t>(s) + 1];
        leads = after < Break::kPage && (heading_[static_cast<size_t>(s)] || introduces_next || opens);
        trails = before == Break::kSentence && begins_closed(own);
      }
      if (s > 0 && before < Break::kPage)
        borders_.ties[static_cast<size_t>(s)] = led                                ? Tie::kLead
                                                : trails                           ? Tie::kTrail
                                                : heading_[static_cast<size_t>(s)] ? Tie::kSection
                                                                                   : Tie::kOpen;
      led = leads;
    }
  }

 private:
  int64_t end(int64_t s) const {
    return s + 1 < sentences_ ? starts_[static_cast<size_t>(s) + 1] : static_cast<int64_t>(text_.size());
  }
  std::string_view sentence(int64_t s) const {
    const Trimmed inside = inside_[static_cast<size_t>(s)];
    return slice(text_, inside.begin, std::max(inside.begin, inside.end));
  }
  Break border(int64_t s) const { return s < sentences_ ? borders_.breaks[static_cast<size_t>(s)] : Break::kDocument; }

  static bool ends_with_space(std::string_view text) {
    return !text.empty() && space_length(text, character_before(text, static_cast<int64_t>(text.size()))) > 0;
  }
  // Begins with a mark that closes what is before: nothing of a word is behind it.
  static bool begins_closed(std::string_view text) {
    if (!is_one_of(kClosing, first_of(text))) return false;
    const std::string_view rest = text.substr(static_cast<size_t>(decode_utf8(text, 0).length));
    return !is_letter_or_digit(first_of(rest));
  }

  // Lines from the last one up, as what follows decides. Lines that are scraps are looked through.
  void find_headings() {
    int64_t run = 0, following = 0, last = sentences_;  // [s, last): the line at hand
    bool marked = false;                                // the heading that follows
    bool prose_ends = false;                            // the line that follows ends with a stop, or introduces
    for (int64_t s = sentences_ - 1; s >= 0; --s) {
      checkpoint_each(s, 4096);
      if (border(s) <= Break::kSentence) continue;
      const bool single = last == s + 1;
      if (!(single && scrap_[static_cast<size_t>(s)] && looks_of(sentence(s)) == HeadingLooks::kNone)) {
        const std::string_view ending = sentence(last - 1);
        const int64_t bytes = ending.data() + ending.size() - sentence(s).data();
        const bool found = single && border(last) < Break::kPage && run < kHeadingRun &&
                           is_heading(s, bytes, marked ? 0 : run, following, prose_ends);
        heading_[static_cast<size_t>(s)] = found;
        run = found ? run + 1 : 0;
        marked = found && looks_of(sentence(s)) == HeadingLooks::kMarked;
        following = bytes, prose_ends = is_stop(last_of(ending)) || introduces(ending);
      } else if (last < sentences_ && border(last) < Break::kPage && border(last) <= border(s)) {
        // The number of a heading, on a line of its own.
        heading_[static_cast<size_t>(s)] = heading_[static_cast<size_t>(last)] && has_digit(sentence(s));
      }
      last = s;
    }
  }
  bool is_heading(int64_t s, int64_t bytes, int64_t run, int64_t following, bool prose_ends) const {
    const std::string_view own = sentence(s);
    const HeadingLooks looks = looks_of(own);
    if (looks != HeadingLooks::kPlain) return looks == HeadingLooks::kMarked;
    const Break before = border(s), after = border(s + 1);
    const char32_t last = last_of(own);
    // Where blank lines set lines apart, one that ends with a full stop is a short paragraph.
    if (last == '.' && (after >= Break::kBlankLine || before == Break::kBlankLine)) return false;
    // Behind a line that introduces it a line without a stop is an item.
    if (before == Break::kLine && s > 0 && !is_stop(last) && introduces(sentence(s - 1))) return false;
    const bool apart = before >= Break::kBlankLine && after >= Break::kBlankLine;
    const bool prose = following >= kProseBytes || (following > bytes && prose_ends);
    return run > 0 || prose || (apart && !is_stop(last));
  }

  std::string_view text_;
  std::span<const int64_t> starts_;
  Borders& borders_;
  int64_t sentences_;
  std::vector<Trimmed> inside_;
  std::vector<uint8_t> heading_, scrap_;
};

}  // namespace

void find_ties(std::string_view text, std::span<const int64_t> starts, Borders& borders) {
  TieFinder(text, starts, borders).run();
}

}  // namespace pychunk
