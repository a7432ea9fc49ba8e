// The Python module for GPUs: devices, arrays on them, and the kernels on such arrays. Only this file of the GPU code
// uses Python, and it does no arithmetic.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/view.h"
#include "cuda/check.h"
#include "cuda/dlpack.h"
#include "cuda/kernels.h"
#include "python/gil.h"

namespace py = pybind11;

namespace pychunk::cuda {
namespace {

#if defined(PYCHUNK_CUDA_EMULATED)
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif

// The types that kernels take, by their names in NumPy.
struct Type {
  const char* name;
  dlpack::DataType dlpack;
  size_t bytes() const { return dlpack.bits / 8; }
};
constexpr Type kTypes[] = {{"<f4", {dlpack::kFloat, 32, 1}}, {"<f2", {dlpack::kFloat, 16, 1}},
                           {"<i8", {dlpack::kInt, 64, 1}},   {"<i4", {dlpack::kInt, 32, 1}},
                           {"|i1", {dlpack::kInt, 8, 1}},    {"<u8", {dlpack::kUInt, 64, 1}},
                           {"|u1", {dlpack::kUInt, 8, 1}}};

const Type& type_of(const std::string& name) {
  for (const Type& type : kTypes)
    if (name == type.name || name == std::string(type.name).substr(1)) return type;
  fail("arrays on the GPU must hold float32, float16, int64, int32, int8, uint64 or uint8; got ", name);
}

cudaStream_t stream_of(uint64_t address) {
  return reinterpret_cast<cudaStream_t>(static_cast<uintptr_t>(address));  // NOLINT: the caller's stream, as a number
}
uint64_t address_of(const void* pointer) { return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(pointer)); }

// A contiguous array in device memory. `owner` keeps the memory alive, which may belong to another library.
struct Array {
  std::shared_ptr<void> owner;
  void* data = nullptr;
  std::vector<int64_t> shape;
  const Type* type = nullptr;
  int device = 0;
  uint64_t stream = 0;

  int64_t size() const {
    int64_t count = 1;
    for (const int64_t n : shape) count *= n;
    return count;
  }
  size_t bytes() const { return static_cast<size_t>(size()) * type->bytes(); }

  template <typename T>
  T* as(const char* name, const char* wanted, std::vector<int64_t> dims) const {
    PYCHUNK_CHECK(type == &type_of(wanted), name, " must be ", wanted, ", got ", type->name);
    PYCHUNK_CHECK(shape.size() == dims.size(), name, " must have ", dims.size(), " dimensions, got ", shape.size());
    for (size_t i = 0; i < dims.size(); ++i)
      PYCHUNK_CHECK(dims[i] < 0 || dims[i] == shape[i], name, " must be ", dims[i], " long in dimension ", i, ", got ",
                    shape[i]);
    return static_cast<T*>(data);
  }
};

Array empty(const std::vector<int64_t>& shape, const std::string& dtype, int device, uint64_t stream) {
  Array array;
  array.shape = shape, array.type = &type_of(dtype), array.device = device, array.stream = stream;
  for (const int64_t n : shape) PYCHUNK_CHECK(n >= 0, "a shape must not be negative, got ", n);
  auto memory = std::make_shared<Memory>(array.bytes(), device, stream_of(stream));
  array.data = memory->as<void>();
  array.owner = std::move(memory);
  return array;
}

// Copy host memory through the stream without a staging buffer. Pinned memory is read after the call returns, other
// memory before.
Array to_device(const py::array& host, int device, uint64_t stream) {
  PYCHUNK_CHECK((host.flags() & py::array::c_style) != 0, "the array must be contiguous");
  const std::vector<int64_t> shape(host.shape(), host.shape() + host.ndim());
  const auto dtype = py::str(host.dtype().attr("str")).cast<std::string>();
  const void* from = host.data();
  const Unlocked unlocked;
  Array array = empty(shape, dtype, device, stream);
  const OnDevice scope(device);
  PYCHUNK_CUDA(cudaMemcpyAsync(array.data, from, array.bytes(), cudaMemcpyHostToDevice, stream_of(stream)));
  return array;
}

void copy_to_host(const Array& array, py::array& out, uint64_t stream, bool wait) {
  PYCHUNK_CHECK((out.flags() & py::array::c_style) != 0 && out.writeable(), "out must be contiguous and writeable");
  PYCHUNK_CHECK(static_cast<size_t>(out.nbytes()) == array.bytes(), "out must hold ", array.bytes(), " bytes, got ",
                out.nbytes());
  void* to = out.mutable_data();
  const Unlocked unlocked;
  const OnDevice scope(array.device);
  PYCHUNK_CUDA(cudaMemcpyAsync(to, array.data, array.bytes(), cudaMemcpyDeviceToHost, stream_of(stream)));
  if (wait) PYCHUNK_CUDA(cudaStreamSynchronize(stream_of(stream)));
}

Array foreign(py::object owner, uint64_t pointer, const std::vector<int64_t>& shape, const std::string& dtype,
              int device) {
  Array array;
  array.owner = std::shared_ptr<void>(new py::object(std::move(owner)), [](void* kept) {
    const Locked locked;
    delete static_cast<py::object*>(kept);
  });
  array.data = reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));  // NOLINT: the address that it stated
  array.shape = shape, array.type = &type_of(dtype), array.device = device;
  return array;
}

