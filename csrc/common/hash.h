// The 128-bit content hash of chunk ids: MurmurHash3_x64_128 (Austin Appleby, public domain), at 4 to 5 GB/s.
#pragma once
#include <cstdint>
#include <string_view>

namespace pychunk {

struct Hash128 {
  uint64_t low, high;
};

Hash128 hash128(std::string_view bytes, uint64_t seed);

// Returns the id of a chunk: the hash of its document's id, its span (in characters) and its text.
Hash128 chunk_hash(const Hash128& document, int64_t start, int64_t end, std::string_view text);

// Writes 32 lower-case hexadecimal digits, high half first.
void write_hex(const Hash128& hash, char* out);

}  // namespace pychunk
