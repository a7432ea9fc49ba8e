// The structures with which array libraries share memory without a copy: DLPack, version 0 of its ABI.
#pragma once
#include <cstdint>

namespace pychunk::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };
struct Device {
  int32_t type, id;
};
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2 };
struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

}  // namespace pychunk::dlpack
