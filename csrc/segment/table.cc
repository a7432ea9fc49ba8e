#include "segment/table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "common/interrupt.h"
#include "common/parallel.h"

namespace pychunk {
namespace {

// The size in bytes from which freeing the memory of vectors at once is worthwhile.
constexpr int64_t kMuch = int64_t{256} << 20;

// The positions at which the values of a block begin in the columns, one for each kind of column.
struct Place {
  int64_t chunk = 0, text = 0, sentence = 0, chunk_values = 0, sentence_values = 0;
};

Place after(const Place& place, const ChunkBlock& block) {
  Place next = place;
  next.chunk += static_cast<int64_t>(block.chunks.size());
  for (const Chunk& chunk : block.chunks) next.text += chunk.end_byte - chunk.start_byte;
  next.sentence += static_cast<int64_t>(block.sentences.size());
  next.chunk_values += block.chunk_vectors.size();
  next.sentence_values += block.sentence_vectors.size();
  return next;
}

// The numbers of chunks among those of a document with the same text, found by a hash table of the last chunk of each
// text. Sorting the hashes took 7 % of a call that makes each sentence a chunk.
class EqualTexts {
 public:
  // Takes the hashes of the chunks' texts, in order.
  void read(const std::vector<Hash128>& texts) {
    const size_t mask = std::bit_ceil(2 * texts.size() + 1) - 1;
    numbers_.assign(texts.size(), 0);
    last_.assign(mask + 1, 0);
    for (size_t i = 0; i < texts.size(); ++i) {
      size_t slot = static_cast<size_t>(texts[i].low) & mask;
      for (; last_[slot] != 0; slot = (slot + 1) & mask) {
        const size_t other = last_[slot] - 1;
        if (texts[other].low != texts[i].low || texts[other].high != texts[i].high) continue;
        numbers_[i] = numbers_[other] + 1;
        break;
      }
      last_[slot] = static_cast<uint32_t>(i + 1);
    }
  }
  int64_t operator[](size_t i) const { return numbers_[i]; }

