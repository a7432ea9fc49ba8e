#include "document/cohesion.h"

#include <algorithm>

#include "common/interrupt.h"
#include "text/characters.h"
#include "text/utf8_text.h"
#include "tokens/length.h"

namespace pychunk {
namespace {

// The look of a line: kNone cannot be a heading, kPlain may be one, and kMarked is one by its marks. kLower is like
// kPlain, except that its first letter is lower case.
enum class HeadingLooks : uint8_t { kNone, kLower, kPlain, kMarked };

constexpr std::u32string_view kOpening = U"\"'“‘«„([{", kClosing = U"\"'”’»)]}", kBullets = U"-*+•‣◦▪–—·",
                              kIntroducing = U":：";
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
bool introduces(std::string_view text) { return is_one_of(kIntroducing, last_of(text)); }

// Return the length of the tag or character reference at the start of a text, 0 if there is none.
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

// Return whether a text has no letter outside mark-up, and at most a bare number.
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

// Return whether a text has a digit that is not part of a four-digit year.
bool has_quantity(std::string_view text) {
  const auto is_ascii_digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_ascii_digit(i)) continue;
    const size_t begin = i;
    while (is_ascii_digit(i)) ++i;
    if (i - begin != 4) return true;
  }
  return false;
}

// Return the length of a line's number ("2", "2.1.", "#3:", "b)") with the white space after it, 0 if it has none.
int64_t number_length(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? text[i] : '\0'; };
  const auto is_ascii_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto past_digits = [&](size_t i) {
    const size_t most = i + 3;
    while (i < most && is_ascii_digit(at(i))) ++i;
    return i;
  };
  const size_t begin = at(0) == '#' ? 1 : 0;
  size_t end = past_digits(begin);
  if (end > begin) {
    while (at(end) == '.' && is_ascii_digit(at(end + 1))) end = past_digits(end + 1);
    if (at(end) == '.' || at(end) == ')' || at(end) == ':') ++end;
  } else {
    if (!is_ascii_letter(at(begin)) || (at(begin + 1) != '.' && at(begin + 1) != ')')) return 0;
    end = begin + 2;
  }
  const int space = end < text.size() ? space_length(text, static_cast<int64_t>(end)) : 0;
  return space > 0 ? static_cast<int64_t>(end) + space : 0;
}

bool has_bullet(std::string_view text) {
  const Decoded first = decode_utf8(text, 0);
  return is_one_of(kBullets, first.code_point) && first.length < static_cast<int64_t>(text.size()) &&
         space_length(text, first.length) > 0;
}

// Return whether a text begins with a negation, as the statement "Not for children." does.
bool begins_with_negation(std::string_view text) {
  for (const std::string_view word : {std::string_view("Not"), std::string_view("Не")}) {
    const auto size = static_cast<int64_t>(word.size());
    if (text.starts_with(word) && size < static_cast<int64_t>(text.size()) && space_length(text, size) > 0) return true;
  }
  return false;
}

// Return a lower bound on the number of words in a text.
int64_t least_words(std::string_view text) {
  int64_t words = 1;
  for (size_t i = 1; i < text.size(); ++i) words += text[i - 1] == ' ' && text[i] != ' ';
  return words;
}

struct Looks {
  HeadingLooks looks = HeadingLooks::kNone;
  int64_t words = 0;
};

