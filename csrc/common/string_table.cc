#include "common/string_table.h"

#include <sys/random.h>

#include <limits>

#include "common/check.h"

namespace pychunk {

namespace {

uint64_t drawn_seed() {
  // std::random_device needs glibc 2.36 if gcc 12's libstdc++ is linked statically, as in wheels.
  uint64_t seed = 0;
  PYCHUNK_CHECK(getentropy(&seed, sizeof(seed)) == 0, "the system gives no random numbers");
  return seed;
}

}  // namespace

StringTable::StringTable() : seed_(drawn_seed()) { clear(); }

void StringTable::clear() {
  // New vectors release the memory of a large table.
  slots_ = Values<Slot>(64, kFree);
  mask_ = slots_.size() - 1;
  bytes_ = {};
  offsets_ = {0};
}

int32_t StringTable::insert(std::string_view string, Key key) {
  PYCHUNK_CHECK(size() < std::numeric_limits<int32_t>::max(), "a table can hold at most 2147483647 different words");
  if (offsets_.size() > slots_.size() / 4 * 3) grow();
  // This drops the bytes that an earlier insertion left when it ran out of memory.
  bytes_.resize(static_cast<size_t>(offsets_.back()));
  bytes_.insert(bytes_.end(), string.begin(), string.end());
  offsets_.push_back(static_cast<int64_t>(bytes_.size()));
  size_t at = key.hash >> 1 & mask_;
  while (slots_[at].number >= 0) at = (at + 1) & mask_;
  slots_[at] = {key.head, key.next, key.hash, size() - 1};
  return size() - 1;
}

void StringTable::grow() {
  Values<Slot> wider(2 * slots_.size(), kFree);
  const size_t mask = wider.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.number < 0) continue;
    size_t at = slot.hash >> 1 & mask;
    while (wider[at].number >= 0) at = (at + 1) & mask;
    wider[at] = slot;
  }
  slots_.swap(wider);
  mask_ = mask;
}

}  // namespace pychunk
