// Words before a full stop that do not, or need not, end a sentence, for a dozen European languages.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

enum class Abbreviation : uint8_t {
  kNone,
  kOpen,      // something must follow: "Mr.", "e.g.", "vul."
  kNumber,    // something must follow if it is a number: "No. 5", "p. 3", "Oct. 4"
  kTitle,     // a name follows: open before a capital, but closes before a sentence opener ("Co. The")
  kMayClose,  // ends the sentence before a capital: "etc.", "p.m."
};

// `word` as it stands before the stop, without it ("e.g" for "e.g."); case matters only where lists say so.
Abbreviation abbreviation(std::string_view word);

// Words that commonly open a sentence and seldom follow an abbreviation inside one ("The", "However").
bool is_opener(std::string_view word);

// What follows an ordinal in a German date or century: "9. September", "16. Jahrhunderts".
bool is_german_month(std::string_view word);

// Whether the text looks German, where a capital after a number and a stop says nothing ("3. Oktober", "2. Liga").
// In other languages that write ordinals so, a small letter follows.
bool capitalises_after_ordinals(std::string_view text);

}  // namespace pychunk
