// Memory that the ranks of a node share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>

namespace glinpack {

/// One thread copies fewer bytes: to wake the others costs as much as to copy a few hundred kilobytes.
inline constexpr std::size_t min_bytes_for_team = std::size_t{1} << 20;
inline constexpr std::size_t shared_page_bytes = 4096;

/// Whether two ranks share a node.
bool any_node_shared(std::span<const int> nodes);

/// One block of memory for all ranks of a node, page-aligned, zero-filled, its pages allocated. It is in no file system
/// (memfd_create(2)): the size of /dev/shm is no limit, and a killed process leaves no file.
class SharedMemory {
 public:
  /// Collective over `communicator`, whose ranks' nodes are `nodes` (nodes_of()) and whose own rank is `rank`. The
  /// first rank of every node with several ranks allocates `bytes`; each of them counts its share (MemoryCount).
  /// error() reports failures on the affected ranks. All ranks must agree before any of them uses the memory or
  /// returns.
  SharedMemory(MPI_Comm communicator, std::span<const int> nodes, int rank, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  const std::string& error() const { return error_; }
  /// Null on the only rank of a node.
  char* data() const { return data_; }

 private:
  void make();
  void open_file_of(int process, int file);
  void map();

  std::size_t bytes_;
  int file_ = -1;
  char* mapped_ = nullptr;  // a page that identifies the block, then the block
  char* data_ = nullptr;
  std::string error_;
};

}  // namespace glinpack
