#include "cuda/cuda_memory.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "base/scope_exit.hpp"

namespace glinpack {
namespace {

// The part of CUDA's driver interface that is used (cuda.h of CUDA 12, whose driver interface is stable).
using Pointer = unsigned long long;
using Handle = unsigned long long;
struct Location {
  int type = 1;  // CU_MEM_LOCATION_TYPE_DEVICE
  int device = 0;
};
struct AllocationProperties {
  int type = 1;          // CU_MEM_ALLOCATION_TYPE_PINNED
  int handle_types = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
  Location location = {};
  void* windows_attributes = nullptr;
  std::array<unsigned char, 8> flags{};
};
struct Access {
  Location location = {};
  int flags = 3;  // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};
constexpr int file_descriptor_handle = 1;
constexpr unsigned non_blocking_stream = 1;
constexpr std::size_t granularity = std::size_t{2} << 20;  // of windows, on every GPU so far

// Opened once, kept until the process ends.
void* library() {
  static void* const opened = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return opened;
}

template <class... Arguments>
int result_of(const char* function, Arguments... arguments) noexcept {
  constexpr int not_found = 500;  // CUDA_ERROR_NOT_FOUND
  const auto found = reinterpret_cast<int (*)(Arguments...)>(dlsym(library(), function));
  return found == nullptr ? not_found : found(arguments...);
}

template <class... Arguments>
void call(const char* function, Arguments... arguments) {
  const int result = result_of(function, arguments...);
  if (result != 0) throw std::runtime_error(fmt::format("CUDA's driver reports error {} of {}", result, function));
}

std::size_t rounded(std::size_t bytes) { return (bytes + granularity - 1) / granularity * granularity; }

class CudaMemory final : public PeerMemory {
 public:
  explicit CudaMemory(std::string_view uuid) {
    call("cuInit", 0U);
    int devices = 0;
    call("cuDeviceGetCount", &devices);
    std::string found;
    for (int i = 0; i < devices && found != uuid; ++i) {
      std::array<unsigned char, 16> bytes{};
      call("cuDeviceGet", &device_, i);
      call("cuDeviceGetUuid_v2", bytes.data(), device_);
      found = fmt::format("{:02x}", fmt::join(bytes, ""));
    }
    if (found != uuid) throw std::runtime_error("CUDA's driver does not list the GPU");
    call("cuDevicePrimaryCtxRetain", &context_, device_);
    try {
      call("cuCtxSetCurrent", context_);
      call("cuStreamCreate", &stream_, non_blocking_stream);
    } catch (...) {
      result_of("cuDevicePrimaryCtxRelease_v2", device_);
      throw;
    }
  }

  ~CudaMemory() override {
    result_of("cuStreamDestroy_v2", stream_);
    result_of("cuDevicePrimaryCtxRelease_v2", device_);
  }

  Window make_window(std::size_t bytes) override {
    call("cuCtxSetCurrent", context_);
    AllocationProperties properties;
    properties.location.device = device_;
    Handle handle = 0;
    call("cuMemCreate", &handle, rounded(bytes), static_cast<const AllocationProperties*>(&properties), 0ULL);
    const ScopeExit release([handle] { result_of("cuMemRelease", handle); });  // a window keeps its memory
    Window window = map(handle, bytes);
    try {
      call("cuMemExportToShareableHandle", static_cast<void*>(&window.descriptor), handle, file_descriptor_handle,
           0ULL);
      fcntl(window.descriptor, F_SETFD, FD_CLOEXEC);
    } catch (...) {
      free_window(window);
      throw;
    }
    own_windows_.push_back(window);
    return window;
  }

  Window map_window(int descriptor, std::size_t bytes) override {
    call("cuCtxSetCurrent", context_);
    Handle handle = 0;
    call("cuMemImportFromShareableHandle", &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor)),
         file_descriptor_handle);
    const ScopeExit release([handle] { result_of("cuMemRelease", handle); });
    return map(handle, bytes);
  }

  void free_window(const Window& window) noexcept override {
    std::erase_if(own_windows_, [&](const Window& own) { return own.address == window.address; });
    if (window.descriptor >= 0) close(window.descriptor);
    if (window.address == 0) return;
    result_of("cuCtxSetCurrent", context_);
    result_of("cuMemUnmap", Pointer{window.address}, rounded(window.bytes));
    result_of("cuMemAddressFree", Pointer{window.address}, rounded(window.bytes));
  }
  const Windows& own_windows() const override { return own_windows_; }
  void write(std::span<const std::byte> from, PeerAddress to) override {
    call("cuCtxSetCurrent", context_);
    call("cuMemcpyHtoDAsync_v2", Pointer{to}, static_cast<const void*>(from.data()), from.size(), stream_);
    wait();
  }
  void read(PeerAddress from, std::span<std::byte> to) override {
    call("cuCtxSetCurrent", context_);
    call("cuMemcpyDtoHAsync_v2", static_cast<void*>(to.data()), Pointer{from}, to.size(), stream_);
    wait();
  }
  void copy(PeerAddress from, PeerAddress to, std::size_t bytes) override {
    call("cuCtxSetCurrent", context_);
    call("cuMemcpyDtoDAsync_v2", Pointer{to}, Pointer{from}, bytes, stream_);
  }
  void wait() override {
    call("cuCtxSetCurrent", context_);
    call("cuStreamSynchronize", stream_);
  }

 private:
  Window map(std::uint64_t handle, std::size_t bytes) {
    Access access;
    access.location.device = device_;
    Pointer address = 0;
    call("cuMemAddressReserve", &address, rounded(bytes), std::size_t{0}, Pointer{0}, 0ULL);
    try {
      call("cuMemMap", address, rounded(bytes), std::size_t{0}, Handle{handle}, 0ULL);
      call("cuMemSetAccess", address, rounded(bytes), static_cast<const Access*>(&access), std::size_t{1});
    } catch (...) {
      free_window({.address = address, .bytes = bytes});
      throw;
    }
    return {.address = address, .bytes = rounded(bytes)};
  }

  int device_ = 0;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  Windows own_windows_;
};

}  // namespace

bool cuda_is_usable() {
  constexpr int no_device = 100;  // CUDA_ERROR_NO_DEVICE: the library is there without a GPU of its own
  return library() != nullptr && result_of("cuInit", 0U) != no_device;
}

std::unique_ptr<PeerMemory> open_cuda_memory(std::string_view uuid) { return std::make_unique<CudaMemory>(uuid); }

}  // namespace glinpack