// ---- DLPack ----

constexpr const char* kCapsule = "dltensor";
constexpr const char* kUsedCapsule = "used_dltensor";

Array from_dlpack(const py::capsule& capsule) {
  PYCHUNK_CHECK(std::string(capsule.name()) == kCapsule,
                "a DLPack capsule can be used only once, and must be unversioned");
  auto* managed = capsule.get_pointer<dlpack::ManagedTensor>();
  const dlpack::Tensor& tensor = managed->tensor;
  Array array;
  for (const Type& type : kTypes)
    if (type.dlpack.code == tensor.dtype.code && type.dlpack.bits == tensor.dtype.bits && tensor.dtype.lanes == 1)
      array.type = &type;
  PYCHUNK_CHECK(array.type != nullptr,
                "arrays on the GPU must hold float32, float16, int64, int32, int8, uint64 or uint8");
  PYCHUNK_CHECK(tensor.device.type == (kEmulated ? dlpack::kCpu : dlpack::kCuda),
                "the array must be on a CUDA device; its DLPack device is ", tensor.device.type);
  array.device = kEmulated ? 0 : tensor.device.id;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  int64_t step = 1;
  for (int i = tensor.ndim - 1; i >= 0; step *= tensor.shape[i], --i)
    PYCHUNK_CHECK(tensor.strides == nullptr || tensor.strides[i] == step || tensor.shape[i] <= 1,
                  "the array must be contiguous");
  array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  PyCapsule_SetName(capsule.ptr(), kUsedCapsule);
  array.owner = std::shared_ptr<void>(managed, [](void* kept) {
    const Locked locked;
    auto* tensor = static_cast<dlpack::ManagedTensor*>(kept);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  return array;
}

py::capsule to_dlpack(const Array& array) {
  struct Kept {
    dlpack::ManagedTensor managed;
    Array array;
  };
  auto* kept = new Kept{{}, array};
  dlpack::Tensor& tensor = kept->managed.tensor;
  tensor.data = array.data;
  tensor.device = {kEmulated ? dlpack::kCpu : dlpack::kCuda, array.device};
  tensor.ndim = static_cast<int32_t>(array.shape.size());
  tensor.dtype = array.type->dlpack;
  tensor.shape = kept->array.shape.data();
  kept->managed.context = kept;
  kept->managed.deleter = [](dlpack::ManagedTensor* managed) { delete static_cast<Kept*>(managed->context); };
  PyObject* capsule = PyCapsule_New(&kept->managed, kCapsule, [](PyObject* self) {
    if (!PyCapsule_IsValid(self, kCapsule)) return;  // a consumer that took it calls the deleter
    auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(self, kCapsule));
    managed->deleter(managed);
  });
  return py::reinterpret_steal<py::capsule>(capsule);
}

// ---- devices ----

py::dict devices() {
  py::dict out;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) cudaGetLastError();
  // Without a driver, the runtime reports that the driver is too old. Any error therefore means that there is no
  // device.
  out["error"] = status == cudaSuccess ? (count > 0 ? "" : "no CUDA device") : cudaGetErrorString(status);
  py::list found;
  for (int i = 0; status == cudaSuccess && i < count; ++i) {
    cudaDeviceProp facts{};
    PYCHUNK_CUDA(cudaGetDeviceProperties(&facts, i));
    py::dict one;
    one["name"] = std::string(facts.name);
    one["memory"] = facts.totalGlobalMem;
    one["capability"] = py::make_tuple(facts.major, facts.minor);
    one["processors"] = facts.multiProcessorCount;
    found.append(one);
  }
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  out["devices"] = found;
  out["driver"] = driver, out["runtime"] = runtime;
  return out;
}

