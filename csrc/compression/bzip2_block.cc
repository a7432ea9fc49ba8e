#include "compression/bzip2_block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pychunk {
namespace {

constexpr int kMostTrees = 6, kMostSymbols = 258, kMostSelectors = 18002, kGroup = 50;
constexpr int kMostBits = 20;   // the length of the longest code
constexpr int kTableBits = 10;  // codes up to this length, nearly all of a text, take one look-up

// A canonical prefix code. Lengths that form no complete code decode as in libbz2, which does not check them.
class BzipTree {
 public:
  void build(std::span<const uint8_t> lengths) {
    const auto [shortest, longest] = std::minmax_element(lengths.begin(), lengths.end());
    shortest_ = *shortest;
    symbols_ = 0;
    limit_.fill(-1);
    int64_t first = 0;
    for (int length = shortest_; length <= *longest; ++length, first <<= 1) {
      offset_[length] = first - symbols_;
      for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
        if (lengths[symbol] == length) order_[symbols_++] = static_cast<uint16_t>(symbol), ++first;
      limit_[length] = first - 1;
    }
    for (uint32_t prefix = 0; prefix < table_.size(); ++prefix) {
      const auto [symbol, length] = search(prefix << (kMostBits - kTableBits), kTableBits);
      table_[prefix] = symbol < 0 ? 0 : static_cast<uint16_t>(symbol << 5 | length);
    }
  }
  // Reads a symbol from bits that were refilled; -1 if no code has these bits.
  int read(BzipBits& bits) const {
    if (const uint16_t found = table_[bits.peek(kTableBits)]) {
      bits.skip(found & 31);
      return found >> 5;
    }
    const auto [symbol, length] = search(bits.peek(kMostBits), kMostBits);
    bits.skip(length);
    return symbol;
  }

 private:
  struct Found {
    int symbol, length;
  };
  // The symbol with which `window`, of kMostBits bits, begins, if its code has at most `most` bits.
  Found search(uint32_t window, int most) const {
    for (int length = shortest_; length <= most; ++length) {
      const int64_t code = window >> (kMostBits - length);
      if (code > limit_[length]) continue;
      const int64_t place = code - offset_[length];
      return {place >= 0 && place < symbols_ ? order_[static_cast<size_t>(place)] : -1, length};
    }
    return {-1, most};
  }

