// A libcuda.so.1 without a GPU: the functions that glinpack calls, on the memory of the host. Its one device has the
// UUID in FAKE_CUDA_UUID. Windows are memfds that Mesa's lavapipe imports. FAKE_CUDA_FAILS names a function that fails,
// after FAKE_CUDA_CALLS_BEFORE calls, in all processes, or, if FAKE_CUDA_RANK is set, in the process of that rank.
// FAKE_CUDA_LOSES: copies between windows do nothing. FAKE_CUDA_FOREIGN: lavapipe does not import windows.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int fails = 999;  // CUDA_ERROR_UNKNOWN

// What lavapipe's files begin with (Mesa's os_memory_fd.c). The offset also stands before the memory.
constexpr std::uint64_t page = 4096;
struct FileHeader {
  std::uint64_t bytes = 0;  // of the file
  std::uint64_t offset = page;
  // the first bytes of the SHA-1 of "llvmpipe"
  std::array<unsigned char, 16> driver{0x6c, 0xb9, 0xee, 0x07, 0x4a, 0x0b, 0xad, 0x7b,
                                       0x01, 0x2e, 0x1b, 0xe9, 0x69, 0x7e, 0x53, 0x0f};
};

char any;  // what handles point to

std::string environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool is_to_fail(const char* function) {
  static int calls_before = std::atoi(environment("FAKE_CUDA_CALLS_BEFORE").c_str());
  const std::string rank = environment("FAKE_CUDA_RANK");
  if (!rank.empty() && rank != environment("PMI_RANK")) return false;
  return environment("FAKE_CUDA_FAILS") == function && --calls_before < 0;
}

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
  *context = &any;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuStreamCreate(void** stream, unsigned) {
  *stream = &any;
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

int cuMemCreate(unsigned long long* handle, std::size_t bytes, const void*, unsigned long long) {
  FAILS_IF_ASKED;
  const int file = memfd_create("fake GPU memory", MFD_CLOEXEC);
  FileHeader header{.bytes = page + bytes};
  if (!environment("FAKE_CUDA_FOREIGN").empty()) header.driver.fill(0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(header.bytes)) != 0 ||
      pwrite(file, &header, sizeof header, 0) != sizeof header ||
      pwrite(file, &page, sizeof page, page - sizeof page) != sizeof page) {
    return fails;
  }
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
  void* const made = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          static_cast<int>(handle), page);
  return made == MAP_FAILED ? fails : 0;
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
