// The pieces of a SentencePiece vocabulary as a double-array trie of characters. A step takes one access to memory for
// a character of any length; a trie of bytes would take three for a Chinese or Thai one.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/buffer.h"

namespace pychunk {

class PieceTrie {
 public:
  struct Piece {
    std::string_view text;  // valid UTF-8, not empty
    int32_t id;
    double score;
  };

  // A node, in 16 bytes: the code of its last character (16 bits), the place of its children (24), and 1 + the id of
  // the piece that ends there (24). The score of the piece is there, too: in a table of its own it took a quarter of
  // the time.
  struct Node {
    uint64_t bits = 0;  // 0: no node
    double score = 0;
    uint16_t code() const { return static_cast<uint16_t>(bits); }
    uint32_t children() const { return static_cast<uint32_t>(bits >> 16 & 0xFFFFFF); }  // 0: none
    int32_t id() const { return static_cast<int32_t>(bits >> 40) - 1; }                 // -1: none
  };

  // Throws std::invalid_argument if two pieces are the same text.
  explicit PieceTrie(const std::vector<Piece>& pieces);

  // Returns the code of a character, or 0 if no piece contains it. Frequent characters have small codes, so that the
  // children of a node are close together.
  uint16_t code(uint32_t code_point) const {
    return codes_[static_cast<size_t>(pages_[code_point >> 8]) << 8 | (code_point & 0xFF)];
  }

  Node first(uint16_t code) const { return child(root_, code); }

  // Returns the child for a character of a node whose children are at `place`, which may be 0.
  Node child(uint32_t place, uint16_t code) const {
    const Node& node = nodes_[place + code];
    return node.code() == code && code != 0 ? node : Node{};
  }
  void prefetch(uint32_t place, uint16_t code) const { __builtin_prefetch(&nodes_[place + code]); }
  void prefetch_first(uint16_t code) const { prefetch(root_, code); }

  // Returns the number of different characters in the pieces, which is the highest code.
  size_t characters() const { return characters_; }

  // Returns the id of a piece, or -1.
  int32_t find(std::string_view text) const;

  // Returns the number of bytes of the longest piece with which the text begins, or 0.
  size_t longest(std::string_view text) const;

 private:
  // The child of a node for a code is nodes_[place + code], if that node has this code. No two nodes have the same
  // place for their children, so the code alone identifies the parent.
  struct Coded {
    std::vector<uint16_t> codes;
    int32_t id;
    double score;
  };

  void number_characters(const std::vector<Piece>& pieces);
  void build(const std::vector<Coded>& pieces);
  uint32_t free_place(const std::vector<uint16_t>& codes);

  std::vector<uint16_t> pages_, codes_;
  Values<Node> nodes_;
  std::vector<bool> used_;  // while the trie is built
  uint32_t root_ = 0, first_free_ = 1, next_ = 1, next_single_ = 1;
  size_t characters_ = 0;
};

}  // namespace pychunk
