#include "common/hash.h"

#include <bit>
#include <cstring>

#include "common/parallel.h"

namespace pychunk {
namespace {

constexpr uint64_t kMultiplier1 = 0x87c37b91114253d5u, kMultiplier2 = 0x4cf5ad432745937fu;

// Converts between the native byte order and little endian, in either direction.
uint64_t little_endian(uint64_t value) {
  return std::endian::native == std::endian::big ? __builtin_bswap64(value) : value;
}

uint64_t load64(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, 8);
  return little_endian(value);
}

uint64_t avalanche(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

uint64_t mix1(uint64_t x) { return std::rotl(x * kMultiplier1, 31) * kMultiplier2; }
uint64_t mix2(uint64_t x) { return std::rotl(x * kMultiplier2, 33) * kMultiplier1; }

// Hashes kTogether texts of equal size with seed `seed`.
template <size_t kTogether>
void hash_together(const char* const (&from)[kTogether], size_t size, uint64_t seed, Hash128 (&out)[kTogether]) {
  uint64_t a[kTogether], b[kTogether];
  for (size_t k = 0; k < kTogether; ++k) a[k] = b[k] = seed;
  size_t i = 0;
  for (; i + 16 <= size; i += 16)
#pragma GCC unroll 2
    for (size_t k = 0; k < kTogether; ++k) {
      a[k] = (std::rotl(a[k] ^ mix1(load64(from[k] + i)), 27) + b[k]) * 5 + 0x52dce729u;
      b[k] = (std::rotl(b[k] ^ mix2(load64(from[k] + i + 8)), 31) + a[k]) * 5 + 0x38495ab5u;
    }
  const size_t left = size - i;
  for (size_t k = 0; k < kTogether; ++k) {
    char tail[16] = {};
    if (left > 0) std::memcpy(tail, from[k] + i, left);
    if (left > 8) b[k] ^= mix2(load64(tail + 8));
    if (left > 0) a[k] ^= mix1(load64(tail));
    a[k] ^= size, b[k] ^= size;
    a[k] += b[k], b[k] += a[k];
    a[k] = avalanche(a[k]), b[k] = avalanche(b[k]);
    a[k] += b[k], b[k] += a[k];
    out[k] = {a[k], b[k]};
  }
}

constexpr int64_t kBlocksTogether = 2;

}  // namespace

Hash128 hash128(std::string_view bytes, uint64_t seed) {
  Hash128 found[1];
  hash_together<1>({bytes.data()}, bytes.size(), seed, found);
  return found[0];
}

void block_hashes(std::string_view bytes, size_t size, int threads, uint32_t* out) {
  const auto whole = static_cast<int64_t>(bytes.size() / size), together = whole / kBlocksTogether;
  parallel_for(together, threads, [&](int64_t task) {
    const int64_t first = task * kBlocksTogether;
    const char* const from = bytes.data() + static_cast<size_t>(first) * size;
    Hash128 found[kBlocksTogether];
    hash_together<kBlocksTogether>({from, from + size}, size, 0, found);
    for (int64_t k = 0; k < kBlocksTogether; ++k) out[first + k] = static_cast<uint32_t>(found[k].low);
  });
  for (size_t block = static_cast<size_t>(together * kBlocksTogether); block * size < bytes.size(); ++block)
    out[block] = static_cast<uint32_t>(hash128(bytes.substr(block * size, size), 0).low);
}

Hash128 chunk_hash(const Hash128& document, int64_t start, int64_t end, const Hash128& text) {
  const uint64_t words[] = {
      little_endian(document.low), little_endian(document.high), little_endian(start),
      little_endian(end),          little_endian(text.low),      little_endian(text.high),
  };
  return hash128({reinterpret_cast<const char*>(words), sizeof(words)}, 0);
}

Hash128 text_hash(const Hash128& document, const Hash128& text, int64_t number) {
  const uint64_t words[] = {
      little_endian(document.low), little_endian(document.high), little_endian(text.low),
      little_endian(text.high),    little_endian(number),
  };
  return hash128({reinterpret_cast<const char*>(words), sizeof(words)}, 0);
}

void write_hex(const Hash128& hash, char* out) {
  const auto write_eight = [](uint32_t value, char* to) {
    // Each byte of x becomes a digit, the highest digit first.
    uint64_t x = __builtin_bswap32(value);
    x = (x | x << 16) & 0x0000ffff0000ffffu;
    x = (x | x << 8) & 0x00ff00ff00ff00ffu;
    x = (x >> 4 & 0x000f000f000f000fu) | (x & 0x000f000f000f000fu) << 8;
    const uint64_t letters = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;  // 1 for digits from a to f
    x += 0x3030303030303030u + letters * ('a' - '0' - 10);
    x = little_endian(x);
    std::memcpy(to, &x, sizeof x);
  };
  write_eight(static_cast<uint32_t>(hash.high >> 32), out);
  write_eight(static_cast<uint32_t>(hash.high), out + 8);
  write_eight(static_cast<uint32_t>(hash.low >> 32), out + 16);
  write_eight(static_cast<uint32_t>(hash.low), out + 24);
}

}  // namespace pychunk
