// The words that sentence rules ask about, for some thirty languages: abbreviations, openers, months.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace pychunk {

enum class Abbreviation : uint8_t {
  kNone,
  kOpen,      // something must follow: "Mr.", "e.g.", "vul."
  kNumber,    // something must follow if it is a number: "No. 5", "p. 3", "Oct. 4"
  kTitle,     // a name follows: open before a capital, but closes before a sentence opener ("Co. The")
  kMayClose,  // ends the sentence before a capital: "etc.", "p.m."
  kDegree,    // open behind another abbreviation: "Dr. med. Anna", but Swedish "gå med. Anna"
  kStreet,    // open unless a number stands before it: "str. Lungă", but "250 str. Autor"
};

// Makes the lists, which the first use would do.
void prepare_abbreviations();

// `word` as it stands before the stop, without it ("e.g" for "e.g."); case matters only where lists say so.
Abbreviation abbreviation(std::string_view word);

// Words that commonly open a sentence and seldom follow an abbreviation inside one ("The", "However").
bool is_opener(std::string_view word);

// Pronouns and determiners that open a sentence behind an acronym: "in the U.S.A. My sister".
bool is_pronoun(std::string_view word);

// Abbreviations of years, which initials may follow: "в 1999 г. А. С. Пушкин".
bool is_year_word(std::string_view word);

// Titles and kinds of places in Vietnamese, whose capitals mean other things elsewhere: "GS.", "TP.".
bool is_vietnamese_title(std::string_view word);

// Whether the text's beginning holds letters that hardly another language writes.
bool looks_vietnamese(std::string_view text);

// The name of a Latin letter in another script, by which initials are written; those that are words as well apart.
bool is_letter_name(std::string_view word);
bool is_doubtful_letter_name(std::string_view word);

// Whether a Chinese or Japanese clause says who spoke: it ends in a verb of saying.
bool tells_speaker(std::string_view clause);

// Korean particles and verbs that make a quotation of what is closed before them.
bool is_quoting_word(std::string_view word);

// Words of two or three letters that end sentences in hasty writing, where other short ones are abbreviations.
bool is_short_word(std::string_view word);

// What follows an ordinal in a German date or century: "9. September", "16. Jahrhunderts".
bool is_german_month(std::string_view word);

// Whether the text looks German, where a capital after a number and a stop says nothing ("3. Oktober", "2. Liga").
// In other languages that write ordinals so, a small letter follows.
bool capitalises_after_ordinals(std::string_view text);

// Name and words, parted by spaces, of every list above, for the reference; a word's first list of the first six
// is its kind.
std::vector<std::pair<std::string_view, std::string_view>> word_lists();

}  // namespace pychunk