 private:
  std::vector<int64_t> numbers_;
  std::vector<uint32_t> last_;  // 1 + the number of a chunk, or 0
};

void fill(const Texts& texts, bool has_ids, int64_t first_row, ChunkBlock& block, Place at, Table& out) {
  block.chunk_vectors.copy_to(out.chunk_vectors.data + at.chunk_values);
  block.sentence_vectors.copy_to(out.sentence_vectors.data + at.sentence_values);
  for (size_t s = 0; s < block.sentences.size(); ++s) {
    out.sentence_start[at.sentence + static_cast<int64_t>(s)] = block.sentences[s].start;
    out.sentence_end[at.sentence + static_cast<int64_t>(s)] = block.sentences[s].end;
  }
  size_t next = 0;
  EqualTexts equal;
  std::vector<Hash128> hashes;  // of the texts of a document's chunks
  for (size_t d = 0; d < block.chunks_in_document.size(); ++d) {
    const int64_t document = block.first_document + static_cast<int64_t>(d);
    const char* text = texts[document].data();
    hashes.clear();
    for (int64_t i = 0; i < block.chunks_in_document[d]; ++i, ++next) {
      checkpoint_each(i, 4096);
      const Chunk& chunk = block.chunks[next];
      const int64_t row = at.chunk++;
      const auto bytes = static_cast<size_t>(chunk.end_byte - chunk.start_byte);
      out.document[row] = first_row + document;
      out.chunk[row] = i;
#define PYCHUNK_COPY(name, there, value) out.name[row] = chunk.name;
      PYCHUNK_WHOLE_COLUMNS(PYCHUNK_COPY)
#undef PYCHUNK_COPY
      out.text_offsets[row] = at.text;
      std::memcpy(&out.text[at.text], text + chunk.start_byte, bytes);
      hashes.push_back(hash128({&out.text[at.text], bytes}, 0));
      write_hex(chunk_hash(block.document_hashes[d], chunk.start, chunk.end, hashes.back()), &out.chunk_id[32 * row]);
      at.text += static_cast<int64_t>(bytes);
      out.relevance[row] = chunk.relevance, out.score[row] = chunk.score;
      out.end_reason[row] = static_cast<int8_t>(chunk.end_reason);
      if (!block.sentences_in_chunk.empty()) {
        out.sentence_offsets[row] = at.sentence;
        at.sentence += block.sentences_in_chunk[next];
      }
    }
    equal.read(hashes);
    const Hash128 name = has_ids ? block.document_hashes[d] : Hash128{0, 0};
    char* id = &out.text_id[32 * (at.chunk - block.chunks_in_document[d])];
    for (size_t i = 0; i < hashes.size(); ++i, id += 32) write_hex(text_hash(name, hashes[i], equal[i]), id);
  }
}

}  // namespace

Table build_table(const Texts& texts, bool has_ids, int64_t first_row, std::vector<ChunkBlock>& blocks, int threads) {
  std::vector<Place> places{{}};
  for (const ChunkBlock& block : blocks) places.push_back(after(places.back(), block));
  const Place& total = places.back();
  const int64_t n = total.chunk;

  Table out;
  for (const ChunkBlock& block : blocks) {
    out.tokens_met += block.tokens;
    out.fallback_tokens += block.fallback_tokens;
    out.summaries.append(block.summaries);
    out.outline.append(block.outline);
  }
#define PYCHUNK_ADDRESS(name, there, value) &out.name,
  Buffer<int64_t>* const columns[] = {&out.document, &out.chunk, PYCHUNK_WHOLE_COLUMNS(PYCHUNK_ADDRESS)};
#undef PYCHUNK_ADDRESS
  // Text and vectors have memory of their own, so that a caller who keeps only the spans does not keep them.
  Arena arena(std::size(columns) * Arena::bytes<int64_t>(n) + 2 * Arena::bytes<int64_t>(n + 1) +
              2 * Arena::bytes<char>(32 * n) + 2 * Arena::bytes<int8_t>(n) + Arena::bytes<float>(n));
  for (Buffer<int64_t>* column : columns) arena.take(n, *column);
  arena.take(n + 1, out.text_offsets);
  arena.take(n + 1, out.sentence_offsets);
  arena.take(32 * n, out.chunk_id);
  arena.take(32 * n, out.text_id);
  arena.take(n, out.relevance);
  arena.take(n, out.end_reason);
  arena.take(n, out.score);
  out.text = Buffer<char>(total.text);
  out.chunk_vectors = Buffer<float>(total.chunk_values);
  out.sentence_start = Buffer<int64_t>(total.sentence);
  out.sentence_end = Buffer<int64_t>(total.sentence);
  out.sentence_vectors = Buffer<float>(total.sentence_values);
  out.text_offsets[n] = total.text;
  out.sentence_offsets[n] = total.sentence;
  const int64_t taken = (total.chunk_values + total.sentence_values) * static_cast<int64_t>(sizeof(float));
  parallel_for(static_cast<int64_t>(blocks.size()), threads, [&](int64_t b) {
    fill(texts, has_ids, first_row, blocks[static_cast<size_t>(b)], places[static_cast<size_t>(b)], out);
    blocks[static_cast<size_t>(b)] = ChunkBlock{};  // frees its memory while the others are copied
  });
#ifdef __GLIBC__
  // The vectors of a block were allocated in small parts. Other allocations between these parts keep the allocator from
  // returning the memory to the system: 2 GB in a call with 2 GB of vectors. Returning it here takes 0.1 s of such a
  // call. The next call then has up to 330,000 more page faults, as in fresh memory. They take a second of system time
  // on two busy cores.
  if (taken > kMuch) malloc_trim(0);
#else
  (void)taken;
#endif
  return out;
}

}  // namespace pychunk
