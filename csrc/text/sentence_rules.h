// The rules that decide whether a stop ends a sentence. A stop is a mark such as "." or "?". The rules look at what
// precedes it (abbreviations, initials, ordinals, list items) and at what follows. All offsets are byte offsets.
#pragma once
#include <cstdint>
#include <string_view>

#include "text/characters.h"
#include "text/utf8_text.h"

namespace pychunk {

class SentenceRules {
 public:
  explicit SentenceRules(std::string_view text) : text_(text) {}

  // Returns whether the sentence that begins at `start` ends with stops [i, stops), closing marks [stops, end) and
  // white space [end, next). Text must follow at `next`.
  bool ends(int64_t start, int64_t i, int64_t stops, int64_t end, int64_t next);

  // Returns whether stops [i, stops) end the sentence although a letter follows immediately, as in careless writing:
  // "Great service.They even". Stops inside an address, a number or a name such as "Node.js" do not.
  bool ends_glued(int64_t start, int64_t i, int64_t stops) const;

  // Returns whether a caseless word before the stop at i is an initial, the name of a letter, or a short title.
  bool is_initial(int64_t start, int64_t i, int64_t stops) const;

  // Facts about the whole text, 1 or 0, which the rules compute on demand; -1 if they have not needed them.
  int german() const { return german_; }
  int vietnamese() const { return vietnamese_; }
  bool looks_vietnamese();
  bool nouns_are_capitalised();

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
  bool is_name_before(int64_t start, int64_t begin) const;

  Utf8Text text_;
  int german_ = -1, vietnamese_ = -1;  // -1: not yet computed
};

}  // namespace pychunk
