// A rank's part of a checkpoint in a file: the state of a factorisation between two passes.
//
//   bytes                     content
//   8                         "glinckp3"
//   8                         length n of the header
//   n                         CheckpointHeader as JSON
//   8                         checksum of all before
//   8 x pivots, 8             pivots; their checksum
//   then for every piece of the local matrix, which is `piece_rows` rows of it, or fewer in the last piece:
//   rows x columns x element  elements, row-major
//   8                         their checksum
//   then, if the run checks the sums of its rows (abft/checksums.hpp):
//   state_bytes, 8            the state of the checks; its checksum
//
// Integers are 64-bit in the byte order of the machine. Checksums are XXH3's, 64-bit (xxhash.com).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "matrix/distribution.hpp"

namespace glinpack {

/// A checkpoint that cannot be used. The message names the file, and what is wrong with it.
class CheckpointError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What must be equal in a run and in the one that resumes from its checkpoint: options by their names, as text.
using CheckpointOptions = std::map<std::string, std::string>;

struct CheckpointHeader {
  CheckpointOptions options;
  std::string run;     // identifies the start of the program that wrote the file
  Index pass = 0;      // the passes before it are done
  double seconds = 0;  // of the timed section until then, those of earlier runs included
  GridPosition at;     // of the rank
  Index rows = 0;      // of the local matrix [A | b], with the sums of its rows
  Index columns = 0;
  Index piece_rows = 0;
  Index element = 0;      // bytes: 4 or 8
  Index pivots = 0;       // known to the rank
  Index state_bytes = 0;  // of the checks of the rows' sums; 0: the run has none

  std::size_t bytes_of_row() const { return static_cast<std::size_t>(columns * element); }
};

/// XXH3, 64-bit.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// A file descriptor. -1: none.
class FileHandle {
 public:
  explicit FileHandle(int descriptor = -1) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Writes a file from its first byte to its last, past the page cache if the file system can (open(2), O_DIRECT):
/// Linux lets a process wait that fills the cache faster than the disk empties it, and drops other pages for it. Throws
/// CheckpointError with the system's reason.
class CheckpointWriter {
 public:
  /// Replaces a file that exists; a symbolic link is an error.
  CheckpointWriter(std::string path, const CheckpointHeader& header, std::span<const GlobalIndex> pivots);
  /// The next piece, in order, and then the state of the checks; as the header says.
  void add(std::span<const std::byte> piece);
  /// Returns when the disk has all of it. Call once, after the last piece, by any thread.
  void finish();

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  void append(std::span<const std::byte> bytes);
  void write_block();
  void use_page_cache();

  std::string path_;
  FileHandle file_;
  std::unique_ptr<std::byte, Free> block_;  // of the file, which O_DIRECT wants aligned
  std::size_t filled_ = 0;                  // bytes of the block
};

/// Reads a file from its first byte to its last. Throws CheckpointError if it is cut, longer than it says, or altered.
class CheckpointReader {
 public:
  /// Reads the header. Allocates no more than the file's size.
  explicit CheckpointReader(std::string path);
  const CheckpointHeader& header() const { return header_; }
  /// Call once, before the pieces.
  std::vector<GlobalIndex> read_pivots();
  /// The next piece, in order: its rows, all columns. After the last one, the state of the checks.
  void read(std::span<std::byte> piece);

 private:
  void read_exactly(std::span<std::byte> to);
  void read_checked(std::span<std::byte> to, const char* what);
  [[noreturn]] void refuse(const std::string& why) const;

  std::string path_;
  FileHandle file_;
  CheckpointHeader header_;
};

/// Reads a whole file and compares all its checksums. Returns its pivots.
std::vector<GlobalIndex> verify_checkpoint_file(const std::string& path);

/// A copy of a rank's part of a checkpoint in host memory, so that a thread can write it while the matrix changes.
class CheckpointCopy {
 public:
  /// Memory for `bytes` bytes, touched and then copied to by `threads` threads. Throws std::bad_alloc.
  CheckpointCopy(std::size_t bytes, int threads);

  void clear();
  /// Appends a piece. Allocates memory if it is full.
  void add(std::span<const std::byte> piece);
  /// In the order in which they were added. Valid until clear().
  const std::vector<std::span<const std::byte>>& pieces() const { return pieces_; }

 private:
  std::size_t bytes_;
  int threads_;
  std::unique_ptr<std::byte[]> memory_;
  std::size_t used_ = 0;
  std::deque<std::vector<std::byte>> beyond_;  // pieces that did not fit into memory_
  std::vector<std::span<const std::byte>> pieces_;
};

}  // namespace glinpack
