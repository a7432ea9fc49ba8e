#include "tokens/sentencepiece/piece_trie.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/check.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

constexpr size_t kMostNodes = size_t{1} << 24;  // the bits of a place
constexpr size_t kMostTriePieces = (size_t{1} << 24) - 1;

const uint8_t* bytes_of_text(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

}  // namespace

PieceTrie::PieceTrie(const std::vector<Piece>& pieces) : pages_(0x110000 >> 8, 0), codes_(256, 0) {
  PYCHUNK_CHECK(pieces.size() < kMostTriePieces, "pieces: there must be fewer than ", kMostTriePieces, ", got ",
                pieces.size());
  nodes_.assign(1024, Node{});
  if (pieces.empty()) return;
  number_characters(pieces);
  std::vector<Coded> coded;
  coded.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    Coded& own = coded.emplace_back();
    own.id = piece.id;
    own.score = piece.score;
    PYCHUNK_CHECK(static_cast<size_t>(own.id) < kMostTriePieces, "pieces: the ids must be below ", kMostTriePieces);
    for (size_t at = 0; at < piece.text.size();) {
      const auto [c, length] = decode_utf8(bytes_of_text(piece.text) + at);
      own.codes.push_back(code(c));
      at += static_cast<size_t>(length);
    }
  }
  // Most pieces differ in their first four characters, which are one number here.
  std::vector<uint64_t> heads(coded.size(), 0);
  std::vector<uint32_t> order(coded.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    for (size_t k = 0; k < std::min<size_t>(coded[i].codes.size(), 4); ++k)
      heads[i] |= static_cast<uint64_t>(coded[i].codes[k]) << (48 - 16 * k);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (heads[a] != heads[b]) return heads[a] < heads[b];
    return coded[a].codes != coded[b].codes ? coded[a].codes < coded[b].codes : coded[a].id < coded[b].id;
  });
  for (size_t i = 1; i < order.size(); ++i)
    PYCHUNK_CHECK(coded[order[i]].codes != coded[order[i - 1]].codes, "pieces: '", pieces[order[i]].text,
                  "' has two ids, ", coded[order[i - 1]].id, " and ", coded[order[i]].id);
  std::vector<Coded> sorted;
  sorted.reserve(coded.size());
  for (const uint32_t i : order) sorted.push_back(std::move(coded[i]));
  build(sorted);
  used_ = {};
}

void PieceTrie::number_characters(const std::vector<Piece>& pieces) {
  std::vector<uint32_t> occurrences(0x110000);
  for (const Piece& piece : pieces)
    for (size_t at = 0; at < piece.text.size();) {
      const auto [c, length] = decode_utf8(bytes_of_text(piece.text) + at);
      ++occurrences[c];
      at += static_cast<size_t>(length);
    }
  std::vector<std::pair<int64_t, uint32_t>> counts;  // minus the number of occurrences, code point
  for (uint32_t c = 0; c < occurrences.size(); ++c)
    if (occurrences[c] > 0) counts.emplace_back(-int64_t{occurrences[c]}, c);
  std::sort(counts.begin(), counts.end());
  PYCHUNK_CHECK(counts.size() < 0xFFFF, "pieces: they must have fewer than 65,535 different characters, got ",
                counts.size());
  characters_ = counts.size();
  for (size_t i = 0; i < counts.size(); ++i) {
    const uint32_t c = counts[i].second;
    uint16_t& page = pages_[c >> 8];
    if (page == 0) {
      page = static_cast<uint16_t>(codes_.size() >> 8);
      codes_.resize(codes_.size() + 256, 0);
    }
    codes_[static_cast<size_t>(page) << 8 | (c & 0xFF)] = static_cast<uint16_t>(i + 1);
  }
}

uint32_t PieceTrie::free_place(const std::vector<uint16_t>& codes) {
  const auto is_free = [&](size_t node) { return node >= nodes_.size() || nodes_[node].bits == 0; };
  while (!is_free(first_free_)) ++first_free_;
  const auto fits = [&](uint32_t place) {
    if (place < used_.size() && used_[place]) return false;
    return std::all_of(codes.begin(), codes.end(), [&](uint16_t code) { return is_free(place + code); });
  };
  // Long runs of nearly full nodes would make this search quadratic, so it starts at the last success. Nodes with one
  // child fill the gaps, and have a start of their own.
  uint32_t& next = codes.size() > 1 ? next_ : next_single_;
  uint32_t place = std::max(next, first_free_ > codes[0] ? first_free_ - codes[0] : 1u);
  while (!fits(place)) ++place;
  if (codes.size() == 1)
    next = place + 1;
  else if (place > next + 64)
    next = place - 64;
  PYCHUNK_CHECK(place + characters_ + 1 < kMostNodes, "pieces: they are too many or too long for a trie of ",
                kMostNodes, " nodes");
  if (used_.size() <= place) used_.resize(2 * place + 1024);
  used_[place] = true;
  if (nodes_.size() < place + characters_ + 1) nodes_.resize(place + place / 4 + characters_ + 1024, Node{});
  return place;
}

// Places the nodes breadth first, so that the nodes that most words visit are close together.
void PieceTrie::build(const std::vector<Coded>& pieces) {
  struct Open {
    size_t first, last, depth;  // pieces [first, last) share their first `depth` characters
    uint32_t node;              // whose children are not placed yet; unused at depth 0
  };
  std::vector<Open> open{{0, pieces.size(), 0, 0}};
  std::vector<uint16_t> codes;
  std::vector<size_t> begins;
  for (size_t n = 0; n < open.size(); ++n) {
    auto [first, last, depth, own] = open[n];
    if (depth > 0 && pieces[first].codes.size() == depth) {
      nodes_[own].bits |= static_cast<uint64_t>(pieces[first].id + 1) << 40;
      nodes_[own].score = pieces[first++].score;
    }
    if (first == last) continue;
    codes.clear();
    begins.clear();
    for (size_t i = first; i < last; ++i) {
      const uint16_t code = pieces[i].codes[depth];
      if (!codes.empty() && codes.back() == code) continue;
      codes.push_back(code);
      begins.push_back(i);
    }
    begins.push_back(last);
    const uint32_t place = free_place(codes);
    if (depth == 0)
      root_ = place;
    else
      nodes_[own].bits |= uint64_t{place} << 16;
    for (size_t i = 0; i < codes.size(); ++i) {
      nodes_[place + codes[i]].bits = codes[i];
      open.push_back({begins[i], begins[i + 1], depth + 1, place + codes[i]});
    }
  }
}

int32_t PieceTrie::find(std::string_view text) const {
  uint32_t place = root_;
  Node node;
  for (size_t at = 0; at < text.size();) {
    const auto [c, length] = decode_utf8(bytes_of_text(text) + at);
    if (at > 0 && place == 0) return -1;
    node = child(place, code(c));
    if (node.bits == 0) return -1;
    place = node.children();
    at += static_cast<size_t>(length);
  }
  return node.id();
}

size_t PieceTrie::longest(std::string_view text) const {
  size_t best = 0;
  uint32_t place = root_;
  for (size_t at = 0; at < text.size() && place != 0;) {
    const auto [c, length] = decode_utf8(bytes_of_text(text) + at);
    const Node node = child(place, code(c));
    if (node.bits == 0) break;
    at += static_cast<size_t>(length);
    if (node.id() >= 0) best = at;
    place = node.children();
  }
  return best;
}

}  // namespace pychunk
