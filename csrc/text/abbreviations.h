// The word lists that sentence rules use, for about thirty languages: abbreviations, sentence openers, months.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pychunk {

enum class Abbreviation : uint8_t {
  kNone,
  kOpen,      // open: ends no sentence, since something must follow: "Mr.", "e.g.", "vul."
  kNumber,    // open before a number: "No. 5", "p. 3", "Oct. 4"
  kTitle,     // a name follows: open before a capital, but closes before a sentence opener ("Co. The")
  kMayClose,  // ends the sentence before a capital: "etc.", "p.m."
  kDegree,    // open after another abbreviation: "Dr. med. Anna", but Swedish "gå med. Anna"
  kStreet,    // open unless a number precedes it: "str. Lungă", but "250 str. Autor"
};

// Creates the lists, which the first use would otherwise create.
void prepare_abbreviations();

// Returns the kind of `word`, given without its stop ("e.g" for "e.g."). Case matters only if a list says so.
Abbreviation abbreviation(std::string_view word);

// Returns whether a word often opens a sentence, and rarely follows an abbreviation inside one ("The", "However").
bool is_opener(std::string_view word);

// Returns whether a word is a pronoun or determiner that opens a sentence after an acronym: "in the U.S.A. My sister".
bool is_pronoun(std::string_view word);

// Returns whether a word is an abbreviation of "year", which initials may follow: "в 1999 г. А. С. Пушкин".
bool is_year_word(std::string_view word);

// Returns whether a word is a Vietnamese title or kind of place, such as "GS." or "TP.". These capitals mean other
// things in other languages.
bool is_vietnamese_title(std::string_view word);

// Returns whether the beginning of the text has letters that hardly any language except Vietnamese uses.
bool looks_vietnamese(std::string_view text);

// Returns whether a word is the name of a Latin letter in another script, as used for initials. Doubtful names are
// ordinary words, too.
bool is_letter_name(std::string_view word);
bool is_doubtful_letter_name(std::string_view word);

// Returns whether a Chinese or Japanese clause names the speaker, which means that it ends with a verb of saying.
bool tells_speaker(std::string_view clause);

// Returns whether a word is a Korean particle or verb after a closing quote, which makes the text before it a
// quotation.
bool is_quoting_word(std::string_view word);

// Returns whether a word of two or three letters may end a sentence in careless writing. Before a stop in such writing,
// all other short words are abbreviations.
bool is_short_word(std::string_view word);

// Returns whether a word follows an ordinal in a German date or century: "9. September", "16. Jahrhunderts".
bool is_german_month(std::string_view word);

// Returns whether the text looks German. In German a capital after a number and a stop means nothing ("3. Oktober", "2.
// Liga"). In other languages that write ordinals with a stop, a lower-case letter follows.
bool capitalises_after_ordinals(std::string_view text);

// Returns the name and words, separated by spaces, of every list above, for the reference implementation. The first six
// lists are the kinds of abbreviations. A word has the kind of the first of them that contains it.
std::vector<std::pair<std::string_view, std::string_view>> word_lists();

}  // namespace pychunk
