#include "text/sentence_rules.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "text/abbreviations.h"

namespace pychunk {
namespace {

bool is_digit_byte(char c) { return c >= '0' && c <= '9'; }

// Returns whether the word consists of letters separated by stops: "U.S", "e.g", "p.m".
bool is_dotted(std::string_view word) {
  size_t run = 0, stops = 0;
  for (const char c : word) {
    if (c == '.') {
      if (run == 0) return false;
      run = 0, ++stops;
    } else if (is_digit_byte(c) || (!continues_character(static_cast<uint8_t>(c)) && ++run > 2)) {
      return false;
    }
  }
  return stops > 0;
}

bool is_roman(std::string_view word) {
  return !word.empty() && word.size() <= 6 && word.find_first_not_of("IVXLCM") == std::string_view::npos;
}

// Returns whether the word has only the letters of list numbers up to 39 in lower case: "ii", "xiv".
bool is_small_roman(std::string_view word) { return word.find_first_not_of("ivx") == std::string_view::npos; }

// Returns whether the word consists of digits, possibly with stops between them: "3", "18.35", "1.2.1".
bool is_number(std::string_view word) {
  return is_digit_byte(word[0]) && is_digit_byte(word.back()) && word.find_first_not_of("0123456789.") == word.npos;
}

// Returns whether the word is two capitals that are no abbreviation, even if the same letters in lower case are one:
// "BP", "EG".
bool is_acronym(std::string_view word) {
  static constexpr std::string_view kTitles[] = {"MR", "MS", "DR", "ST", "NO", "VS", "LT", "MT", "FT", "JR", "SR"};
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (word == "E.D") return true;  // a court's district; "e.d." is Dutch
  return word.size() == 2 && std::all_of(word.begin(), word.end(), upper) &&
         std::find(std::begin(kTitles), std::end(kTitles), word) == std::end(kTitles);
}

// Returns whether the word is part of a Spanish plural abbreviation: "EE. UU.".
bool is_doubled_capital(std::string_view word) {
  return word.size() == 2 && word[0] == word[1] && word[0] >= 'A' && word[0] <= 'Z';
}

// Returns whether the word is a letter of a caseless alphabet, with its marks.
bool is_syllable(std::string_view word) {
  if (word.empty()) return false;
  auto [c, length] = decode_utf8(word, 0);
  if (!is_caseless(c) || is_script_digit(c)) return false;
  for (auto i = static_cast<int64_t>(length); i < static_cast<int64_t>(word.size()); i += length) {
    const Decoded next = decode_utf8(word, i);
    if (!is_sign(next.code_point)) return false;
    length = next.length;
  }
  return true;
}

// Returns whether the word, one letter with its marks, is a South Indian verb or pronoun: come, go, give, you. In these
// languages initials have marks, too.
bool is_syllable_word(std::string_view word) {
  return word == "வா" || word == "போ" || word == "தா" || word == "நீ" || word == "రా" || word == "పో" || word == "ಬಾ" ||
         word == "ಹೋ" || word == "വാ" || word == "പോ";
}

bool is_short_part(std::string_view word) {
  return is_syllable(word) || is_letter_name(word) || is_doubtful_letter_name(word);
}

std::string_view last_part(std::string_view word) { return word.substr(word.rfind('.') + 1); }

bool is_all_digits(std::string_view word) {
  int length = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(word.size()); i += length) {
    const Decoded c = decode_utf8(word, i);
    if (!is_script_digit(c.code_point)) return false;
    length = c.length;
  }
  return true;
}

// Returns whether the word has lower-case letters without a vowel. No word looks like this, but many abbreviations do:
// "Rdnr. 5".
bool is_vowelless(std::string_view word) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  if (!is_ascii_lower(lower(word[0])) || !std::all_of(word.begin() + 1, word.end(), is_ascii_lower)) return false;
  if (word.size() == 1 && !is_ascii_lower(word[0])) return false;
  return std::none_of(word.begin(), word.end(),
                      [&](char c) { return std::string_view("aeiouy").find(lower(c)) != std::string_view::npos; });
}

// Returns whether the word is a Vietnamese title. These titles have at most four letters and, with one exception, begin
// with a capital. Most words therefore need no look-up.
bool may_be_vietnamese(std::string_view word) {
  return word.size() <= 5 && (word == "tp" || (!word.empty() && !is_ascii_lower(word[0]))) && is_vietnamese_title(word);
}

