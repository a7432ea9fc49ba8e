// The 128-bit content hash of chunk ids: MurmurHash3_x64_128 (Austin Appleby, public domain), at 4 to 5 GB/s.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pychunk {

struct Hash128 {
  uint64_t low, high;
};

Hash128 hash128(std::string_view bytes, uint64_t seed);

// Writes the low 32 bits of hash128() with seed 0 of each block of `size` bytes, of which the last one may be shorter.
//
// Each step of a hash waits for the one before, some 10 cycles for 16 bytes. Two blocks are therefore hashed at a time:
// one thread then hashes 8.3 GB/s in its cache instead of 6.8. Four at a time need more registers than there are, and
// hash 6.5 GB/s.
void block_hashes(std::string_view bytes, size_t size, int threads, uint32_t* out);

// Returns the id of a chunk: the hash of its document's id, its span (in characters) and its text, both given by their
// hashes.
Hash128 chunk_hash(const Hash128& document, int64_t start, int64_t end, const Hash128& text);

// Returns the id of a chunk's text: the hash of its document's id, its text, and the number of chunks before it in the
// document that have the same text.
Hash128 text_hash(const Hash128& document, const Hash128& text, int64_t number);

// Writes 32 lower-case hexadecimal digits, high half first.
void write_hex(const Hash128& hash, char* out);

}  // namespace pychunk
