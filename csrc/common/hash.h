// The 128-bit content hash of chunk ids: MurmurHash3_x64_128 (Austin Appleby, public domain), at 4 to 5 GB/s.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

struct Hash128 {
  uint64_t low, high;
};

Hash128 hash128(std::string_view bytes, uint64_t seed);

// Returns the id of a chunk: the hash of its document's id, its span (in characters) and its text, both given by their
// hashes.
Hash128 chunk_hash(const Hash128& document, int64_t start, int64_t end, const Hash128& text);

// Returns the id of a chunk's text: the hash of its document's id, its text, and the number of chunks before it in the
// document that have the same text.
Hash128 text_hash(const Hash128& document, const Hash128& text, int64_t number);

// Writes 32 lower-case hexadecimal digits, high half first.
void write_hex(const Hash128& hash, char* out);

}  // namespace pychunk