bool begins_dialogue(char32_t c) { return c == 0x2013 || c == 0x2014; }

}  // namespace

bool SentenceRules::ends(int64_t start, int64_t i, int64_t stops, int64_t end, int64_t next) {
  int length = 0;
  int64_t inside = next;  // first letter or digit of what follows, past opening marks
  char32_t c = text_.at(inside, length);
  bool dash = false;
  const auto low_quote = [&] { return c == ',' && text_.is_byte(inside + 1, ','); };  // ",,Wij weten"
  while (inside < text_.size && (is_opener_mark(c) || low_quote() || c == '-' || c == 0x2013 || c == 0x2014)) {
    const bool quote = low_quote();
    dash |= quote || !is_opener_mark(c);
    inside += quote ? 2 : length;
    inside = dash ? text_.skip_space(inside) : inside;
    if (inside >= text_.size) return true;
    c = text_.at(inside, length);
  }
  const bool bracketed = inside > next && (text_.byte(inside - 1) == '(' || text_.byte(inside - 1) == '[');
  if (c == '.' && bracketed) return true;  // "(...)" marks omitted sentences
  if (c == ',' || c == ';' || c == ':' || c == ')' || c == ']' || c == '.') return false;
  if (end > stops && inside == next && (c == U'라' || c == U'이' || c == U'하') && is_quoting_word(word_at(inside)))
    return false;
  const Case follows = case_of(c);
  if (follows == Case::kLower)
    return (inside == next || bracketed) && end == stops && ends_before_lower(start, i, stops);
  const bool full_stop = stops - i == 1 && text_.byte(i) == '.';
  if (!full_stop) {
    const char32_t stop = text_.at(i);
    if (stop == 0x6D4 && is_initial(start, i, stops)) return false;
    if (stop == '.' || stop == 0x2026) return follows == Case::kUpper || is_digit(c) || inside > next || is_letter(c);
    return true;
  }
  if (end > stops) return true;  // a quotation mark or bracket closes after the stop
  if (dash && follows == Case::kUpper && begins_dialogue(text_.at(start))) return true;  // the next speaker
  return full_stop_ends(start, i, inside, follows);
}

bool SentenceRules::ends_glued(int64_t start, int64_t i, int64_t stops) const {
  const char stop = text_.byte(i);
  if ((stop != '.' && stop != '!' && stop != '?') || stops >= text_.size) return false;
  int length = 0;
  const bool upper = case_of(text_.at(stops, length)) == Case::kUpper;
  const bool question = stop == '?' && stops - i == 1 && is_ascii_lower(text_.byte(stops));
  if (!upper && !question) return false;
  // The word before must have three lower-case letters. The word after must have two letters and end like a word of a
  // sentence.
  int64_t begin = i, letters = 0;
  for (; begin > start && case_of(text_.at(text_.before(begin))) == Case::kLower; ++letters)
    begin = text_.before(begin);
  if (letters < 3 || begin == start || text_.space_before(begin) == 0) return false;
  int64_t after = stops;
  for (letters = 0; after < text_.size; after += length, ++letters) {
    const Case kind = case_of(text_.at(after, length));
    if (kind != Case::kLower && (kind != Case::kUpper || letters > 0)) break;
  }
  const auto ends_word = [&] {
    if (after == text_.size || text_.space_at(after) > 0) return true;
    return text_.byte(after) == '\'' || text_.byte(after) == ',';
  };
  const bool pronoun = letters == 1 && (text_.byte(stops) == 'I' || text_.byte(stops) == 'A');
  return (letters >= 2 || pronoun) && ends_word() && abbreviation(text_.slice(begin, i)) == Abbreviation::kNone;
}

