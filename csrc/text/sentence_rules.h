// Whether a stop ends a sentence: what stands before it (abbreviations, initials, ordinals, list items) and what
// follows. All offsets are byte offsets.
#pragma once
#include <cstdint>
#include <string_view>

#include "text/characters.h"
#include "text/utf8_text.h"

namespace pychunk {

class SentenceRules {
 public:
  explicit SentenceRules(std::string_view text) : text_(text) {}

  // Whether stops [i, stops), closers [stops, end) and white space [end, next) end the sentence that begins at
  // `start`. Something follows at `next`.
  bool ends(int64_t start, int64_t i, int64_t stops, int64_t end, int64_t next);

  // Whether stops [i, stops) end the sentence although a letter follows at once, as in hasty writing:
  // "Great service.They even"; never inside an address, a number or a name such as "Node.js".
  bool ends_glued(int64_t start, int64_t i, int64_t stops) const;

  // Whether a word without case before the stop at i is an initial, the name of a letter, or a short title.
  bool is_initial(int64_t start, int64_t i, int64_t stops) const;

 private:
  bool is_initial(int64_t start, int64_t begin, int64_t i, int64_t stops) const;
  bool ends_before_lower(int64_t start, int64_t i, int64_t stops) const;
  bool full_stop_ends(int64_t start, int64_t i, int64_t inside, Case follows);
  bool number_ends(int64_t start, int64_t begin, int64_t inside, std::string_view number, bool opens);
  bool continues_list(int64_t start, int64_t begin, std::string_view number) const;
  std::string_view word_at(int64_t begin) const;
  int64_t word_before(int64_t start, int64_t i) const;
  bool is_counted(int64_t start, int64_t begin) const;
  bool is_spaced_part(int64_t start, int64_t begin) const;
  bool is_label(int64_t inside) const;
  bool looks_vietnamese();
  bool is_name_before(int64_t start, int64_t begin) const;
  bool nouns_are_capitalised();

  Utf8Text text_;
  int german_ = -1, vietnamese_ = -1;  // not asked yet
};

}  // namespace pychunk
