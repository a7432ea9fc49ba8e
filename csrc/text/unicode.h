// The result of BERT's normaliser and pre-tokenizer for each code point, for one set of options, as one table look-up.
// It equals the result of Hugging Face `tokenizers`, whose Unicode tables were probed (unicode_tables.py).
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
  kLetter,    // part of a word; value() is the result
  kIsolated,  // a word by itself, such as punctuation or a Chinese character; value() is the result
  kSpace,     // ends a word
  kDropped,   // removed
  kSequence,  // several of the above: sequence(value())
  kHangul,    // decompose_hangul()
  kReorders,  // may change places with neighbouring marks: use normalise_slowly() for the whole run
};

// An entry of the table. The low 3 bits are the kind. The bits above hold the new code point (0 if unchanged) or the
// index of a sequence. An unchanged letter is all zeros, so that whole pages are equal and stored once.
struct Character {
  uint32_t bits;
  CharacterKind kind() const { return static_cast<CharacterKind>(bits & 7); }
  uint32_t value() const { return bits >> 3; }
};

// A character of normalised text, and the bytes of the original from which it comes.
struct Normalised {
  Character character;  // kLetter, kIsolated or kSpace; its value is never 0 for "unchanged"
  size_t begin, end;
};

// Writes the two or three Jamo of a Hangul syllable and returns their number (Unicode standard, section 3.12).
inline int decompose_hangul(uint32_t syllable, uint32_t jamo[3]) {
  const uint32_t index = syllable - 0xAC00, tail = index % 28;
  jamo[0] = 0x1100 + index / 588;
  jamo[1] = 0x1161 + index % 588 / 28;
  jamo[2] = 0x11A7 + tail;
  return tail == 0 ? 2 : 3;
}

// Creates the tables of mappings, which the first use would otherwise create.
void prepare_unicode();

// Returns the probed tables, unchanged, by name. The reference reads them, so that both engines classify characters
// alike.
std::vector<std::pair<const char*, std::vector<uint32_t>>> unicode_tables();

class CharacterTable {
 public:
  explicit CharacterTable(const NormaliserOptions& options);

  Character operator[](uint32_t code_point) const {
    return {cells_[static_cast<size_t>(pages_[code_point >> 8]) << 8 | (code_point & 0xFF)]};
  }
  // Returns the characters of a kSequence: a count, then that number of characters.
  const uint32_t* sequence(uint32_t index) const { return sequences_.data() + index; }

  // Writes the normalised characters of text [begin, end), including canonical reordering, step by step as the standard
  // defines them. It is for runs that contain a kReorders.
  void normalise_slowly(const uint8_t* text, size_t begin, size_t end, std::vector<Normalised>& out) const;

 private:
  Character compose(uint32_t code_point);
  // Appends the result of a decomposed character: nothing, or letters and isolated characters.
  void finish(uint32_t decomposed, std::vector<Character>& out) const;

  NormaliserOptions options_;
  std::vector<uint16_t> pages_;
  std::vector<uint32_t> cells_;
  std::vector<uint32_t> sequences_;
};

}  // namespace pychunk
