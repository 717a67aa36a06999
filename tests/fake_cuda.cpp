// A libcuda.so.1 without a GPU: the functions that glinpack calls, on the memory of the host. Its one device has the
// UUID in FAKE_CUDA_UUID. Windows are memfds. Exported memory is that of Mesa's lavapipe, whose descriptors begin with
// a header: size and offset of the memory in the file. FAKE_CUDA_FAILS names a function that fails, after
// FAKE_CUDA_CALLS_BEFORE calls. FAKE_CUDA_LOSES: copies between windows do nothing.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

constexpr int fails = 999;  // CUDA_ERROR_UNKNOWN

std::mutex mutex;
std::map<unsigned long long, std::size_t> mapped;  // bytes by address

std::string environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool is_to_fail(const char* function) {
  static int calls_before = std::atoi(environment("FAKE_CUDA_CALLS_BEFORE").c_str());
  return environment("FAKE_CUDA_FAILS") == function && --calls_before < 0;
}

int map_file(int file, std::size_t bytes, void* at, unsigned long long& address) {
  void* const made = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at != nullptr ? MAP_FIXED : 0), file, 0);
  if (made == MAP_FAILED) return fails;
  address = reinterpret_cast<std::uintptr_t>(made);
  return 0;
}

struct ExternalMemory {
  int type;
  union {
    int descriptor;
    void* win32[2];
  } handle;
  unsigned long long size;
};

}  // namespace

extern "C" {

#define FAILS_IF_ASKED \
  if (is_to_fail(__func__)) return fails

int cuInit(unsigned) {
  FAILS_IF_ASKED;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  const char* const text = std::getenv("FAKE_CUDA_UUID");
  if (text == nullptr || std::strlen(text) != 32) return fails;
  for (int i = 0; i < 16; ++i) {
    uuid[i] = static_cast<unsigned char>(std::stoul(std::string(text + 2 * i, 2), nullptr, 16));
  }
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &mutex;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuStreamCreate(void** stream, unsigned) {
  *stream = &mutex;
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) {
  FAILS_IF_ASKED;
  return 0;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, void*) {
  FAILS_IF_ASKED;
  if (!environment("FAKE_CUDA_LOSES").empty()) return 0;
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return 0;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
  FAILS_IF_ASKED;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
  FAILS_IF_ASKED;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}

struct Copied {
  std::size_t x, y;
  int memory_type;
  void* host;
  unsigned long long device;
  void* array;
  std::size_t stride;
};
struct Copy2d {
  Copied from, to;
  std::size_t bytes, rows;
};
int cuMemcpy2DAsync_v2(const Copy2d* copy, void*) {
  FAILS_IF_ASKED;
  for (std::size_t i = 0; i < copy->rows; ++i) {
    std::memmove(reinterpret_cast<char*>(copy->to.device) + i * copy->to.stride,
                 reinterpret_cast<const char*>(copy->from.device) + i * copy->from.stride, copy->bytes);
  }
  return 0;
}

int cuImportExternalMemory(void** memory, const ExternalMemory* external) {
  FAILS_IF_ASKED;
  *memory = reinterpret_cast<void*>(static_cast<std::intptr_t>(external->handle.descriptor));
  return 0;
}
int cuExternalMemoryGetMappedBuffer(unsigned long long* address, void* memory, const void*) {
  FAILS_IF_ASKED;
  const auto file = static_cast<int>(reinterpret_cast<std::intptr_t>(memory));
  struct stat status {};
  unsigned long long first = 0;
  if (fstat(file, &status) != 0 || map_file(file, static_cast<std::size_t>(status.st_size), nullptr, first) != 0) {
    return fails;
  }
  std::uint64_t offset = 0;
  std::memcpy(&offset, reinterpret_cast<const char*>(first) + sizeof(std::uint64_t), sizeof offset);
  *address = first + offset;
  const std::lock_guard lock(mutex);
  mapped[*address] = static_cast<std::size_t>(status.st_size);
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  const std::lock_guard lock(mutex);
  const unsigned long long page = address - 4096;  // of lavapipe's header
  munmap(reinterpret_cast<void*>(page), mapped[address]);
  mapped.erase(address);
  return 0;
}
int cuDestroyExternalMemory(void* memory) { return close(static_cast<int>(reinterpret_cast<std::intptr_t>(memory))); }

int cuMemCreate(unsigned long long* handle, std::size_t bytes, const void*, unsigned long long) {
  FAILS_IF_ASKED;
  const int file = memfd_create("fake GPU memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return fails;
  *handle = static_cast<unsigned long long>(file);
  return 0;
}
int cuMemExportToShareableHandle(int* descriptor, unsigned long long handle, int, unsigned long long) {
  FAILS_IF_ASKED;
  *descriptor = dup(static_cast<int>(handle));
  return *descriptor < 0 ? fails : 0;
}
int cuMemImportFromShareableHandle(unsigned long long* handle, void* descriptor, int) {
  FAILS_IF_ASKED;
  const int file = dup(static_cast<int>(reinterpret_cast<std::intptr_t>(descriptor)));
  *handle = static_cast<unsigned long long>(file);
  return file < 0 ? fails : 0;
}
int cuMemRelease(unsigned long long handle) { return close(static_cast<int>(handle)); }
int cuMemAddressReserve(unsigned long long* address, std::size_t bytes, std::size_t, unsigned long long,
                        unsigned long long) {
  void* const made = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<std::uintptr_t>(made);
  return made == MAP_FAILED ? fails : 0;
}
int cuMemMap(unsigned long long address, std::size_t bytes, std::size_t, unsigned long long handle,
             unsigned long long) {
  FAILS_IF_ASKED;
  return map_file(static_cast<int>(handle), bytes, reinterpret_cast<void*>(address), address);
}
int cuMemSetAccess(unsigned long long, std::size_t, const void*, std::size_t) {
  FAILS_IF_ASKED;
  return 0;
}
int cuMemUnmap(unsigned long long, std::size_t) { return 0; }
int cuMemAddressFree(unsigned long long address, std::size_t bytes) {
  return munmap(reinterpret_cast<void*>(address), bytes);
}

}  // extern "C"
