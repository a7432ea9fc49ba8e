#include "tokens/sentencepiece/character_map.h"

#include <bit>
#include <cstring>

#include "common/check.h"
#include "common/dispatch.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

constexpr size_t kPages = 0x110000 / 256;

}  // namespace

CharacterMap::CharacterMap(std::string_view stored) : pages_(kPages, 0), cells_(256) {
  if (stored.empty()) return;
  read(stored);
  check();
  add_entries(offset(units_[0]), 0, -1);
}

void CharacterMap::read(std::string_view stored) {
  static_assert(std::endian::native == std::endian::little);
  uint32_t bytes = 0;
  PYCHUNK_CHECK(stored.size() > sizeof bytes, "precompiled_charsmap must hold at least 5 bytes, got ", stored.size());
  std::memcpy(&bytes, stored.data(), sizeof bytes);
  stored.remove_prefix(sizeof bytes);
  PYCHUNK_CHECK(
      bytes >= 1024 && bytes % 1024 == 0 && bytes < stored.size(),
      "precompiled_charsmap: the trie must have a multiple of 1,024 bytes and end before the replacements; got ", bytes,
      " of ", stored.size(), " bytes");
  units_.resize(bytes / sizeof(uint32_t));
  std::memcpy(units_.data(), stored.data(), bytes);
  strings_ = stored.substr(bytes);
}

void CharacterMap::check() const {
  PYCHUNK_CHECK(strings_.back() == '\0', "precompiled_charsmap: the last replacement must end with a NUL");
  PYCHUNK_CHECK(kernels().find_invalid_utf8(reinterpret_cast<const uint8_t*>(strings_.data()), strings_.size()) < 0,
                "precompiled_charsmap: the replacements must be valid UTF-8");
  PYCHUNK_CHECK(!is_leaf(units_[0]), "precompiled_charsmap: the root of the trie must be a node");
  for (size_t i = 0; i < units_.size(); ++i) {
    const uint32_t unit = units_[i];
    if (is_leaf(unit)) {
      const size_t value = unit & 0x7FFFFFFFu;
      PYCHUNK_CHECK(value < strings_.size() && !continues_character(static_cast<uint8_t>(strings_[value])),
                    "precompiled_charsmap: unit ", i, " must name a replacement in ", strings_.size(), " bytes, got ",
                    value);
      continue;
    }
    const size_t node = i ^ offset(unit);
    PYCHUNK_CHECK((node | 0xFF) < units_.size(), "precompiled_charsmap: unit ", i, " leads to unit ", node, " of ",
                  units_.size());
    PYCHUNK_CHECK(!has_value(unit) || is_leaf(units_[node]), "precompiled_charsmap: unit ", i,
                  " leads to a replacement, but unit ", node, " is none");
  }
}

// Adds the code points whose bytes continue from a node: `left` more bytes, or a first byte if it is -1. `bits` holds
// the bits of the bytes before.
void CharacterMap::add_entries(uint32_t node, uint32_t bits, int left) {
  const bool first = left < 0;
  for (uint32_t byte = first ? 1 : 0x80; byte < (first ? 0xF5u : 0xC0u); ++byte) {
    if (first && byte >= 0x80 && byte < 0xC2) continue;
    const uint32_t at = node ^ byte, unit = units_[at];
    if (label(unit) != byte) continue;
    const uint32_t next = at ^ offset(unit);
    const int more = !first ? left - 1 : byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    const uint32_t code_point = !first ? bits << 6 | (byte & 0x3F) : more == 0 ? byte : byte & (0x3Fu >> more);
    if (more > 0) {
      add_entries(next, code_point, more);
      continue;
    }
    if (code_point >= 0x110000) continue;
    uint16_t& page = pages_[code_point >> 8];
    if (page == 0) {
      page = static_cast<uint16_t>(cells_.size() >> 8);
      cells_.resize(cells_.size() + 256);
    }
    Entry& entry = cells_[static_cast<size_t>(page) << 8 | (code_point & 0xFF)];
    if (has_value(unit)) entry.value = static_cast<int32_t>(units_[next] & 0x7FFFFFFFu);
    for (uint32_t label_of = 1; label_of < 256 && entry.node == 0; ++label_of)
      if (label(units_[next ^ label_of]) == label_of) entry.node = next;
  }
}

bool CharacterMap::has_longer_key_with(const bool (&is)[128]) const {
  if (units_.empty()) return false;
  std::vector<bool> nodes(units_.size());
  const uint32_t root = offset(units_[0]);
  for (uint32_t i = 1; i < units_.size(); ++i) {
    const uint32_t unit = units_[i];
    // Free units have the offset 0.
    if (!is_leaf(unit) && offset(unit) != 0) nodes[i ^ offset(unit)] = true;
  }
  for (uint32_t i = 1; i < units_.size(); ++i) {
    const uint32_t byte = units_[i] & 0xFF;
    if (is_leaf(units_[i]) || byte >= 128 || !is[byte]) continue;
    const uint32_t node = i ^ byte;
    if (node != root && nodes[node]) return true;
  }
  for (uint32_t byte = 1; byte < 128; ++byte)  // keys that begin with such a character and go on
    if (is[byte] && (*this)[byte].node != 0) return true;
  return false;
}

}  // namespace pychunk
