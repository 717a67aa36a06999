// Memory that several processes of a node map at once.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>

namespace glinpack {

/// One block of memory for all ranks of a node, page-aligned, zero-filled. It has no place in a file system
/// (memfd_create(2)): the size of /dev/shm is no limit, and a process that is killed leaves nothing behind. Its pages
/// are there before anyone writes to them.
class SharedMemory {
 public:
  /// Collective over `communicator`, whose ranks' nodes are `nodes` (nodes.hpp): `bytes` for every node of several
  /// ranks, made by its first rank. What goes wrong is told by error() of the ranks that it goes wrong for: all have to
  /// agree before any of them uses the memory, or ends.
  SharedMemory(MPI_Comm communicator, std::span<const int> nodes, std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  const std::string& error() const { return error_; }
  /// Null on a rank that has its node to itself.
  char* data() const { return data_; }

 private:
  void make();
  void open_file_of(int process, int file);
  void map();

  std::size_t bytes_;
  int file_ = -1;
  char* mapped_ = nullptr;  // a page that tells this block from any other, then the block
  char* data_ = nullptr;
  std::string error_;
};

}  // namespace glinpack