class Stream {
 public:
  explicit Stream(int device) : device_(device) {
    const OnDevice scope(device);
    PYCHUNK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  uint64_t pointer() const { return address_of(stream_); }
  int device() const { return device_; }
  void synchronize() const {
    const Unlocked unlocked;
    PYCHUNK_CUDA(cudaStreamSynchronize(stream_));
  }

 private:
  int device_;
  cudaStream_t stream_ = nullptr;
};

// Make the work that is put into the stream `later` from now on wait for the work that is in the stream `earlier` now.
void order(uint64_t earlier, uint64_t later, int device) {
  const OnDevice scope(device);
  cudaEvent_t event = nullptr;
  PYCHUNK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  const std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, cudaError_t (*)(cudaEvent_t)> owner(event,
                                                                                                &cudaEventDestroy);
  PYCHUNK_CUDA(cudaEventRecord(event, stream_of(earlier)));
  PYCHUNK_CUDA(cudaStreamWaitEvent(stream_of(later), event, 0));
}

py::array pinned(int64_t bytes) {
  void* block = nullptr;
  PYCHUNK_CHECK(bytes >= 0, "bytes must not be negative, got ", bytes);
  PYCHUNK_CUDA(cudaHostAlloc(&block, static_cast<size_t>(bytes), cudaHostAllocDefault));
  const py::capsule owner(block, [](void* kept) { cudaFreeHost(kept); });
  return py::array_t<uint8_t>({bytes}, static_cast<const uint8_t*>(block), owner);
}

// ---- kernels ----

void run_pool(const Array& states, const Array& tokens, const std::optional<Array>& chosen, const Array& out, bool mean,
              bool unit, uint64_t stream) {
  PYCHUNK_CHECK(states.shape.size() == 3, "states must have three dimensions, got ", states.shape.size());
  const bool half = states.type == &type_of("<f2");
  PYCHUNK_CHECK(half || states.type == &type_of("<f4"), "states must be float16 or float32, got ", states.type->name);
  const int64_t rows = states.shape[0], dim = states.shape[2];
  auto* to = out.as<float>("out", "<f4", {chosen ? -1 : rows, dim});
  const auto* counts = tokens.as<int32_t>("tokens", "<i4", {rows});
  const int64_t* places = chosen ? chosen->as<int64_t>("chosen", "<i8", {rows}) : nullptr;
  const Unlocked unlocked;
  const OnDevice scope(states.device);
  pool(states.data, half, rows, states.shape[1], static_cast<int>(dim), counts, mean, unit, places, to,
       stream_of(stream));
}

RowSource bags_from(const Array& table, const Array& ids, const Array& offsets, int64_t rows, int64_t dim) {
  RowSource source;
  source.kind = RowSource::Kind::kBag;
  source.table = table.as<int8_t>("table", "|i1", {-1, dim});
  source.ids = ids.as<int32_t>("ids", "<i4", {-1});
  source.id_offsets = offsets.as<int64_t>("offsets", "<i8", {rows + 1});
  return source;
}

void run_embedding_bags(const Array& table, const Array& ids, const Array& offsets, const Array& out, uint64_t stream) {
  auto* to = out.as<float>("out", "<f4", {-1, -1});
  const int64_t rows = out.shape[0], dim = out.shape[1];
  const RowSource source = bags_from(table, ids, offsets, rows, dim);
  const Unlocked unlocked;
  const OnDevice scope(out.device);
  embedding_bags(source.table, source.ids, source.id_offsets, rows, static_cast<int>(dim), to, stream_of(stream));
}

void run_adjacent_cosines(const Array& vectors, const Array& out, uint64_t stream) {
  const auto* from = vectors.as<float>("vectors", "<f4", {-1, -1});
  const int64_t rows = vectors.shape[0];
  auto* to = out.as<float>("out", "<f4", {rows > 0 ? rows - 1 : 0});
  const Unlocked unlocked;
  const OnDevice scope(vectors.device);
  adjacent_cosines(from, rows, static_cast<int>(vectors.shape[1]), to, stream_of(stream));
}

SummaryKind summary_from(const std::string& name) {
  if (name == "given") return SummaryKind::kGiven;
  if (name == "mean") return SummaryKind::kMean;
  if (name == "lead") return SummaryKind::kLead;
  PYCHUNK_CHECK(name == "extractive", "summary must be given, mean, lead or extractive; got '", name, "'");
  return SummaryKind::kExtractive;
}

// Run PIC. `sources` is {} if vectors are given, {first_state, tokens} or {table, ids, id_offsets}. `offsets` on the
// device must equal `host_offsets`.
void run_pic(const std::vector<Array>& sources, bool half, bool mean, bool unit, const Array& vectors,
             const Array& offsets, const py::array_t<int64_t, py::array::c_style>& host_offsets,
             const std::string& summary, const std::optional<Array>& given, const std::optional<Array>& lead, double k,
             float margin, const std::vector<Array>& out, uint64_t stream) {
  PicBatch batch;
  batch.vectors = vectors.as<float>("vectors", "<f4", {-1, -1});
  batch.rows = vectors.shape[0], batch.dim = static_cast<int>(vectors.shape[1]);
  const std::span<const int64_t> borders(host_offsets.data(), static_cast<size_t>(host_offsets.size()));
  check_offsets(borders, batch.rows, "offsets");
  batch.documents = static_cast<int64_t>(borders.size()) - 1;
  batch.offsets = offsets.as<int64_t>("offsets", "<i8", {batch.documents + 1});
  std::vector<int32_t> large;
  for (int64_t d = 0; d < batch.documents; ++d) {
    const int64_t rows = borders[static_cast<size_t>(d) + 1] - borders[static_cast<size_t>(d)];
    PYCHUNK_CHECK(rows < INT32_MAX, "document ", d, " has ", rows, " sentences; a GPU supports at most ",
                  INT32_MAX - 1);
    batch.longest = std::max(batch.longest, rows);
    if (rows > kBlockRows) large.push_back(static_cast<int32_t>(d));
  }
  if (sources.size() == 2) {
    batch.source.kind = half ? RowSource::Kind::kHalfStates : RowSource::Kind::kFloatStates;
    batch.source.first_state = sources[0].as<uint64_t>("first_state", "<u8", {batch.rows});
    batch.source.tokens = sources[1].as<int32_t>("tokens", "<i4", {batch.rows});
    batch.source.mean = mean, batch.source.unit = unit;
  } else if (sources.size() == 3) {
    batch.source = bags_from(sources[0], sources[1], sources[2], batch.rows, batch.dim);
  }
  batch.summary = summary_from(summary);
  PYCHUNK_CHECK(batch.summary != SummaryKind::kGiven || given, "summary 'given' needs the vectors of the summaries");
  PYCHUNK_CHECK(batch.summary != SummaryKind::kLead || lead, "summary 'lead' needs the lengths of first paragraphs");
  if (given) batch.given = given->as<float>("given", "<f4", {batch.documents, batch.dim});
  if (lead) batch.lead = lead->as<int32_t>("lead", "<i4", {batch.documents});
  batch.k = k;
  PYCHUNK_CHECK(out.size() == 6, "out must hold six arrays");
  batch.scores = out[0].as<float>("scores", "<f4", {batch.rows});
  batch.adjacent = out[1].as<float>("adjacent", "<f4", {batch.rows});
  batch.labels = out[2].as<int8_t>("labels", "|i1", {batch.rows});
  batch.cuts = out[3].as<int32_t>("cuts", "<i4", {batch.rows});
  batch.cut_counts = out[4].as<int32_t>("cut_counts", "<i4", {batch.documents});
  batch.close = out[5].as<int8_t>("close", "|i1", {batch.rows});
  batch.margin = margin;
  const Unlocked unlocked;
  const OnDevice scope(vectors.device);
  const Memory kept(large.size() * sizeof(int32_t), vectors.device, stream_of(stream));
  batch.large = kept.as<int32_t>(), batch.large_count = static_cast<int64_t>(large.size());
  PYCHUNK_CUDA(cudaMemcpyAsync(kept.as<void>(), large.data(), large.size() * sizeof(int32_t), cudaMemcpyHostToDevice,
                               stream_of(stream)));
  pic(batch, vectors.device, stream_of(stream));
}

}  // namespace
}  // namespace pychunk::cuda

