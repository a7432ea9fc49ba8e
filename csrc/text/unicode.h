// What BERT's normaliser and pre-tokeniser make of each code point, for one set of options, as one table
// look-up. Equal to Hugging Face `tokenizers`, whose Unicode tables were probed (unicode_tables.py).
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pychunk {

struct NormaliserOptions {
  bool lowercase = true;
  bool strip_accents = true;
  bool clean_text = true;
  bool handle_chinese_chars = true;
};

enum class CharacterKind : uint32_t {
  kLetter,    // part of a word, as value()
  kIsolated,  // a word by itself, as value(): punctuation, Chinese characters
  kSpace,     // ends a word
  kDropped,   // as if it were not there
  kSequence,  // several of the above: sequence(value())
  kHangul,    // decompose_hangul()
  kReorders,  // may swap places with marks around it: use normalise_slowly() for the whole run
};

// One entry of the table: kind in the low 3 bits, above them the code point that it becomes (0: it stays as
// it is) or the index of a sequence. All zero is a letter that stays, so that whole pages are equal and
// stored once.
struct Character {
  uint32_t bits;
  CharacterKind kind() const { return static_cast<CharacterKind>(bits & 7); }
  uint32_t value() const { return bits >> 3; }
};

// A character of normalised text and the bytes of the original that it stands for.
struct Normalised {
  Character character;  // kLetter, kIsolated or kSpace, its value never 0 for "stays"
  size_t begin, end;
};

// Two or three Jamo of a Hangul syllable; returns how many. (The Unicode standard, section 3.12.)
inline int decompose_hangul(uint32_t syllable, uint32_t jamo[3]) {
  const uint32_t index = syllable - 0xAC00, tail = index % 28;
  jamo[0] = 0x1100 + index / 588;
  jamo[1] = 0x1161 + index % 588 / 28;
  jamo[2] = 0x11A7 + tail;
  return tail == 0 ? 2 : 3;
}

// Makes the tables of changes, which the first use would do.
void prepare_unicode();

// The probed tables as they are written, by name: what the reference reads, so that both take a character for the same.
std::vector<std::pair<const char*, std::vector<uint32_t>>> unicode_tables();

class CharacterTable {
 public:
  explicit CharacterTable(const NormaliserOptions& options);

  Character operator[](uint32_t code_point) const {
    return {cells_[static_cast<size_t>(pages_[code_point >> 8]) << 8 | (code_point & 0xFF)]};
  }
  // The characters of a kSequence: a count, then that many.
  const uint32_t* sequence(uint32_t index) const { return sequences_.data() + index; }

  // The normalised characters of text [begin, end), canonical reordering included: step by step as the
  // standard has it. For runs that hold a kReorders.
  void normalise_slowly(const uint8_t* text, size_t begin, size_t end, std::vector<Normalised>& out) const;

 private:
  Character compose(uint32_t code_point);
  // Appends what a character becomes once it is decomposed: nothing, or letters and isolated characters.
  void finish(uint32_t decomposed, std::vector<Character>& out) const;

  NormaliserOptions options_;
  std::vector<uint16_t> pages_;
  std::vector<uint32_t> cells_;
  std::vector<uint32_t> sequences_;
};

}  // namespace pychunk
