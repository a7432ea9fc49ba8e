// The structs of Arrow's C data interface, whose layout its specification fixes. Arrow's libraries pass tables in them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace pychunk {

// The type of an array, and of its children.
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

// The values of an array. A bit of buffers[0] is 0 if the value is null; buffers[0] is null if no value is.
struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

static_assert(sizeof(ArrowSchema) == 5 * sizeof(void*) + 2 * sizeof(int64_t) + 2 * sizeof(void*) &&
              offsetof(ArrowArray, buffers) == 5 * sizeof(int64_t));

}  // namespace pychunk
