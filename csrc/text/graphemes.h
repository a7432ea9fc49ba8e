// The user-perceived characters of a text: grapheme clusters of UAX 29, with marks, emoji with skin tones and joiners,
// flags, Hangul and Indic conjuncts. It also counts words in scripts without spaces between words.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

// Returns whether c never begins a cluster. Marks, joiners and skin tones never do.
bool extends_cluster(char32_t c);

// Returns whether c is a cluster of its own, without marks: a control or a separator (Grapheme_Cluster_Break=Control).
bool is_control(char32_t c);

// Returns whether c joins the character after it (Grapheme_Cluster_Break=Prepend).
bool prepends_cluster(char32_t c);

// Returns the last cluster boundary in text (begin, at], or `at` if there is none. `begin` must be a cluster boundary.
int64_t cluster_border(std::string_view text, int64_t begin, int64_t at);

// Returns the number of words in a run without white space, at least 1. Each Chinese or Japanese character is a word,
// and so is each cluster of Thai, Lao, Burmese or Khmer. Any stretch between them that has a letter or digit is one
// word.
int64_t words_of_run(std::string_view run);

// Returns the table of extending code points, as first and last of each run. The reference implementation reads it.
std::vector<uint32_t> cluster_extending();

}  // namespace pychunk