// Decides whether the sentence ends before a lower-case letter. It can end after a question mark, a run of marks, a
// detached stop, or a plain lower-case word that is hardly an abbreviation.
bool SentenceRules::ends_before_lower(int64_t start, int64_t i, int64_t stops) const {
  int length = 0;
  const char32_t stop = text_.at(i, length);
  // The mark may be the name of a key: "Press ? for help". Authors who write only lower case may put spaces before
  // marks.
  if (stops - i == length && i - 1 > start && text_.is_byte(i - 1, ' ') && case_of(text_.at(start)) != Case::kLower)
    return false;
  if (stop == '?' || stop == ';' || stop == 0x37E) return !begins_dialogue(text_.at(start));  // "— Oui ? dit-elle."
  if (stop != '.' && stop != '!') return false;
  if (stops - i > 1) return stop == '!';
  if (text_.is_byte(i - 1, ' ') && i - 1 > start) return true;
  int64_t begin = i, letters = 0;
  bool vowel = false, capital = false;
  while (begin > start && !capital) {
    const int64_t b = text_.before(begin);
    const char32_t c = text_.at(b);
    if (case_of(c) == Case::kNone) break;
    capital = case_of(c) == Case::kUpper;
    vowel |= c >= 0x80 || std::string_view("aeiouy").find(static_cast<char>(c)) != std::string_view::npos;
    begin = b;
    ++letters;
  }
  if (letters < 2 || !vowel || begin == start) return false;
  if (text_.space_before(begin) == 0 && text_.byte(begin - 1) != '\'') return false;
  const std::string_view word = text_.slice(begin, i);
  return abbreviation(word) == Abbreviation::kNone &&
         (letters >= (capital ? 6 : 4) || (!capital && stop == '!') || is_short_word(word));
}

// Decides whether the single full stop at i ends a sentence before a capital, a digit or a caseless letter.
bool SentenceRules::full_stop_ends(int64_t start, int64_t i, int64_t inside, Case follows) {
  const int64_t begin = word_before(start, i);
  std::string_view word = text_.slice(begin, i);
  while (!word.empty() && is_opener_mark(static_cast<unsigned char>(word[0]))) word.remove_prefix(1);
  if (word.empty()) return true;
  int first_length = 0;
  const char32_t first = text_.at(begin, first_length);
  // "(lat. Iohannes": a single lower-case word in brackets is no sentence.
  const bool in_bracket = text_.is_byte(begin - 1, '(') && word.find(')') == std::string_view::npos;
  if (in_bracket && case_of(first) == Case::kLower && word.size() <= 12) return false;
  // The next word is looked at only if the word before leaves the question open.
  const auto following = [&] { return word_at(inside); };
  const auto opens = [&] { return is_opener(following()); };
  const auto pronoun = [&] {  // not an initial: "U.S. I. Lee"
    const std::string_view found = following();
    return is_pronoun(found) && !text_.is_byte(inside + static_cast<int64_t>(found.size()), '.');
  };
  const char32_t c = text_.at(inside);
  const bool one_letter = begin + first_length == i;
  const bool single = one_letter && case_of(first) == Case::kUpper;
  if (is_doubled_capital(word) && is_doubled_capital(following()) && text_.is_byte(inside + 2, '.')) return false;
  if (first >= 0x80 && is_caseless(first) && is_initial(start, begin, i, i + 1)) return false;
  if (follows == Case::kUpper && may_be_vietnamese(last_part(word)) && looks_vietnamese()) return false;
  const size_t joint = word.rfind(".-");  // "Univ.-Prof."
  const std::string_view looked_up = joint == std::string_view::npos ? word : word.substr(joint + 2);
  switch (single || is_acronym(word) ? Abbreviation::kNone : abbreviation(looked_up)) {
    case Abbreviation::kDegree:
      return opens() || !(begin - 2 > start && text_.slice(begin - 2, begin) == ". ");
    case Abbreviation::kStreet:
      return follows == Case::kUpper && is_counted(start, begin);
    case Abbreviation::kOpen:
      // "і т. п." and "и т. д." close a sentence as "etc." does, but "п." alone is the number of a paragraph.
      return (word == "п" || word == "д") && follows == Case::kUpper && begin - start >= 4 &&
             text_.slice(begin - 4, begin) == "т. ";
    case Abbreviation::kNumber:
      if (begin == start && (word == "No" || word == "no")) return !is_digit(c) && c != '#';  // an answer
      if (is_digit(c) || c == '#' || c == 0x2116 || is_roman(following())) return false;
      return opens() || (is_ascii_lower(word[0]) && (word == "no" || !is_label(inside)));
    // Titles of a name are capitalised: "Wash." is a state, "wash." is not.
    case Abbreviation::kTitle:
      if (word == "Me" && begin == start) return true;
      return opens() || (begin > start && !is_ascii_lower(word[0]) && pronoun()) ||
             (is_ascii_lower(word[0]) && word.find('.') == std::string_view::npos && word != "jr" && word != "sr");
    case Abbreviation::kMayClose:
      // Initials may follow a year, as in "В 1999 г. А. С. Пушкину", or text too short for a sentence.
      if ((is_year_word(word) || begin - start <= 24) && is_counted(start, begin)) {
        // "В 1965 г. Леонов": a preposition and a year are no sentence.
        const std::string_view head = text_.slice(start, begin);
        if (is_year_word(word) && head.size() <= 40 && std::count(head.begin(), head.end(), ' ') <= 2) return false;
        const std::string_view found = following();
        const bool letter = !found.empty() && decode_utf8(found, 0).length == static_cast<int>(found.size());
        if (letter && follows == Case::kUpper && text_.is_byte(inside + static_cast<int64_t>(found.size()), '.'))
          return false;
      }
      return follows == Case::kUpper && text_.at(i + 2) != '(';
    case Abbreviation::kNone:
      break;
  }
  if (single) {
    if (is_spaced_part(start, begin)) return false;
    if (first == 'I' && begin > start && !is_name_before(start, begin)) return true;
    // The letter is an initial, as in "J. K. Rowling", unless a sentence clearly begins: "vitamin C. The".
    return begin > start && opens();
  }
  if (is_dotted(word)) return opens() || (begin > start && case_of(first) == Case::kUpper && pronoun());
  if (one_letter && (following().size() == 1 || following() == "Chr" || is_digit(c)))
    return opens();  // "z. B.", "l. 633"
  if (is_number(word)) return number_ends(start, begin, inside, word, opens());
  if (is_digit(c) && begin > start && is_vowelless(word)) return false;
  if (begin == start && is_all_digits(word)) return false;  // "१२. भाग"
  if (begin == start && word.size() <= 5 && (is_roman(word) || is_small_roman(word) || one_letter))
    return false;  // "IV. Results", "a. Item", "ii. Item"
  if (is_roman(word) && word.size() > 1) return opens() || !nouns_are_capitalised();
  return true;
}

