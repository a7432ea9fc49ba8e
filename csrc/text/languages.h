// The language of texts, from the trigrams of their words. training/languages.py makes the tables.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/buffer.h"
#include "common/view.h"

namespace pychunk {

struct LanguageTables {
  std::span<const uint32_t> letters;    // the first and last letter of a range, and their script
  std::span<const uint32_t> lower;      // a letter, and its lower case
  std::span<const uint8_t> alone;       // for each script: 1 if each letter counts alone, and not trigrams of words
  std::span<const uint8_t> written_in;  // for each script, and each language: 1 if the language is written in it
  Matrix<const int8_t> weights;         // for each class of trigrams, and each language
};

class Languages {
 public:
  // Copies the tables. Throws std::invalid_argument if they do not belong together.
  explicit Languages(const LanguageTables& tables);

  // Returns the language of each text of valid UTF-8, or -1 for a text without letters. Of a text above 2 KiB, four
  // parts of 512 bytes are read.
  Buffer<int32_t> detect(const Texts& texts, int threads) const;

  // Returns the script of a text, or -1 if it has no letters, and sets `classes` to the classes of its trigrams. The
  // script with the most letters is the text's. A Latin letter counts half, because other scripts quote names in it.
  int32_t read(std::string_view text, Values<int32_t>& classes) const;

 private:
  static constexpr uint32_t kScripts = 64;
  struct Reader;
  struct Columns {
    size_t begin, end;
  };
  // The script in the low 6 bits, and the lower case. 0 is no letter.
  uint32_t cell(char32_t c) const { return cells_[static_cast<size_t>(pages_[c >> 8]) << 8 | (c & 0xFF)]; }
  int32_t detect(std::string_view text) const;

  std::vector<uint16_t> pages_;
  std::vector<uint32_t> cells_;
  std::vector<uint8_t> alone_, written_in_, is_shared_;  // is_shared_: several languages are written in a script
  std::vector<Columns> columns_;                         // of weights_, for each script
  std::vector<int8_t> weights_;                          // rows of width_ numbers
  size_t languages_, width_;
  int bits_;  // 1 << bits_ classes of trigrams
};

}  // namespace pychunk