// Return what a line of one sentence looks like on its own.
Looks looks_of(std::string_view text) {
  if (text.empty() || static_cast<int64_t>(text.size()) > kHeadingBytes) return {};
  if (text[0] != '#' && text[0] != '=' && least_words(text) > kQuestionWords) return {};  // rejects most lines
  const auto size = static_cast<int64_t>(text.size()), number = number_length(text);
  char32_t first = 0, named = 0;  // first: the first letter or digit; named: the first one after the number
  bool letters = false;
  int64_t characters = 0;
  for (int64_t i = 0; i < size; ++characters) {
    const Decoded c = decode_utf8(text, i);
    if (is_letter_or_digit(c.code_point)) {
      if (first == 0) first = c.code_point;
      if (named == 0 && i >= number) named = c.code_point;
    }
    letters = letters || is_letter(c.code_point);
    i += c.length;
  }
  if (first == 0) return {};
  const int64_t marks = std::min<int64_t>(static_cast<int64_t>(text.find_first_not_of('#')), 7);
  if (marks >= 1 && marks <= 6 && space_length(text, marks) > 0) return {HeadingLooks::kMarked};
  if (size > 4 && text.starts_with("==") && text.ends_with("==")) return {HeadingLooks::kMarked};
  const char32_t last = last_of(text), before_last = last_of(without_last(text));
  // A line that begins with a quotation mark or bracket, and ends with one or with a stop, is quoted speech and no
  // heading. A full stop after the closing mark is the exception: the line then quotes the title of a work.
  if (is_one_of(kOpening, first_of(text)) && (is_one_of(kClosing, last) || is_stop(last)) &&
      !(last == '.' && is_one_of(kClosing, before_last)))
    return {};
  if (text[0] == kCell || has_bullet(text)) return {};  // a row of a table, or a list item
  const int64_t words = count_words(text);
  if (is_stop(last)) {
    if (!is_one_of(U".?!…", last) || is_stop(before_last)) return {};
    if (words > (last == '?' ? kQuestionWords : last == '.' ? kHeadingWords : kSentenceWords)) return {};
  } else if (is_one_of(U",;，；、-–—", last) || words > (introduces(text) ? kIntroductionWords : kHeadingWords)) {
    return {};
  }
  if (!letters && characters < 4) return {};
  return {case_of(named == 0 ? first : named) == Case::kLower ? HeadingLooks::kLower : HeadingLooks::kPlain, words};
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
      const bool word = !own.empty() && is_ascii_letter(own[0]);  // true for most sentences
      scrap_[static_cast<size_t>(s)] = !word && is_scrap(own);
    }
    if (borders_.levels.empty()) {
      find_headings();
      borders_.levels = heading_;
    } else {
      heading_ = borders_.levels;
    }
    borders_.cohesion.assign(n, Cohesion::kOpen);
    bool led = false;  // the previous sentence belongs to what follows it
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
        borders_.cohesion[static_cast<size_t>(s)] = led                                ? Cohesion::kLead
                                                    : trails                           ? Cohesion::kTrail
                                                    : heading_[static_cast<size_t>(s)] ? Cohesion::kSection
                                                                                       : Cohesion::kOpen;
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
  // Return whether a text begins with a mark that closes what precedes it. A letter or digit directly after the mark
  // would show that it closes nothing.
  static bool begins_closed(std::string_view text) {
    if (!is_one_of(kClosing, first_of(text))) return false;
    const std::string_view rest = text.substr(static_cast<size_t>(decode_utf8(text, 0).length));
    return !is_letter_or_digit(first_of(rest));
  }

  // A line: sentences [first, last), whose text ends with the character `ending`.
  struct Line {
    int64_t first, last, bytes;
    Break before;
    Looks own;
    char32_t ending;
    bool numbered, item, names_value;
    int32_t run;            // the number of consecutive plain-looking lines up to this one
    bool quantity = false;  // looks plain and has a quantity
    bool single() const { return last == first + 1; }
    bool looks_plain() const { return own.looks == HeadingLooks::kPlain; }
    bool stops() const { return is_stop(ending); }
    bool introduces() const { return is_one_of(kIntroducing, ending); }
    // Return whether the line is complete: the next line does not continue it, as it may in a list, a title or a table.
    bool is_complete() const { return bytes >= kProseBytes || stops() || item || !single(); }
  };

  void find_lines() {
    for (int64_t s = 0, last = 0; s < sentences_; s = last) {
      checkpoint_each(s, 4096);
      for (last = s + 1; last < sentences_ && border(last) <= Break::kSentence;) ++last;
      const std::string_view begins = sentence(s), ends = sentence(last - 1);
      Line line{s,     last, ends.data() + ends.size() - begins.data(), border(s), {}, last_of(ends), false, false,
                false, 0};
      if (!begins.empty()) {
        line.numbered = number_length(begins) > 0;
        line.item = line.numbered || has_bullet(begins);
      }
      if (line.single()) line.own = looks_of(begins);
      line.names_value = line.looks_plain() && begins.find(": ") != std::string_view::npos;
      line.quantity = line.looks_plain() && has_quantity(begins.substr(static_cast<size_t>(number_length(begins))));
      // The previous line ends a block if it is closer to the line above it than to this line.
      const bool in_block = !lines_.empty() && line.before < Break::kPage && line.before <= lines_.back().before;
      if (line.looks_plain()) line.run = 1 + (in_block ? lines_.back().run : 0);
      lines_.push_back(line);
    }
  }

  // Mark the headings. If more of the one-sentence lines with a full stop turn out to be text than headings, a second
  // pass follows with `statements_` set.
  void find_headings() {
    find_lines();
    mark_headings();
    int64_t headings = 0, stopped = 0;
    for (const Line& line : lines_) {
      if (!line.single() || line.ending != '.') continue;
      ++stopped;
      headings += heading_[static_cast<size_t>(line.first)];
    }
    statements_ = 2 * headings < stopped;
    if (statements_) mark_headings();
  }

  // Mark the headings among lines from the last one to the first, because the following line decides. Fragments are
  // skipped when looking at neighbours.
  void mark_headings() {
    Following following;
    for (size_t i = lines_.size(); i-- > 0;) {
      checkpoint_each(static_cast<int64_t>(i), 4096);
      const Line& line = lines_[i];
      const auto s = static_cast<size_t>(line.first);
      const Break after = border(line.last);
      if (line.single() && scrap_[s] && line.own.looks < HeadingLooks::kPlain) {
        // The number of a heading may be on a line of its own.
        heading_[s] = after < Break::kPage && after <= line.before && heading_[static_cast<size_t>(line.last)] &&
                      has_digit(sentence(line.first));
        continue;
      }
      const bool found = after < Break::kPage && is_heading(i, after, following);
      heading_[s] = found;
      following = {&line, found ? following.run + 1 : 0, found && line.own.looks == HeadingLooks::kMarked};
    }
  }

  // The following line, and the number of consecutive headings that begin with it.
  struct Following {
    const Line* line = nullptr;
    int64_t run = 0;
    bool marked = false;
  };

  // Return whether a line above a heading is the content of the section before, rather than another heading.
  bool says(const Line& own, const Line* before, const Line& behind) const {
    const std::string_view text = sentence(own.first);
    const char32_t first = first_of(text);
    if (!is_letter_or_digit(first) && first != '#' && !is_one_of(kOpening, first)) return true;
    const bool stops = behind.ending == '.';
    if (own.ending == '.')
      return begins_with_negation(text) || (statements_ && stops && own.own.words >= kStatementWords);
    // A line without a stop, directly below another line, is such content if the heading below it ends with a full
    // stop, or introduces what follows, as a colon does.
    const bool close = before != nullptr && own.before == Break::kLine;
    return close && !own.stops() && (stops || behind.introduces());
  }

  bool is_heading(size_t i, Break after, const Following& next) const {
    const Line& own = lines_[i];
    if (own.own.looks == HeadingLooks::kMarked) return true;
    // A line that is closer to the previous line than to the next one belongs to the previous line.
    if (own.own.looks == HeadingLooks::kNone || next.line == nullptr || next.run >= kHeadingRun || after > own.before)
      return false;
    const Line* before = i > 0 && own.before < Break::kPage ? &lines_[i - 1] : nullptr;
    const Line& behind = *next.line;
    const bool blank = own.before >= Break::kBlankLine, apart = blank && after >= Break::kBlankLine;
    const bool after_prose = before == nullptr || before->is_complete();
    const bool complete = after_prose || before->before < own.before;
    const bool introduced = before != nullptr && before->introduces();
    const bool ends = behind.stops() || behind.introduces();
    const bool prose = behind.bytes >= kProseBytes || (behind.bytes > own.bytes && ends);
    // A numbered line whose neighbours are not numbered is no list item.
    const bool numbered = own.numbered && !behind.numbered && (before == nullptr || !before->numbered);
    // A line that ends with a full stop is a short paragraph if a blank line follows it.
    if (own.ending == '.' && after >= Break::kBlankLine && !(numbered && complete && prose)) return false;
    // A line with a full stop and more than kSentenceWords words is text, unless far more text follows it.
    if (own.ending == '.' && own.own.words > kSentenceWords &&
        !(complete && own.run == 1 && (next.run > 0 ? behind.ending != '.' : behind.bytes >= 2 * own.bytes)))
      return false;
    // A line with a quantity directly above a heading that ends with a stop is the content of the section before: "2
    // tablets."
    if (own.ending == '.' && own.quantity && next.run > 0 && !blank && before != nullptr && before->is_complete())
      return false;
    if (own.own.looks == HeadingLooks::kLower)
      return apart && complete && prose && next.run == 0 && own.own.words <= kSentenceWords && own.ending != '.' &&
             !own.introduces();
    if (own.introduces()) {
      if (introduced) return false;
      if (complete) return blank;
      return own.own.words <= kLabelWords && next.run == 0 && behind.bytes > own.bytes && before->single();
    }
    // After a line that introduces it, a line without a stop is a list item.
    if (introduced && !own.stops() && (!prose || own.before == Break::kLine)) return false;
    if (next.marked) return apart && complete && !own.stops();
    if (next.run > 0 && says(own, before, behind)) return false;
    // Several short lines without a stop above a heading are a list before it, and so are two lines that name a value.
    if (next.run > 0)
      return own.ending == '.' ||
             (own.run <= kHeadingsAbove && !(own.run > 1 && own.names_value && before->names_value));
    if (prose) return true;
    if (complete && (behind.item || ends) && (blank || own.ending == '.')) return true;
    if (own.ending == '.' && complete && !behind.stops() && own.own.words <= kSentenceWords && !statements_)
      return true;
    // A line that names no value between lists of values is a heading.
    if (blank && before != nullptr && before->names_value && behind.names_value && !own.names_value) return true;
    // A line above short lines is a title. If these follow without a blank line, they could also be a stanza.
    if (blank && (numbered || (after_prose && own.run == 1 && behind.looks_plain()))) return true;
    return apart && complete;
  }

  std::string_view text_;
  std::span<const int64_t> starts_;
  Borders& borders_;
  int64_t sentences_;
  std::vector<Trimmed> inside_;
  std::vector<uint8_t> heading_, scrap_;
  std::vector<Line> lines_;
  bool statements_ = false;  // lines that end with a full stop are text rather than headings
};

}  // namespace

void find_cohesion(std::string_view text, std::span<const int64_t> starts, Borders& borders) {
  TieFinder(text, starts, borders).run();
}

}  // namespace pychunk