  std::array<uint16_t, 1 << kTableBits> table_{};  // symbol << 5 | length; 0 for a longer code
  std::array<int64_t, kMostBits + 1> limit_{};     // the last code of each length
  std::array<int64_t, kMostBits + 1> offset_{};    // the first code of each length, less its place in `order_`
  std::array<uint16_t, kMostSymbols> order_{};     // the symbols by code
  int shortest_ = 0, symbols_ = 0;
};

// The head of a block: its bytes, its codes, and which code each group of symbols has.
struct BzipHead {
  std::array<uint8_t, 256> used{};
  int alphabet = 0;  // symbols: two for runs, one for each byte in use but the first, and the end
  std::array<BzipTree, kMostTrees> trees;
  std::array<uint8_t, kMostSelectors> selectors;
  int groups = 0;
};

int read_used(BzipBits& bits, BzipHead& head) {
  int count = 0;
  const uint32_t rows = bits.read(16);
  for (int row = 0; row < 16; ++row) {
    if (!(rows >> (15 - row) & 1)) continue;
    const uint32_t cells = bits.read(16);
    for (int cell = 0; cell < 16; ++cell)
      if (cells >> (15 - cell) & 1) head.used[count++] = static_cast<uint8_t>(16 * row + cell);
  }
  return count;
}

bool read_selectors(BzipBits& bits, int trees, BzipHead& head) {
  std::array<uint8_t, kMostTrees> recent;
  std::iota(recent.begin(), recent.end(), uint8_t{0});
  const int count = static_cast<int>(bits.read(15));
  for (int i = 0; i < count && !bits.is_short(); ++i) {
    int place = 0;
    while (bits.read(1))
      if (++place >= trees) return false;
    std::rotate(recent.begin(), recent.begin() + place, recent.begin() + place + 1);
    if (i < kMostSelectors) head.selectors[i] = recent[0];  // libbz2 ignores more, too
  }
  head.groups = std::min(count, kMostSelectors);
  return count > 0;
}

bool read_lengths(BzipBits& bits, std::span<uint8_t> lengths) {
  int length = static_cast<int>(bits.read(5));
  for (uint8_t& own : lengths) {
    while (true) {
      if (length < 1 || length > kMostBits) return false;
      if (!bits.read(1)) break;
      length += bits.read(1) ? -1 : 1;
    }
    own = static_cast<uint8_t>(length);
  }
  return true;
}

bool read_head(BzipBits& bits, BzipHead& head) {
  const int used = read_used(bits, head);
  if (used == 0) return false;
  head.alphabet = used + 2;
  const int trees = static_cast<int>(bits.read(3));
  if (trees < 2 || trees > kMostTrees || !read_selectors(bits, trees, head)) return false;
  std::array<uint8_t, kMostSymbols> lengths;
  for (int tree = 0; tree < trees; ++tree) {
    const std::span<uint8_t> own(lengths.data(), static_cast<size_t>(head.alphabet));
    if (!read_lengths(bits, own)) return false;
    head.trees[tree].build(own);
  }
  return true;
}

// Moves the byte at `place` to the front, and returns it.
uint8_t to_front(uint8_t* recent, int place) {
  const uint8_t byte = recent[place];
  if (place < 16) {  // nine in ten places; a call of memmove would take longer
    for (int i = place; i > 0; --i) recent[i] = recent[i - 1];
  } else {
    std::memmove(recent + 1, recent, static_cast<size_t>(place));
  }
  recent[0] = byte;
  return byte;
}

// Reads the bytes of the last column. Returns their number, or -1 if the data is damaged.
int64_t read_bytes(BzipBits& bits, BzipHead& head, int64_t most, uint8_t* out, std::array<uint32_t, 256>& counts) {
  uint8_t* const recent = head.used.data();
  const int end = head.alphabet - 1;
  int64_t size = 0, run = 0, unit = 1;
  for (int group = 0; group < head.groups; ++group) {
    if (bits.is_short()) return -1;
    const BzipTree& tree = head.trees[head.selectors[group]];
    for (int i = 0; i < kGroup; ++i) {
      if (!bits.has(kMostBits)) bits.refill();
      const int symbol = tree.read(bits);
      if (symbol < 0) return -1;
      if (symbol <= 1) {  // a digit, 1 or 2, of a run's length in the bijective system of base 2
        if (unit >= 2 << 20) return -1;
        run += unit << symbol;
        unit <<= 1;
        continue;
      }
      if (run) {
        if (run > most - size) return -1;
        std::memset(out + size, recent[0], static_cast<size_t>(run));
        counts[recent[0]] += static_cast<uint32_t>(run);
        size += run;
        run = 0, unit = 1;
      }
      if (symbol == end) return size;
      if (size >= most) return -1;
      const uint8_t byte = to_front(recent, symbol - 1);
      out[size++] = byte;
      ++counts[byte];
    }
  }
  return -1;  // more symbols than the head announced
}

template <size_t kChains>
void follow_rows(std::span<BzipBlock*> blocks, int64_t begin, int64_t end) {
  const uint32_t* follow[kChains];
  uint8_t* out[kChains];
  uint32_t row[kChains];
  for (size_t i = 0; i < kChains; ++i)
    follow[i] = blocks[i]->follow.data, out[i] = blocks[i]->bytes.data, row[i] = blocks[i]->row;
  for (int64_t at = begin; at < end; ++at)
    for (size_t i = 0; i < kChains; ++i) {
      const uint32_t found = follow[i][row[i]];
      out[i][at] = static_cast<uint8_t>(found);
      row[i] = found >> 8;
    }
  for (size_t i = 0; i < kChains; ++i) blocks[i]->row = row[i];
}

// bzip2's checksum reads the bits of a byte from the highest on. Row k of the table is for a byte with k bytes after.
constexpr auto kBzipCrc = [] {
  std::array<std::array<uint32_t, 256>, 8> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t value = byte << 24;
    for (int bit = 0; bit < 8; ++bit) value = value << 1 ^ (value >> 31 ? 0x04C11DB7u : 0);
    table[0][byte] = value;
  }
  for (size_t row = 1; row < 8; ++row)
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = table[row - 1][byte];
      table[row][byte] = before << 8 ^ table[0][before >> 24];
    }
  return table;
}();

