// Columns that Arrow takes over through its C data interface.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tables/arrow_c.h"

namespace pychunk {

// A column with its memory. It holds no Python objects, so Arrow may release it in any thread, with or without Python's
// lock, and also while Python ends.
struct ArrowColumn {
  int64_t length = 0, null_count = 0;
  int buffers = 0;                                   // how many of the following there are
  std::array<std::shared_ptr<const void>, 3> owned;  // each points to a buffer; null: no buffer
  std::vector<ArrowColumn> children;
  std::unique_ptr<ArrowColumn> dictionary;
};

// Pass a column to a consumer, who releases `out`. A consumer may also take children out of it and release them later.
inline void pass_to_arrow(ArrowColumn&& column, ArrowArray& out) {
  struct Passed {
    std::array<std::shared_ptr<const void>, 3> owned;
    std::array<const void*, 3> buffers{};
    std::vector<ArrowArray> children;
    std::vector<ArrowArray*> addresses;
    std::unique_ptr<ArrowArray> dictionary;

    ~Passed() {
      for (ArrowArray& child : children)
        if (child.release != nullptr) child.release(&child);
      if (dictionary && dictionary->release != nullptr) dictionary->release(dictionary.get());
    }
  };
  auto passed = std::make_unique<Passed>();
  passed->owned = std::move(column.owned);
  for (size_t i = 0; i < passed->buffers.size(); ++i) passed->buffers[i] = passed->owned[i].get();
  passed->children.resize(column.children.size());
  for (size_t i = 0; i < column.children.size(); ++i) {
    pass_to_arrow(std::move(column.children[i]), passed->children[i]);
    passed->addresses.push_back(&passed->children[i]);
  }
  if (column.dictionary) {
    passed->dictionary = std::make_unique<ArrowArray>();
    pass_to_arrow(std::move(*column.dictionary), *passed->dictionary);
  }
  const auto release = [](ArrowArray* array) {
    delete static_cast<Passed*>(array->private_data);
    array->release = nullptr;
  };
  out = {column.length,
         column.null_count,
         0,
         column.buffers,
         static_cast<int64_t>(passed->addresses.size()),
         passed->buffers.data(),
         passed->addresses.data(),
         passed->dictionary.get(),
         release,
         nullptr};
  out.private_data = passed.release();
}

}  // namespace pychunk
