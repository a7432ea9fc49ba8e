#include "text.h"

#include <algorithm>
#include <iterator>

#include "abbreviations.h"
#include "dispatch.h"
#include "wrap.h"

namespace pychunk {
namespace {

enum class Case : uint8_t { kNone, kLower, kUpper };

Case case_of(char32_t c) {
  const auto alternate = [&](bool even_is_upper) {
    return ((c & 1) == 0) == even_is_upper ? Case::kUpper : Case::kLower;
  };
  if (c < 0x80) {
    if (c >= 'a' && c <= 'z') return Case::kLower;
    return c >= 'A' && c <= 'Z' ? Case::kUpper : Case::kNone;
  }
  if (c < 0xC0) return c == 0xB5 ? Case::kLower : Case::kNone;
  if (c < 0x100) return c == 0xD7 || c == 0xF7 ? Case::kNone : c < 0xDF ? Case::kUpper : Case::kLower;
  if (c < 0x180) {
    if (c == 0x138 || c == 0x149 || c == 0x17F) return Case::kLower;
    if (c == 0x178) return Case::kUpper;
    return alternate(!((c >= 0x139 && c <= 0x148) || c >= 0x179));
  }
  if (c >= 0x386 && c <= 0x3AB) return c == 0x390 ? Case::kLower : Case::kUpper;
  if (c >= 0x3AC && c <= 0x3CE) return Case::kLower;
  if (c >= 0x400 && c <= 0x42F) return Case::kUpper;
  if (c >= 0x430 && c <= 0x45F) return Case::kLower;
  if ((c >= 0x460 && c <= 0x481) || (c >= 0x48A && c <= 0x4BF) || (c >= 0x4D0 && c <= 0x52F)) return alternate(true);
  if (c >= 0x531 && c <= 0x556) return Case::kUpper;
  if (c >= 0x561 && c <= 0x587) return Case::kLower;
  if (c >= 0x1E00 && c <= 0x1EFF) return alternate(true);
  return Case::kNone;
}

bool is_line_break(char32_t c) {
  return (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

bool is_ascii_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }
bool is_letter(char32_t c) { return case_of(c) != Case::kNone || (c >= 0x5D0 && c < 0x2000) || c >= 0x2C00; }

// Stops after which a sentence may end only before white space, and those that need none.
bool is_spaced_stop(char32_t c) {
  switch (c) {
    case '.':
    case '!':
    case '?':
    case 0x2026:
    case 0x203C:
    case 0x203D:
    case 0x2047:
    case 0x2048:
    case 0x2049:
    case 0x61F:
    case 0x6D4:
    case 0x589:
    case 0x964:
    case 0x965:
    case 0x1362:
    case 0x1367:
    case 0x17D4:
    case 0x17D5:
    case 0x104A:
    case 0x104B:
      return true;
    default:
      return false;
  }
}
bool is_joined_stop(char32_t c) { return c == 0x3002 || c == 0xFF01 || c == 0xFF1F || c == 0xFF61; }
bool is_stop(char32_t c) { return is_spaced_stop(c) || is_joined_stop(c); }

bool is_closer(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case ')':
    case ']':
    case '}':
    case 0xBB:
    case 0xAB:
    case 0x2019:
    case 0x201D:
    case 0x201C:
    case 0x203A:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0x3015:
    case 0x3009:
    case 0x300B:
    case 0xFF09:
    case 0xFF3D:
      return true;
    default:
      return false;
  }
}
bool is_opener_mark(char32_t c) {
  switch (c) {
    case '"':
    case '\'':
    case '(':
    case '[':
    case '{':
    case '*':
    case '_':
    case 0xAB:
    case 0xBB:
    case 0x2018:
    case 0x2019:
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201A:
    case 0x2039:
    case 0xBF:
    case 0xA1:
      return true;
    default:
      return false;
  }
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Splits one document.
class Splitter {
 public:
  Splitter(std::string_view text, SentenceList& out)
      : text_(text), size_(static_cast<int64_t>(text.size())), out_(out) {}

  void run(Wrap wrap) {
    first_ = skip_space(0);
    if (first_ == size_) return;
    out_.starts.push_back(0);
    out_.flags.push_back(kParagraphStart);
    start_ = first_;
    thread_local std::vector<uint64_t> bits;
    bits.resize((text_.size() + 63) / 64);
    kernels().mark_stops(reinterpret_cast<const uint8_t*>(text_.data()), text_.size(), bits.data());
    if (wrap == Wrap::kAuto) find_wrap(bits);
    for (size_t block = static_cast<size_t>(next_) / 64; block < bits.size(); ++block)
      for (uint64_t mask = bits[block]; mask != 0; mask &= mask - 1) {
        const auto at = static_cast<int64_t>(64 * block) + __builtin_ctzll(mask);
        if (at >= next_) candidate(at);
      }
    mark_heading();
  }

 private:
  char byte(int64_t i) const { return text_[static_cast<size_t>(i)]; }
  char32_t at(int64_t i, int& length) const { return decode(text_, static_cast<size_t>(i), length); }
  char32_t at(int64_t i) const {
    int length = 0;
    return i < size_ ? at(i, length) : 0;
  }
  int64_t before(int64_t i) const {
    do --i;
    while (i > 0 && continues(byte(i)));
    return i;
  }
  int space_at(int64_t i) const { return i < size_ ? space_length(text_, static_cast<size_t>(i)) : 0; }
  int64_t skip_space(int64_t i) const {
    for (int length; i < size_ && (length = space_at(i)) > 0;) i += length;
    return i;
  }

  void find_wrap(const std::vector<uint64_t>& bits) {
    thread_local std::vector<int64_t> breaks;
    breaks.clear();
    for (size_t block = 0; block < bits.size(); ++block)
      for (uint64_t mask = bits[block]; mask != 0; mask &= mask - 1) {
        const auto i = static_cast<int64_t>(64 * block) + __builtin_ctzll(mask);
        if (byte(i) == '\n') breaks.push_back(i);
      }
    width_ = wrap_width(text_, breaks);
  }

  void candidate(int64_t i) {
    if (continues(byte(i))) i = before(i);  // marked at its second byte
    int length = 0;
    const char32_t c = at(i, length);
    if (is_line_break(c)) return line_break(i, length);
    if (!is_stop(c) || i < start_) return;
    stop(i, c, length);
  }

  void line_break(int64_t i, int length) {
    if (i < start_) return;
    int64_t gap = i;
    while (gap > start_ && space_before(gap) > 0) gap -= space_before(gap);
    const int64_t next = skip_space(i + length);
    next_ = next;
    if (next == size_) return;
    int breaks = 0;
    bool page = false;
    for (int64_t j = gap; j < next; j += length) {
      const char32_t c = at(j, length);
      if (c == '\r' && j + 1 < next && byte(j + 1) == '\n') ++length;
      breaks += is_line_break(c);
      page |= c == '\f';
    }
    if (width_ > 0 && breaks == 1 && !page && byte(i) == '\n' && !line_break_separates(text_, i, width_)) {
      if (wrapped_stop(gap, next)) border(next, 0);
      return;
    }
    uint8_t flags = kParagraphStart;
    if (breaks > 1 || page) flags |= kBlankLineBefore;
    if (page) flags |= kPageStart;
    mark_heading(next);
    border(next, flags);
  }

  int space_before(int64_t i) const {
    if (i <= 0) return 0;
    const int64_t b = before(i);
    return space_length(text_, static_cast<size_t>(b)) > 0 ? static_cast<int>(i - b) : 0;
  }

  // Whether a sentence ends where a wrapped line does.
  bool wrapped_stop(int64_t end, int64_t next) {
    int64_t i = end;
    while (i > start_ && is_closer(at(before(i)))) i = before(i);
    int64_t run = i;
    while (run > start_ && is_stop(at(before(run)))) run = before(run);
    return run < i && ends_sentence(run, i, end, next);
  }

  void border(int64_t next, uint8_t flags) {
    out_.starts.push_back(next);
    out_.flags.push_back(flags);
    start_ = next;
    paragraph_ = (flags & kParagraphStart) != 0;
  }

  // A short line of its own that begins its paragraph and is all of it is a heading: "Biography.", "1.
  // Introduction".
  void mark_heading(int64_t next = -1) {
    const int64_t end = next < 0 ? size_ : next;
    if (!paragraph_ || end - start_ > 80) return;
    const std::string_view line = text_.substr(static_cast<size_t>(start_), static_cast<size_t>(end - start_));
    const size_t last = line.find_last_not_of(" \t\r\n\f\v");
    if (last == std::string_view::npos || last > 60) return;
    const Case first = case_of(at(start_));
    const bool marked = line[0] == '#' || is_digit(static_cast<unsigned char>(line[0]));
    const bool spaced = std::count(line.begin(), line.begin() + static_cast<int64_t>(last), ' ') <= 7;
    const bool open = line[last] != '!' && line[last] != '?' && line[last] != ',' && line[last] != ';';
    if ((first == Case::kUpper || marked) && spaced && open) out_.flags.back() |= kHeading;
  }

  void stop(int64_t i, char32_t c, int length) {
    int64_t end = i + length;
    bool joined = is_joined_stop(c);
    for (char32_t d; end < size_ && is_stop(d = at(end, length)); end += length) joined |= is_joined_stop(d);
    const int64_t stops = end;
    while (end < size_ && is_closer(at(end, length))) end += length;
    end = past_references(end);
    next_ = stops;
    const int64_t next = skip_space(end);
    if (next == size_) return;
    if (joined) {
      if (next > end && has_line_break(end, next)) return;
      next_ = next;
      return border(next, 0);
    }
    if (next == end) return unspaced(c, stops, end);
    if (has_line_break(end, next)) return;  // the line break decides
    if (!ends_sentence(i, stops, end, next)) return;
    next_ = next;
    border(next, 0);
  }

  // Past reference marks such as "[6]", "[6][7]" or " [21]", which belong to the sentence before them.
  int64_t past_references(int64_t end) const {
    for (;;) {
      int64_t i = end;
      if (i < size_ && byte(i) == ' ') ++i;
      if (i >= size_ || byte(i) != '[') return end;
      const int64_t digits = ++i;
      while (i < size_ && i - digits < 4 && is_digit(static_cast<unsigned char>(byte(i)))) ++i;
      if (i == digits || i >= size_ || byte(i) != ']') return end;
      end = i + 1;
    }
  }

  // A danda or an Arabic, Armenian or Ethiopic stop ends a sentence without a space, too.
  void unspaced(char32_t c, int64_t stops, int64_t end) {
    const bool strong =
        c == 0x964 || c == 0x965 || c == 0x61F || c == 0x6D4 || c == 0x1362 || c == 0x17D4 || c == 0x104B;
    if (!strong || end != stops) return;
    next_ = end;
    border(end, 0);
  }

  bool has_line_break(int64_t begin, int64_t end) const {
    int length = 0;
    for (int64_t j = begin; j < end; j += length)
      if (is_line_break(at(j, length))) return true;
    return false;
  }

  // Whether stops [i, stops), closers [stops, end) and white space [end, next) end a sentence.
  bool ends_sentence(int64_t i, int64_t stops, int64_t end, int64_t next) {
    int length = 0;
    int64_t inside = next;  // first letter or digit of what follows, past opening marks
    char32_t c = at(inside, length);
    bool dash = false;
    while (inside < size_ && (is_opener_mark(c) || c == '-' || c == 0x2013 || c == 0x2014)) {
      dash |= !is_opener_mark(c);
      inside += length;
      inside = dash ? skip_space(inside) : inside;
      if (inside >= size_) return true;
      c = at(inside, length);
    }
    if (c == ',' || c == ';' || c == ':' || c == ')' || c == ']' || c == '.') return false;
    const Case follows = case_of(c);
    if (follows == Case::kLower) return inside == next && end == stops && ends_before_lower(i, stops);
    const bool full_stop = stops - i == 1 && byte(i) == '.';
    if (!full_stop) {
      const char32_t stop_char = at(i);
      if (stop_char == '.' || stop_char == 0x2026)
        return follows == Case::kUpper || is_digit(c) || inside > next || is_letter(c);
      return true;
    }
    if (end > stops) return true;  // a quote or bracket closes after the stop
    return full_stop_ends(i, inside, c, follows);
  }

  // Whether stops [i, stops) end a sentence although a lower-case letter follows, as in hasty writing: after
  // a question mark, or after a plain lower-case word that can hardly be an abbreviation.
  bool ends_before_lower(int64_t i, int64_t stops) {
    if (byte(i) == '?') return true;
    if ((byte(i) != '.' || stops - i > 1) && byte(i) != '!') return false;
    int64_t begin = i;
    bool vowel = false;
    while (begin > start_ && byte(begin - 1) >= 'a' && byte(begin - 1) <= 'z') {
      --begin;
      vowel |= std::string_view("aeiouy").find(byte(begin)) != std::string_view::npos;
    }
    const auto length = static_cast<size_t>(i - begin);
    if (length < 2 || !vowel || begin == start_ || (byte(begin - 1) != ' ' && byte(begin - 1) != '\'')) return false;
    const std::string_view word = text_.substr(static_cast<size_t>(begin), length);
    return abbreviation(word) == Abbreviation::kNone && (length >= 4 || byte(i) == '!' || is_short_word(word)) &&
           !ordinals();
  }

  static bool is_short_word(std::string_view word) {
    static constexpr std::string_view kWords[] = {
        "it",  "so",  "me",  "us",  "up",  "on",  "in",  "be",  "do",  "go",  "he",  "she", "you", "him", "her",
        "too", "now", "out", "one", "two", "all", "day", "way", "yet", "ago", "bad", "dog", "cat", "car", "job",
        "lot", "man", "old", "new", "off", "own", "say", "see", "try", "use", "was", "why", "yes", "is",  "are"};
    return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
  }

  // Whether the single full stop at i ends a sentence before a capital, a digit or a letter without case.
  bool full_stop_ends(int64_t i, int64_t inside, char32_t c, Case follows) {
    int64_t begin = i;  // of the word before the stop
    for (int steps = 0; begin > start_ && steps < 40; ++steps) {
      const int64_t b = before(begin);
      const char32_t d = at(b);
      if (is_space(d) || is_opener_mark(d) || d == '/' || d == 0x2013 || d == 0x2014) break;
      begin = b;
    }
    std::string_view word = text_.substr(static_cast<size_t>(begin), static_cast<size_t>(i - begin));
    while (!word.empty() && is_opener_mark(static_cast<unsigned char>(word[0]))) word.remove_prefix(1);
    if (word.empty()) return true;
    const std::string_view following = word_at(inside);
    const bool opens = is_opener(following);
    const Abbreviation kind = abbreviation(word);
    switch (kind) {
      case Abbreviation::kOpen:
        return false;
      case Abbreviation::kNumber:
        return !is_digit(c) && c != '#' && c != 0x2116 && !is_roman(following) && (opens || is_ascii_lower(word[0]));
      case Abbreviation::kTitle:  // of a name, so capitalised: "Wash." is a state, "wash." is not
        return opens ||
               (is_ascii_lower(word[0]) && word.find('.') == std::string_view::npos && word != "jr" && word != "sr");
      case Abbreviation::kMayClose:
        return follows == Case::kUpper && at(i + 2) != '(';
      case Abbreviation::kNone:
        break;
    }
    int first_length = 0;
    const char32_t first = at(begin, first_length);
    const bool one_letter = begin + first_length == i;
    if (one_letter && case_of(first) == Case::kUpper) {
      if (first == 'I' && begin > start_ && !is_name_before(begin)) return true;
      return opens && begin > start_;  // an initial, "J. K. Rowling", unless a sentence clearly opens: "vitamin C. The"
    }
    if (word.find('.') != std::string_view::npos && is_dotted(word)) return opens;
    if (std::all_of(word.begin(), word.end(), [](char d) { return is_digit(static_cast<unsigned char>(d)); })) {
      if (begin == start_) return false;  // an item's number: "1. Item"
      return word.size() > 3 || opens || !ordinals();
    }
    if (begin == start_ && word.size() <= 5 && (is_roman(word) || one_letter))
      return false;  // "IV. Results", "a. Item"
    if (is_roman(word) && word.size() > 1) return opens || !ordinals();
    return true;
  }

  std::string_view word_at(int64_t begin) const {
    int64_t end = begin;
    for (int length = 0; end < size_ && end - begin < 40; end += length) {
      const char32_t c = at(end, length);
      if (!is_letter(c) && c != '\'') break;
    }
    return text_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }

  // Whether a capitalised word ends right before the space before `begin`: "Henry I. Smith".
  bool is_name_before(int64_t begin) const {
    int64_t i = begin;
    while (i > start_ && space_before(i) > 0) i -= space_before(i);
    int64_t word = i;
    while (word > start_ && is_letter(at(before(word)))) word = before(word);
    return word < i && case_of(at(word)) == Case::kUpper;
  }

  // Letters between stops: "U.S", "e.g", "p.m".
  static bool is_dotted(std::string_view word) {
    size_t run = 0;
    for (const char c : word) {
      if (c == '.') {
        if (run == 0) return false;
        run = 0;
      } else if (!continues(c) && ++run > 2) {
        return false;
      }
    }
    return true;
  }

  static bool is_roman(std::string_view word) {
    return !word.empty() && word.size() <= 6 && word.find_first_not_of("IVXLCM") == std::string_view::npos;
  }

  bool ordinals() {
    if (ordinals_ < 0) ordinals_ = writes_ordinals_with_stop(text_);
    return ordinals_ == 1;
  }

  std::string_view text_;
  int64_t size_;
  SentenceList& out_;
  int64_t first_ = 0;      // first character that is not white space
  int64_t start_ = 0;      // of the current sentence, without leading white space
  int64_t next_ = 0;       // candidates before this have been dealt with
  int64_t width_ = 0;      // of a hard-wrapped document
  bool paragraph_ = true;  // the current sentence begins a paragraph
  int ordinals_ = -1;      // not asked yet
};

}  // namespace

char32_t decode(std::string_view text, size_t i, int& length) {
  const auto b = [&](size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(text[i + k])); };
  const char32_t a = b(0);
  if (a < 0x80) return length = 1, a;
  if (a < 0xE0) return length = 2, (a & 0x1F) << 6 | (b(1) & 0x3F);
  if (a < 0xF0) return length = 3, (a & 0x0F) << 12 | (b(1) & 0x3F) << 6 | (b(2) & 0x3F);
  return length = 4, (a & 0x07) << 18 | (b(1) & 0x3F) << 12 | (b(2) & 0x3F) << 6 | (b(3) & 0x3F);
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

int space_length(std::string_view text, size_t i) {
  int length = 0;
  return is_space(decode(text, i, length)) ? length : 0;
}

void split_sentences(std::string_view text, Wrap wrap, SentenceList& out) {
  out.clear();
  if (!text.empty()) Splitter(text, out).run(wrap);
}

}  // namespace pychunk