uint32_t bzip_crc(std::span<const uint8_t> bytes) {
  uint32_t crc = ~uint32_t{0};
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    const uint8_t* own = bytes.data() + at;
    crc = kBzipCrc[7][own[0] ^ crc >> 24] ^ kBzipCrc[6][own[1] ^ (crc >> 16 & 255)] ^
          kBzipCrc[5][own[2] ^ (crc >> 8 & 255)] ^ kBzipCrc[4][own[3] ^ (crc & 255)] ^ kBzipCrc[3][own[4]] ^
          kBzipCrc[2][own[5]] ^ kBzipCrc[1][own[6]] ^ kBzipCrc[0][own[7]];
  }
  for (; at < bytes.size(); ++at) crc = crc << 8 ^ kBzipCrc[0][bytes[at] ^ crc >> 24];
  return ~crc;
}

// Returns the place after the next four equal bytes, or -1 if there are none.
int64_t after_run(const uint8_t* bytes, int64_t at, int64_t size) {
  while (at + 4 <= size) {
    if (bytes[at + 3] != bytes[at + 2]) {
      at += 3;
    } else if (bytes[at + 2] != bytes[at + 1]) {
      at += 2;
    } else if (bytes[at + 1] != bytes[at]) {
      at += 1;
    } else {
      return at + 4;
    }
  }
  return -1;
}

}  // namespace

BzipState read_block(BzipBits& bits, int64_t most, BzipBlock& block) {
  bits.refill();
  block.crc = bits.read(32);
  const bool is_randomised = bits.read(1) != 0;
  block.row = bits.read(24);
  const BzipState wrong = is_randomised && !bits.is_short() ? BzipState::kRandomised : BzipState::kDamaged;
  BzipHead head;
  if (!read_head(bits, head)) return bits.is_short() ? BzipState::kShort : BzipState::kDamaged;
  if (bits.is_short()) return BzipState::kShort;
  block.bytes = Buffer<uint8_t>(most);
  std::array<uint32_t, 256> counts{};
  block.size = read_bytes(bits, head, most, block.bytes.data, counts);
  if (bits.is_short()) return BzipState::kShort;
  if (block.size < 0 || block.row >= block.size) return BzipState::kDamaged;
  if (is_randomised) return wrong;
  block.follow = Buffer<uint32_t>(block.size);
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), uint32_t{0});
  for (int64_t i = 0; i < block.size; ++i) {
    const uint8_t byte = block.bytes[i];
    block.follow[counts[byte]++] = static_cast<uint32_t>(i) << 8 | byte;
  }
  return BzipState::kGood;
}

void unwind(std::span<BzipBlock> blocks) {
  std::array<BzipBlock*, kBzipChains> order{};
  for (size_t i = 0; i < blocks.size(); ++i) order[i] = &blocks[i];
  std::sort(order.begin(), order.begin() + blocks.size(), [](auto* a, auto* b) { return a->size > b->size; });
  int64_t done = 0;
  for (size_t count = blocks.size(); count > 0; --count) {  // from here on, the shortest of the blocks is complete
    const int64_t end = order[count - 1]->size;
    const std::span<BzipBlock*> own(order.data(), count);
    if (count == 4) follow_rows<4>(own, done, end);
    if (count == 3) follow_rows<3>(own, done, end);
    if (count == 2) follow_rows<2>(own, done, end);
    if (count == 1) follow_rows<1>(own, done, end);
    done = end;
  }
  for (BzipBlock& block : blocks) block.follow = {};
}

int64_t expanded_size(const BzipBlock& block) {
  int64_t total = block.size;
  for (int64_t at = 0; (at = after_run(block.bytes.data, at, block.size)) >= 0; ++at) {
    if (at == block.size) return -1;
    total += block.bytes.data[at] - 1;
  }
  return total;
}

bool expand(const BzipBlock& block, uint8_t* out) {
  const uint8_t* bytes = block.bytes.data;
  uint8_t* to = out;
  int64_t from = 0;
  for (int64_t at = 0; (at = after_run(bytes, at, block.size)) >= 0; from = ++at) {
    std::memcpy(to, bytes + from, static_cast<size_t>(at - from));
    to += at - from;
    std::memset(to, bytes[at - 1], bytes[at]);
    to += bytes[at];
  }
  std::memcpy(to, bytes + from, static_cast<size_t>(block.size - from));
  to += block.size - from;
  return bzip_crc({out, to}) == block.crc;
}

}  // namespace pychunk
