#include "document/sentence_table.h"

#include <algorithm>
#include <vector>

#include "common/parallel.h"
#include "common/work_split.h"
#include "document/document.h"

namespace pychunk {

SentenceTable split(const Inputs& inputs) {
  const Texts& texts = inputs.texts;
  const std::vector<int64_t> borders = plan_blocks(texts);
  struct Part {
    std::vector<int64_t> starts, counts;
    std::vector<uint8_t> flags;
  };
  std::vector<Part> parts(borders.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), inputs.threads, [&](int64_t b) {
    thread_local Document document;
    Part& part = parts[static_cast<size_t>(b)];
    for (int64_t i = borders[static_cast<size_t>(b)]; i < borders[static_cast<size_t>(b) + 1]; ++i) {
      const Closing closing(document);
      document.open(inputs, i);
      part.starts.insert(part.starts.end(), document.starts().begin(), document.starts().end());
      part.flags.insert(part.flags.end(), document.all_flags().begin(), document.all_flags().end());
      part.counts.push_back(document.sentences());
    }
  });
  int64_t total = 0;
  for (const Part& part : parts) total += static_cast<int64_t>(part.flags.size());
  SentenceTable out{Buffer<int64_t>(total), Buffer<int64_t>(texts.size() + 1), Buffer<uint8_t>(total)};
  int64_t sentence = 0, document = 0;
  out.doc_offsets[0] = 0;
  for (const Part& part : parts) {
    std::copy(part.starts.begin(), part.starts.end(), out.starts.data + sentence);
    std::copy(part.flags.begin(), part.flags.end(), out.flags.data + sentence);
    sentence += static_cast<int64_t>(part.flags.size());
    for (const int64_t count : part.counts) {
      out.doc_offsets[document + 1] = out.doc_offsets[document] + count;
      ++document;
    }
  }
  return out;
}

Buffer<int64_t> bytes_of_characters(const Texts& texts, const Ragged<int64_t>& characters, const char* what,
                                    int64_t first_row, int threads) {
  const int64_t before = characters.offsets[0];
  Buffer<int64_t> out(characters.offsets[texts.size()] - before);
  parallel_for(texts.size(), threads, [&](int64_t i) {
    const std::string_view text = texts[i];
    const auto size = static_cast<int64_t>(text.size());
    int64_t byte = 0, character = 0, last = -1;
    int64_t* to = out.data + (characters.offsets[i] - before);
    for (const int64_t wanted : characters[i]) {
      PYCHUNK_CHECK(wanted >= character && wanted > last, what, " of document ", first_row + i,
                    " must increase and not be negative, got ", wanted, " after ", character);
      // The next k bytes hold at most k characters, and usually nearly as many, so few steps are needed.
      while (character < wanted && byte < size) {
        const int64_t step = std::min(wanted - character, size - byte);
        character += count_characters(slice(text, byte, byte + step));
        // A step may end inside a character whose first byte it counted. The character's other bytes belong to it.
        byte = next_border(text, byte + step, size);
      }
      PYCHUNK_CHECK(character == wanted, what, " of document ", first_row + i, " must lie in its ", character,
                    " characters, got ", wanted);
      *to++ = byte;
      last = wanted;
    }
  });
  return out;
}

}  // namespace pychunk
