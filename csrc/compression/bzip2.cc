#include "compression/bzip2.h"

#include <array>

namespace pychunk {
namespace {

constexpr std::string_view kBzipHeader = "BZh";
constexpr uint64_t kBlockMagic = 0x314159265359, kEndMagic = 0x177245385090;
constexpr int64_t kMagicBits = 48, kCrcBits = 32;
constexpr char kDamaged[] = "the data is damaged; get the file again";

}  // namespace

void Bzip2Reader::feed(std::string_view data) {
  const int64_t used = position_ / 8;
  data_.erase(0, static_cast<size_t>(used));
  offset_ += used, position_ %= 8;
  fed_ = offset_ + held();
  data_.append(data);
}

int64_t Bzip2Reader::next_size() {
  if (ready_.empty() && failure_.empty()) read_ahead();
  if (ready_.empty()) {
    if (error_.empty()) error_ = failure_, error_begin_ = begin_;
    return -1;
  }
  const int64_t size = expanded_size(ready_.front().block);
  if (size < 0) refuse_block();
  return size;
}

bool Bzip2Reader::take(uint8_t* out) {
  if (!expand(ready_.front().block, out)) {
    refuse_block();
    return false;
  }
  ready_.pop_front();
  is_proven_ = true;
  return true;
}

void Bzip2Reader::refuse_block() {
  error_ = failure_ = kDamaged;
  error_begin_ = ready_.front().begin;
  ready_.clear();
}

void Bzip2Reader::read_ahead() {
  std::array<BzipBlock, kBzipChains> blocks;
  std::array<int64_t, kBzipChains> begins;
  size_t count = 0;
  while (count < kBzipChains) {
    const Step found = step(blocks[count]);
    if (found == Step::kShort || found == Step::kFailed) break;
    if (found == Step::kBlock) begins[count++] = begin_;
  }
  unwind({blocks.data(), count});
  for (size_t i = 0; i < count; ++i) ready_.push_back({std::move(blocks[i]), begins[i]});
}

Bzip2Reader::Step Bzip2Reader::step(BzipBlock& block) {
  if (!is_open_) return step_header();
  if (position_ + kMagicBits > 8 * held()) return Step::kShort;
  BzipBits bits(data_, position_);
  const uint64_t high = bits.read(24);
  const uint64_t magic = high << 24 | bits.read(24);
  if (magic == kEndMagic) return step_end(bits);
  return magic == kBlockMagic ? step_block(bits, block) : fail(kDamaged);
}

Bzip2Reader::Step Bzip2Reader::step_header() {
  const auto at = static_cast<size_t>((position_ + 7) / 8);  // a stream ends with up to seven bits of no meaning
  position_ = 8 * static_cast<int64_t>(at);
  const std::string_view head = std::string_view(data_).substr(at, kBzipHeader.size() + 1);
  begin_ = offset_ + static_cast<int64_t>(at);
  if (head.empty()) return Step::kShort;
  const std::string_view name = head.substr(0, kBzipHeader.size());
  if (name != kBzipHeader.substr(0, name.size()) || (head.size() > 3 && (head[3] < '1' || head[3] > '9')))
    return fail("bytes after a stream are not bzip2: the file is damaged; get it again");
  if (head.size() <= kBzipHeader.size()) return Step::kShort;
  most_ = (head[3] - '0') * int64_t{100'000};
  position_ += 8 * static_cast<int64_t>(head.size());
  combined_ = 0;
  is_open_ = true;
  return Step::kStream;
}

Bzip2Reader::Step Bzip2Reader::step_end(BzipBits& bits) {
  if (position_ + kMagicBits + kCrcBits > 8 * held()) return Step::kShort;
  if (bits.read(32) != combined_) return fail(kDamaged);
  position_ = bits.position();
  is_open_ = false;
  has_ended_ = true;
  return Step::kStream;
}

Bzip2Reader::Step Bzip2Reader::step_block(BzipBits& bits, BzipBlock& block) {
  switch (read_block(bits, most_, block)) {
    case BzipState::kShort:
      return Step::kShort;
    case BzipState::kDamaged:
      return fail(kDamaged);
    case BzipState::kRandomised:
      return fail(
          "a block is randomised, as by bzip2 before 0.9.5: decompress the file with bzip2, and compress it again");
    case BzipState::kGood:
      break;
  }
  position_ = bits.position();
  combined_ = (combined_ << 1 | combined_ >> 31) ^ block.crc;
  return Step::kBlock;
}

Bzip2Reader::Step Bzip2Reader::fail(std::string reason) {
  failure_ = std::move(reason);
  return Step::kFailed;
}

}  // namespace pychunk