bool SentenceRules::number_ends(int64_t start, int64_t begin, int64_t inside, std::string_view number, bool opens) {
  if (begin == start) return false;  // an item's number: "1. Item", "2.3.1. Item"
  int64_t digits = inside;
  while (digits < text_.size && is_digit_byte(text_.byte(digits))) ++digits;
  if (number.size() <= 2 && digits > inside)  // a date: "20. 4. 2001"
    return !(digits - inside == 4 || (digits - inside <= 2 && text_.is_byte(digits, '.')));
  if (number.size() <= 2 && continues_list(start, begin, number)) return false;
  const size_t dot = number.find('.');
  const bool ordinal = dot == std::string_view::npos ? number.size() <= 3 : dot <= 2 && number.size() - dot <= 3;
  if (ordinal && is_german_month(word_at(inside))) return false;
  return !ordinal || opens || !nouns_are_capitalised();  // "am 3. Oktober", "vom 5.3. Dienstag"
}

// Returns whether a number counts items within the sentence: "Results: 1. Adams 149, 2. Brown 145".
bool SentenceRules::continues_list(int64_t start, int64_t begin, std::string_view number) const {
  int value = 0;
  for (const char c : number) value = 10 * value + (c - '0');
  const std::string_view head = text_.slice(std::max(start, begin - 1000), begin);
  if (value == 1) return head.size() > 1 && head[head.size() - 2] == ':';
  const std::string before = std::to_string(value - 1) + ". ";
  const size_t at = head.rfind(before);
  return at != std::string_view::npos && (at == 0 || head[at - 1] == ' ');
}

std::string_view SentenceRules::word_at(int64_t begin) const {
  int64_t end = begin;
  for (int length = 0; end < text_.size && end - begin < 40; end += length) {
    const char32_t c = text_.at(end, length);
    if (!is_letter(c) && c != '\'') break;
  }
  return text_.slice(begin, end);
}

