#include "common/hash.h"

#include <bit>
#include <cstring>

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

}  // namespace

Hash128 hash128(std::string_view bytes, uint64_t seed) {
  uint64_t a = seed, b = seed;
  size_t i = 0;
  for (; i + 16 <= bytes.size(); i += 16) {
    a = (std::rotl(a ^ mix1(load64(bytes.data() + i)), 27) + b) * 5 + 0x52dce729u;
    b = (std::rotl(b ^ mix2(load64(bytes.data() + i + 8)), 31) + a) * 5 + 0x38495ab5u;
  }
  char tail[16] = {};
  const size_t left = bytes.size() - i;
  if (left > 0) std::memcpy(tail, bytes.data() + i, left);
  if (left > 8) b ^= mix2(load64(tail + 8));
  if (left > 0) a ^= mix1(load64(tail));
  a ^= bytes.size(), b ^= bytes.size();
  a += b, b += a;
  a = avalanche(a), b = avalanche(b);
  a += b, b += a;
  return {a, b};
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
