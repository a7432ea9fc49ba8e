#include "tokens/vocabulary.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace pychunk {

namespace {

struct Entry {
  std::string_view piece;
  // The first 8 bytes, zero after the end, with the first byte highest. Most pieces differ in them.
  uint64_t head;
  int32_t id;

  uint32_t byte(size_t at) const {
    return at < 8 ? static_cast<uint32_t>(head >> (56 - 8 * at) & 0xFF) : static_cast<uint8_t>(piece[at]);
  }
};

uint64_t head_of(std::string_view piece) {
  uint64_t head = 0;
  for (size_t i = 0; i < std::min<size_t>(piece.size(), 8); ++i)
    head |= static_cast<uint64_t>(static_cast<uint8_t>(piece[i])) << (56 - 8 * i);
  return head;
}

// Returns the tokens in order. If `continues`, it returns only tokens that continue words, without their prefix.
std::vector<Entry> sorted(const std::vector<std::string>& tokens, std::string_view prefix, bool continues) {
  std::vector<Entry> entries;
  entries.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    std::string_view piece = tokens[id];
    if (continues) {
      if (piece.substr(0, prefix.size()) != prefix) continue;
      piece.remove_prefix(prefix.size());
    }
    entries.push_back({piece, head_of(piece), static_cast<int32_t>(id)});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.head != b.head ? a.head < b.head : a.piece != b.piece ? a.piece < b.piece : a.id < b.id;
  });
  return entries;
}

}  // namespace

Vocabulary::Vocabulary(const std::vector<std::string>& tokens, std::string_view prefix) {
  build_hash(tokens);
  build_trie(tokens, prefix);
}

void Vocabulary::build_hash(const std::vector<std::string>& tokens) {
  // The table is half empty, so a look-up rarely goes past its first cache line. In BERT vocabularies a higher id means
  // a rarer token. Frequent tokens come first and get the slot to which they hash.
  const size_t size = std::bit_ceil(std::max<size_t>(tokens.size() * 2, 64));
  shift_ = 64 - std::countr_zero(size);
  const size_t spare = 256;  // probes run past the end instead of wrapping around
  slots_.assign(size + spare, Slot{{0, 0}, -1, 0});
  for (size_t id = 0; id < tokens.size(); ++id) {
    const std::string& token = tokens[id];
    if (token.empty() || token.size() > kKeyBytes || token.find('\0') != std::string::npos) continue;
    uint8_t padded[kKeyBytes] = {};
    std::memcpy(padded, token.data(), token.size());
    const WordKey key = load_key(padded, token.size());
    Slot* slot = slots_.data() + (hash_key(key) >> shift_);
    while (slot->length != 0)
      if (++slot + 1 >= slots_.data() + slots_.size())
        throw std::invalid_argument("vocabulary: too many tokens have the same hash");
    *slot = {key, static_cast<int32_t>(id), static_cast<uint32_t>(token.size())};
  }
}

void Vocabulary::build_trie(const std::vector<std::string>& tokens, std::string_view prefix) {
  // A node of the trie that is not placed yet. The entries [first, last) share their first `depth` bytes.
  struct Node {
    size_t first, last, depth;
    uint32_t cell;  // the cell whose base is not set yet; unused for the root, at depth 0
  };
  uint32_t next_base = 1, next_single = 1, first_free = 1;
  std::vector<bool> base_used;
  cells_.assign(1024, Cell{0, -1});
  const auto is_free = [&](uint32_t cell) { return cell >= cells_.size() || cells_[cell].bits == 0; };

  for (const bool continues : {false, true}) {
    const std::vector<Entry> entries = sorted(tokens, prefix, continues);
    for (size_t i = 1; i < entries.size(); ++i)
      if (entries[i].piece == entries[i - 1].piece)
        throw std::invalid_argument("vocabulary: token '" + tokens[static_cast<size_t>(entries[i].id)] +
                                    "' has two ids, " + std::to_string(entries[i - 1].id) + " and " +
                                    std::to_string(entries[i].id));
    const size_t empty = !entries.empty() && entries[0].piece.empty() ? 1 : 0;  // an empty piece matches nothing

    std::vector<Node> nodes{{empty, entries.size(), 0, 0}};
    nodes.reserve(4 * entries.size());
    struct Child {
      uint32_t label;
      size_t first, last;
    };
    std::vector<Child> children;
    for (size_t n = 0; n < nodes.size(); ++n) {  // breadth first: the nodes that most words visit are close together
      const Node node = nodes[n];
      size_t first = node.first;
      if (node.depth > 0 && entries[first].piece.size() == node.depth) {
        cells_[node.cell].id = entries[first].id;
        ++first;
      }
      if (first == node.last) continue;
      children.clear();
      for (size_t i = first; i < node.last; ++i) {
        const uint32_t label = entries[i].byte(node.depth) + 1u;
        if (children.empty() || children.back().label != label) children.push_back({label, i, i});
        children.back().last = i + 1;
      }
      while (!is_free(first_free)) ++first_free;
      uint32_t base = first_free > children[0].label ? first_free - children[0].label : 1;
      const auto fits = [&](uint32_t candidate) {
        if (candidate < base_used.size() && base_used[candidate]) return false;
        return std::all_of(children.begin(), children.end(),
                           [&](const Child& child) { return is_free(candidate + child.label); });
      };
      // Long runs of nearly full cells would make this search quadratic, so it starts at the last success. Nodes with
      // one child (four in five, which fill the gaps) and nodes with several have separate starts.
      base = std::max(base, children.size() > 1 ? next_base : next_single);
      while (!fits(base)) ++base;
      if (children.size() > 1 && base > next_base + 64) next_base = base - 64;
      if (children.size() == 1) next_single = base + 1;
      if (base >= 1u << 23) throw std::invalid_argument("vocabulary: the tokens are too many or too long for the trie");
      if (base_used.size() <= base) base_used.resize(base + 1);
      base_used[base] = true;
      if (cells_.size() < base + 257 + 1) cells_.resize(base + 257 + 1024, Cell{0, -1});
      if (node.depth == 0)
        roots_[continues] = base;
      else
        cells_[node.cell].bits |= base << 9;
      for (const Child& child : children) {
        cells_[base + child.label].bits = child.label;
        nodes.push_back({child.first, child.last, node.depth + 1, base + child.label});
      }
    }
  }
}

}  // namespace pychunk