// Returns where the word before i begins: after white space, an opening mark, a slash or a dash.
int64_t SentenceRules::word_before(int64_t start, int64_t i) const {
  for (int steps = 0; i > start && steps < 40; ++steps) {
    const int64_t b = text_.before(i);
    const char32_t c = text_.at(b);
    if (is_space(c) || is_opener_mark(c) || c == '/' || c == 0x2013 || c == 0x2014) break;
    i = b;
  }
  return i;
}

// Returns whether a capitalised word ends immediately before the space before `begin`: "Henry I. Smith".
bool SentenceRules::is_name_before(int64_t start, int64_t begin) const {
  int64_t i = begin;
  while (i > start && text_.space_before(i) > 0) i -= text_.space_before(i);
  int64_t word = i;
  while (word > start && is_letter(text_.at(text_.before(word)))) word = text_.before(word);
  return word < i && case_of(text_.at(word)) == Case::kUpper;
}

bool SentenceRules::is_initial(int64_t start, int64_t i, int64_t stops) const {
  const int64_t begin = word_before(start, i);
  return begin < i && is_initial(start, begin, i, stops);
}

bool SentenceRules::is_initial(int64_t start, int64_t begin, int64_t i, int64_t stops) const {
  const std::string_view word = text_.slice(begin, i);
  const char32_t first = text_.at(begin), stop = text_.at(i);
  if (!is_caseless(first) || is_script_digit(first)) return false;
  if (is_letter_name(last_part(word))) return true;
  const bool joined_and = word.size() == 4 && word.starts_with("و") && is_syllable(word.substr(2));
  if (!is_syllable(word) && !joined_and && !is_doubtful_letter_name(word)) return false;
  const int64_t inside = text_.skip_space(stops);
  const std::string_view after = word_at(inside);
  bool chained = is_short_part(after) && text_.at(inside + static_cast<int64_t>(after.size())) == stop;
  if (text_.is_byte(begin - 1, ' ') && begin - 1 > start) {
    const int64_t before = text_.before(begin - 1);
    if (before >= start && text_.at(before) == stop)
      chained = chained || is_short_part(text_.slice(word_before(start, before), before));
  }
  const bool one_letter = decode_utf8(word, 0).length == static_cast<int>(word.size());
  if (!one_letter) {
    if (joined_and) return chained || !is_counted(start, begin);  // the Arabic "and" is joined to the next word
    return chained || (first >= 0xB80 && first < 0xE00 && !is_syllable_word(word));
  }
  return chained || !is_counted(start, begin) || (first >= 0x900 && first < 0xE00);
}

// Returns whether a number and a space precede the word at `begin`.
bool SentenceRules::is_counted(int64_t start, int64_t begin) const {
  return text_.is_byte(begin - 1, ' ') && begin - 1 > start && is_script_digit(text_.at(text_.before(begin - 1)));
}

// Returns whether a lower-case letter, its full stop and a space precede the word at `begin`: "z. B.", "i. d. R.".
bool SentenceRules::is_spaced_part(int64_t start, int64_t begin) const {
  if (begin - 3 < start || text_.slice(begin - 2, begin) != ". ") return false;
  const int64_t letter = text_.before(begin - 2);
  if (letter < start || case_of(text_.at(letter)) != Case::kLower) return false;
  return letter == start || text_.space_before(letter) > 0 || is_opener_mark(text_.at(text_.before(letter)));
}

// Returns whether a bracket opened before `inside`, with at most eight characters and no space in it: "(EU)", "[b]".
bool SentenceRules::is_label(int64_t inside) const {
  if (!text_.is_byte(inside - 1, '(') && !text_.is_byte(inside - 1, '[')) return false;
  int length = 0;
  for (int letters = 0; letters <= 8 && inside < text_.size; ++letters, inside += length) {
    const char32_t c = text_.at(inside, length);
    if (c == ')' || c == ']') return letters > 0;
    if (is_space(c) || c == '(' || c == '[') return false;
  }
  return false;
}

bool SentenceRules::looks_vietnamese() {
  if (vietnamese_ < 0) vietnamese_ = pychunk::looks_vietnamese(text_.text);
  return vietnamese_ == 1;
}

bool SentenceRules::nouns_are_capitalised() {
  if (german_ < 0) german_ = capitalises_after_ordinals(text_.text);
  return german_ == 1;
}

}  // namespace pychunk
