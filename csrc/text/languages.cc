#include "text/languages.h"

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/interrupt.h"
#include "common/parallel.h"
#include "text/utf8.h"

namespace pychunk {
namespace {

constexpr uint32_t kCodePoints = 0x110000;
constexpr size_t kParts = 4, kPart = 512;  // of a long text
constexpr int64_t kTextsOfTurn = 64;
constexpr uint32_t kBorder = ' ';  // before and after a word
constexpr size_t kColumns = 16;    // the columns of a script begin at a multiple
// |int8| <= 128, so the sum of 255 rows fits into int16.
constexpr size_t kRowsInInt16 = 255;

uint32_t class_of(uint32_t a, uint32_t b, uint32_t c, int bits) {
  uint32_t hash = (a * 0x9E3779B1U) ^ (b * 0x85EBCA77U) ^ (c * 0xC2B2AE3DU);
  hash = (hash ^ hash >> 15) * 0x2C1B3C6DU;
  return hash >> (32 - bits);
}

}  // namespace

Languages::Languages(const LanguageTables& t)
    : alone_(t.alone.begin(), t.alone.end()),
      written_in_(t.written_in.begin(), t.written_in.end()),
      languages_(static_cast<size_t>(t.weights.cols)),
      width_((languages_ + kColumns - 1) / kColumns * kColumns),
      bits_(std::bit_width(static_cast<uint64_t>(t.weights.rows)) - 1) {
  PYCHUNK_CHECK(bits_ > 0 && bits_ < 26 && t.weights.rows == int64_t{1} << bits_,
                "weights must have a power of 2 of rows, at most 1 << 25, got ", t.weights.rows);
  PYCHUNK_CHECK(languages_ > 0 && written_in_.size() % languages_ == 0 && written_in_.size() / languages_ < kScripts,
                "written_in must have a row of ", languages_, " languages for each of under 64 scripts, got ",
                written_in_.size(), " numbers");
  PYCHUNK_CHECK(t.letters.size() % 3 == 0 && t.lower.size() % 2 == 0, "letters must be triples, and lower pairs, got ",
                t.letters.size(), " and ", t.lower.size(), " numbers");
  const size_t scripts = written_in_.size() / languages_;
  PYCHUNK_CHECK(alone_.size() == scripts, "alone must hold a number for each of ", scripts, " scripts, got ",
                alone_.size());
  for (size_t s = 0; s < scripts; ++s) {
    const std::span<const uint8_t> own = std::span(written_in_).subspan(s * languages_, languages_);
    size_t first = languages_, last = 0, count = 0;
    for (size_t i = 0; i < languages_; ++i)
      if (own[i] != 0) first = std::min(first, i), last = i, ++count;
    is_shared_.push_back(count > 1);
    columns_.push_back({std::min(first, last) / kColumns * kColumns, (last / kColumns + 1) * kColumns});
  }
  weights_.resize(static_cast<size_t>(t.weights.rows) * width_);
  for (int64_t row = 0; row < t.weights.rows; ++row)
    std::copy_n(t.weights.row(row), languages_,
                weights_.begin() + static_cast<std::ptrdiff_t>(row) * static_cast<std::ptrdiff_t>(width_));
  std::vector<uint32_t> cells(kCodePoints, 0);
  for (size_t i = 0; i < t.letters.size(); i += 3) {
    PYCHUNK_CHECK(t.letters[i] <= t.letters[i + 1] && t.letters[i + 1] < kCodePoints && t.letters[i + 2] < scripts,
                  "letters must hold increasing code points and a script below ", scripts, ", got ", t.letters[i],
                  " to ", t.letters[i + 1], " of ", t.letters[i + 2]);
    // Scripts are numbered from 1 here, so that the cell of U+0000 is no letter.
    for (uint32_t c = t.letters[i]; c <= t.letters[i + 1]; ++c) cells[c] = c * kScripts + t.letters[i + 2] + 1;
  }
  for (size_t i = 0; i < t.lower.size(); i += 2) {
    const uint32_t c = t.lower[i];
    PYCHUNK_CHECK(c < kCodePoints && t.lower[i + 1] < kCodePoints, "lower must hold code points, got ", c, " and ",
                  t.lower[i + 1]);
    if (cells[c] != 0) cells[c] = t.lower[i + 1] * kScripts + cells[c] % kScripts;
  }
  cells_.assign(256, 0);  // the page of all pages without a letter
  for (uint32_t page = 0; page < kCodePoints >> 8; ++page) {
    const auto begin = cells.begin() + static_cast<std::ptrdiff_t>(page << 8), end = begin + 256;
    const bool is_empty = std::all_of(begin, end, [](uint32_t cell) { return cell == 0; });
    pages_.push_back(static_cast<uint16_t>(is_empty ? 0 : cells_.size() >> 8));
    if (!is_empty) cells_.insert(cells_.end(), begin, end);
  }
}

// The letters of a text by script, and the trigrams of its words.
struct Languages::Reader {
  const Languages& tables;
  int64_t letters[kScripts] = {};
  Values<int32_t>& classes;  // with the script above the bits_ of a class

