// What readers take for one character, however many code points it is: grapheme clusters (UAX 29: marks, emoji with
// tones and joiners, flags, Hangul, Indic conjuncts), and words of scripts that put no spaces between them.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace pychunk {

// Whether c never begins a cluster: a mark, a joiner, a skin tone.
bool extends_cluster(char32_t c);

// The last border between clusters in text (begin, at], where `begin` is one; `at` where there is none.
int64_t cluster_border(std::string_view text, int64_t begin, int64_t at);

// Words of a run without white space: one a Chinese or Japanese character, one a cluster of Thai, Lao, Burmese or
// Khmer, one for what lies between those and holds a letter or a digit; at least 1.
int64_t words_of_run(std::string_view run);

// The table, first and last code points of runs: what the reference reads.
std::vector<uint32_t> cluster_extending();

}  // namespace pychunk
