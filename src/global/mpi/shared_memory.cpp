#include "mpi/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>

#include "base/memory_count.hpp"
#include "mpi/communication.hpp"

namespace glinpack {

namespace {

// The message from the first rank of a node to its other ranks: the file that they map.
struct MemoryOffer {
  int process = -1;
  int file = -1;
  std::uint64_t mark = 0;  // in the first page; another file has another mark
};

[[noreturn]] void fail_to_share(const std::string& what, int code) {
  throw std::runtime_error(what + " memory for the processes of a node: " + std::strerror(code));
}

std::uint64_t random_mark() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

bool any_node_shared(std::span<const int> nodes) {
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] != static_cast<int>(rank)) return true;
  }
  return false;
}

SharedMemory::SharedMemory(MPI_Comm communicator, std::span<const int> nodes, int rank, std::size_t bytes)
    : bytes_(shared_page_bytes + bytes) {
  const int leader = nodes[static_cast<std::size_t>(rank)];
  const std::int64_t sharing = std::count(nodes.begin(), nodes.end(), leader);
  const bool allocates = rank == leader && sharing > 1;
  if (sharing > 1) MemoryCount::add_host(static_cast<std::int64_t>(bytes_) / sharing);
  if (MemoryCount::only_counts()) return;
  MemoryOffer mine;
  error_ = error_of([&] {
    if (!allocates) return;
    make();
    mine = {.process = getpid(), .file = file_, .mark = random_mark()};
    std::memcpy(mapped_, &mine.mark, sizeof mine.mark);
  });
  const MemoryOffer offered = all_gathered(MpiCommunicator(communicator), mine)[static_cast<std::size_t>(leader)];
  if (rank == leader || offered.file < 0) return;
  error_ = error_of([&] {
    open_file_of(offered.process, offered.file);
    if (std::memcmp(mapped_, &offered.mark, sizeof offered.mark) != 0) fail_to_share("opening", ESRCH);
  });
}

SharedMemory::~SharedMemory() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
  if (file_ >= 0) close(file_);
}

void SharedMemory::make() {
  rlimit largest_file{};
  // a larger file would end this process by SIGXFSZ
  if (getrlimit(RLIMIT_FSIZE, &largest_file) == 0 && bytes_ > largest_file.rlim_cur) fail_to_share("allocating", EFBIG);
  file_ = memfd_create("glinpack", MFD_CLOEXEC);
  if (file_ < 0) fail_to_share("creating", errno);
  int code = EINTR;
  while (code == EINTR) code = posix_fallocate(file_, 0, static_cast<off_t>(bytes_));
  if (code != 0) fail_to_share("allocating", code);
  map();
}

void SharedMemory::open_file_of(int process, int file) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  file_ = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) fail_to_share("opening", errno);
  struct stat status {};
  if (fstat(file_, &status) != 0) fail_to_share("opening", errno);
  if (status.st_size != static_cast<off_t>(bytes_)) fail_to_share("opening", ESRCH);
  map();
}

void SharedMemory::map() {
  void* const mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, 0);
  if (mapped == MAP_FAILED) fail_to_share("mapping", errno);
  mapped_ = static_cast<char*>(mapped);
  data_ = mapped_ + shared_page_bytes;
}

}  // namespace glinpack