  void read(std::string_view text) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    uint32_t script = 0, before = kBorder, last = kBorder;
    const auto end_word = [&] {
      if (last != kBorder) add(before, last, kBorder, script);
      before = last = kBorder;
    };
    for (size_t at = 0; at < text.size();) {
      const auto [c, length] = decode_utf8(bytes + at);
      at += static_cast<size_t>(length);
      const uint32_t cell = tables.cell(c), own = cell % kScripts;
      if (own != script) {
        end_word();
        script = own;
      }
      ++letters[own];
      if (own == 0 || !tables.is_shared_[own - 1]) continue;
      const uint32_t lower = cell / kScripts;
      if (tables.alone_[own - 1] != 0) {
        add(kBorder, lower, kBorder, script);
        continue;
      }
      if (last != kBorder) add(before, last, lower, script);
      before = last;
      last = lower;
    }
    end_word();
  }
  void add(uint32_t a, uint32_t b, uint32_t c, uint32_t script) {
    classes.push_back(static_cast<int32_t>(class_of(a, b, c, tables.bits_) | script << tables.bits_));
  }
};

int32_t Languages::read(std::string_view text, Values<int32_t>& classes) const {
  classes.clear();
  Reader reader{*this, {}, classes};
  if (text.size() <= kParts * kPart) {
    reader.read(text);
  } else {
    for (size_t part = 0; part < kParts; ++part) {
      size_t begin = (text.size() - kPart) / (kParts - 1) * part, end = begin + kPart;
      while (begin > 0 && continues_character(static_cast<uint8_t>(text[begin]))) --begin;
      while (end < text.size() && continues_character(static_cast<uint8_t>(text[end]))) ++end;
      reader.read(text.substr(begin, end - begin));
    }
  }
  const auto weight = [&](size_t script) { return reader.letters[script] * (script == 1 ? 1 : 2); };
  size_t best = 1;
  for (size_t script = 2; script <= columns_.size(); ++script)
    if (weight(script) > weight(best)) best = script;
  if (reader.letters[best] == 0) return -1;
  size_t kept = 0;
  for (const int32_t each : classes)
    if (static_cast<size_t>(each >> bits_) == best) classes[kept++] = each & ((1 << bits_) - 1);
  classes.resize(kept);
  return static_cast<int32_t>(best) - 1;
}

// The floor for a byte of Latin text: 0.85 trigrams, whose rows of 64 numbers take 20 loads, extensions and additions
// without the instructions of newer processors, and 15 instructions for the letter and its trigram.
int32_t Languages::detect(std::string_view text) const {
  thread_local Values<int32_t> classes;
  const int32_t script = read(text, classes);
  if (script < 0) return -1;
  const auto [begin, end] = columns_[static_cast<size_t>(script)];
  std::vector<int32_t> sums(end - begin);
  std::vector<int16_t> shorts(end - begin);
  for (size_t from = 0; from < classes.size(); from += kRowsInInt16) {
    const size_t to = std::min(classes.size(), from + kRowsInInt16);
    std::fill(shorts.begin(), shorts.end(), int16_t{0});
    for (size_t t = from; t < to; ++t) {
      const int8_t* const row = &weights_[static_cast<size_t>(classes[t]) * width_ + begin];
      for (size_t j = 0; j < shorts.size(); ++j) shorts[j] = static_cast<int16_t>(shorts[j] + row[j]);
    }
    for (size_t j = 0; j < sums.size(); ++j) sums[j] += shorts[j];
  }
  const auto possible = std::span(written_in_).subspan(static_cast<size_t>(script) * languages_, languages_);
  int32_t best = -1, most = 0;
  for (size_t i = begin; i < std::min(end, languages_); ++i)
    if (possible[i] != 0 && (best < 0 || sums[i - begin] > most))
      best = static_cast<int32_t>(i), most = sums[i - begin];
  return best;
}

Buffer<int32_t> Languages::detect(const Texts& texts, int threads) const {
  Buffer<int32_t> out(texts.size());
  parallel_for((texts.size() + kTextsOfTurn - 1) / kTextsOfTurn, threads, [&](int64_t turn) {
    const int64_t first = turn * kTextsOfTurn, last = std::min(first + kTextsOfTurn, texts.size());
    checkpoint();
    for (int64_t i = first; i < last; ++i) out[i] = detect(texts[i]);
  });
  return out;
}

}  // namespace pychunk
