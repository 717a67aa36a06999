// Messages between the GPUs of a node's ranks without the host's memory: what ranks send lies in windows of their GPUs,
// and the receivers' GPUs copy it from there. Small MPI messages order the copies.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/peer_memory.hpp"
#include "mpi/process_grid.hpp"

namespace glinpack {

/// A byte of a rank's windows.
struct PlaceInWindows {
  std::uint64_t window = 0;
  std::uint64_t offset = 0;
};

/// The ranks of a process row or column, which are all on one node.
class PeerLine {
 public:
  /// Tries to copy a pattern between all ranks. Collective over `line`. error() has the reason if it failed on this
  /// rank; all ranks must agree that it did not before any of them continues. `memory` must outlive it.
  PeerLine(PeerMemory& memory, MpiCommunicator line);
  PeerLine() = default;  // whose windows are only counted
  PeerLine(const PeerLine&) = delete;
  PeerLine& operator=(const PeerLine&) = delete;
  ~PeerLine();

  /// Maps the windows that all ranks have now. Collective over the line; error() as above.
  void map();
  const std::string& error() const { return error_; }

  PeerMemory& memory() const { return *memory_; }
  MPI_Comm communicator() const { return line_; }
  PeerAddress address_in(int rank, const PlaceInWindows& place) const {
    return windows_[static_cast<std::size_t>(rank)][place.window].address + place.offset;
  }
  /// Where bytes are in this rank's windows. Throws std::logic_error if they are in none.
  PlaceInWindows place_of(PeerAddress address, std::size_t bytes) const;

 private:
  using Windows = PeerMemory::Windows;

  std::vector<Windows> map(const Windows& own);
  void try_copies(const std::vector<Windows>& windows);

  PeerMemory* memory_ = nullptr;
  MpiCommunicator line_;
  std::vector<Windows> windows_;  // of each rank; this rank's own belong to its buffers
  std::string error_;
};

/// The windows of a rank's process row and column; null where ranks of the line are on several nodes, or alone.
struct PeerLines {
  std::unique_ptr<PeerLine> row;
  std::unique_ptr<PeerLine> column;
};
/// Collective over the grid. `open_peers`: DeviceMemory::open_peers(), called if a line of this rank is on one node.
/// Null if it returns null on a rank, or if it or copying a pattern fails; then the grid's root warns once on standard
/// error.
std::unique_ptr<PeerLines> open_peer_lines(const ProcessGrid& grid, const std::function<PeerMemory*()>& open_peers);
/// Maps the windows of all ranks, when their buffers are allocated. Collective over the grid. False, with such a
/// warning, if it failed on a rank.
bool map_windows(const ProcessGrid& grid, const PeerLines& lines);
/// To count memory: the lines of a rank whose process row and column have ranks on these nodes (nodes_of()).
std::unique_ptr<PeerLines> count_peer_lines(std::span<const int> nodes_of_row, std::span<const int> nodes_of_column);

/// A message of this rank. `header` is in the host's memory, and comes first. The parts are in one window, equally
/// far from each other on the sender and the receivers.
struct PeerMessage {
  int peer = 0;
  bool receives = false;
  std::span<char> header;
  struct Part {
    PeerAddress address = 0;
    std::size_t bytes = 0;
  };
  std::vector<Part> parts;  // in ascending order; none is empty
};

/// Pending messages of one kind. Both ranks of a pair start their messages of a kind in the same order.
class PeerExchange {
 public:
  /// What is sent must not change before the exchange is done.
  PeerExchange(PeerLine& line, int tag, const std::vector<PeerMessage>& messages);
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  /// Copies what has come; true when all is received, and all that was sent is copied by its receivers.
  bool advance();

 private:
  struct Pending {
    PeerMessage message;
    std::vector<char> notice;  // the PlaceInWindows of the first part on the sender, then the header
    MPI_Request notified = MPI_REQUEST_NULL;
    MPI_Request acknowledged = MPI_REQUEST_NULL;
    bool copied = false;
  };
  void copy_from_peer(Pending& pending);

  PeerLine& line_;
  int tag_;
  std::list<Pending> pending_;
};

}  // namespace glinpack