PYBIND11_MODULE(_cuda, m) {
  using namespace pychunk::cuda;
  m.doc() = "pychunk's GPU kernels. Use pychunk.cuda and device=\"cuda\" instead.";
  m.attr("emulated") = kEmulated;
  static py::exception<Error> error(m, "CudaError", PyExc_RuntimeError);
  static py::exception<OutOfMemory> out_of_memory(m, "OutOfDeviceMemory", PyExc_MemoryError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const OutOfMemory& e) {
      py::set_error(out_of_memory, e.what());
    } catch (const Error& e) {
      py::set_error(error, e.what());
    }
  });
  m.def("devices", &devices, "Return {devices: [{name, memory, capability, processors}], error, driver, runtime}.");
  m.def(
      "trim", [](int device) { return Pool::of_device(device).trim(); }, py::arg("device"),
      "Free the device memory kept for later calls, and return its bytes.");
  m.def("pinned", &pinned, py::arg("bytes"), "Return uint8[bytes] in pinned host memory.");
  m.def("order", &order, py::arg("earlier"), py::arg("later"), py::arg("device"),
        "Let work that is put into stream `later` from now on wait for the work that is in stream `earlier` now.");
  m.def(
      "synchronize",
      [](uint64_t stream, int device) {
        const pychunk::Unlocked unlocked;
        const OnDevice scope(device);
        PYCHUNK_CUDA(cudaStreamSynchronize(stream_of(stream)));
      },
      py::arg("stream"), py::arg("device"));
  py::class_<Stream>(m, "Stream", "A new stream on a device.")
      .def(py::init<int>(), py::arg("device") = 0)
      .def_property_readonly("pointer", &Stream::pointer)
      .def_property_readonly("device", &Stream::device)
      .def("synchronize", &Stream::synchronize);
  py::class_<Array>(m, "Array", "A contiguous array on a device.")
      .def_property_readonly("pointer", [](const Array& a) { return address_of(a.data); })
      .def_property_readonly("shape", [](const Array& a) { return py::tuple(py::cast(a.shape)); })
      .def_property_readonly("dtype", [](const Array& a) { return py::dtype(std::string(a.type->name)); })
      .def_property_readonly("device", [](const Array& a) { return a.device; })
      .def_property_readonly("nbytes", &Array::bytes)
      .def("__len__", [](const Array& a) { return a.shape.empty() ? 0 : a.shape[0]; })
      .def_property_readonly("__cuda_array_interface__",
                             [](const Array& a) {
                               py::dict out;
                               out["shape"] = py::tuple(py::cast(a.shape));
                               out["typestr"] = a.type->name;
                               out["data"] = py::make_tuple(address_of(a.data), false);
                               out["version"] = 3;
                               // The interface's number for the default stream is 1.
                               out["stream"] = a.stream == 0 ? 1 : a.stream;
                               return out;
                             })
      .def("__dlpack_device__",
           [](const Array& a) {
             return py::make_tuple(static_cast<int>(kEmulated ? pychunk::dlpack::kCpu : pychunk::dlpack::kCuda),
                                   a.device);
           })
      .def(
          "__dlpack__",
          [](const Array& a, const py::object& stream, const py::kwargs&) {
            // The consumer's stream waits for ours. -1 means "no wait", and 1 and None mean the default stream.
            const int64_t later = stream.is_none() ? 1 : stream.cast<int64_t>();
            if (later != -1) order(a.stream, later == 1 ? 0 : static_cast<uint64_t>(later), a.device);
            return to_dlpack(a);
          },
          py::kw_only(), py::arg("stream") = py::none());
  m.def("empty", &empty, py::arg("shape"), py::arg("dtype"), py::arg("device") = 0, py::arg("stream") = 0,
        "Return an array whose memory is not initialised.");
  m.def("to_device", &to_device, py::arg("host"), py::arg("device") = 0, py::arg("stream") = 0);
  m.def("copy_to_host", &copy_to_host, py::arg("array"), py::arg("out"), py::arg("stream") = 0, py::arg("wait") = true);
  m.def("foreign", &foreign, py::arg("owner"), py::arg("pointer"), py::arg("shape"), py::arg("dtype"),
        py::arg("device") = 0, "Return an array that shares another library's memory, by its address.");
  m.def("from_dlpack", &from_dlpack, py::arg("capsule"));
  m.def("pool", &run_pool, py::arg("states"), py::arg("tokens"), py::arg("chosen"), py::arg("out"), py::kw_only(),
        py::arg("mean"), py::arg("unit"), py::arg("stream") = 0);
  m.def("embedding_bags", &run_embedding_bags, py::arg("table"), py::arg("ids"), py::arg("offsets"), py::arg("out"),
        py::kw_only(), py::arg("stream") = 0);
  m.def("adjacent_cosines", &run_adjacent_cosines, py::arg("vectors"), py::arg("out"), py::kw_only(),
        py::arg("stream") = 0);
  m.def("pic", &run_pic, py::arg("sources"), py::kw_only(), py::arg("half") = false, py::arg("mean") = true,
        py::arg("unit") = true, py::arg("vectors"), py::arg("offsets"), py::arg("host_offsets"), py::arg("summary"),
        py::arg("given") = py::none(), py::arg("lead") = py::none(), py::arg("k") = 0.0, py::arg("margin") = 0.0f,
        py::arg("out"), py::arg("stream") = 0);
}
