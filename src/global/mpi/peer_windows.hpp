// Messages between the GPUs of a node's ranks without the host's memory: a rank copies what it sends into its GPU's
// window, and the receivers' GPUs copy it from there. Small MPI messages order the copies.
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
#include "transport/node_route.hpp"

namespace glinpack {

/// The windows of a process row's or column's ranks, which are all on one node. A window has areas: what a rank sends
/// at a time by one kind of messages.
class PeerWindow {
 public:
  /// Collective over `line`. error() reports failures on the affected ranks; all ranks must agree that there is none
  /// before any of them uses the window. `memory` must outlive it.
  PeerWindow(PeerMemory& memory, MpiCommunicator line, std::span<const std::size_t> areas);
  /// Only counts its memory.
  explicit PeerWindow(std::span<const std::size_t> areas);
  PeerWindow(const PeerWindow&) = delete;
  PeerWindow& operator=(const PeerWindow&) = delete;
  ~PeerWindow();

  const std::string& error() const { return error_; }
  PeerMemory& memory() const { return *memory_; }
  MPI_Comm line() const { return line_; }
  PeerAddress address_in(int rank, std::uint64_t offset) const {
    return windows_[static_cast<std::size_t>(rank)].address + offset;
  }

 private:
  friend class PeerExchange;
  struct Area {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };

  std::uint64_t place(std::span<const std::size_t> areas);
  void check_copies();

  PeerMemory* memory_ = nullptr;
  MpiCommunicator line_;
  std::vector<Area> areas_;
  std::vector<PeerMemory::Window> windows_;  // of each rank
  std::string error_;
};

/// The windows of a rank's process row and column; null where ranks of the line are on several nodes, or alone.
struct PeerWindows {
  std::unique_ptr<PeerWindow> row;
  std::unique_ptr<PeerWindow> column;
};
/// Collective over the grid. `open_peers`: DeviceMemory::open_peers(), called if a line of this rank is on one node.
/// Null if it returns null on a rank, or fails; then the grid's root warns once on standard error.
std::unique_ptr<PeerWindows> make_peer_windows(const ProcessGrid& grid, const std::function<PeerMemory*()>& open_peers,
                                               const PeerAreas& areas);
/// Only counts the memory of such windows, of a rank whose lines have ranks on these nodes (nodes_of()).
std::unique_ptr<PeerWindows> count_peer_windows(std::span<const int> nodes_of_row, std::span<const int> nodes_of_column,
                                                const PeerAreas& areas);

/// A message of this rank. Its parts are in device memory; `header` is in the host's, and comes first.
struct PeerMessage {
  int peer = 0;
  bool receives = false;
  std::span<char> header;
  struct Part {
    PeerAddress address = 0;
    std::size_t bytes = 0;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts;
};

/// Pending messages of one kind. Both ranks of a pair start their messages of a kind in the same order.
class PeerExchange {
 public:
  /// What is sent has been copied into the window's area when it returns. The area must be free: the last exchange with
  /// it is done.
  PeerExchange(PeerWindow& window, std::size_t area, int tag, const std::vector<PeerMessage>& messages);
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;

  /// Copies what has come; true when all is received, and all that was sent is copied by its receivers.
  bool advance();

 private:
  struct Pending {
    PeerMessage message;
    std::vector<char> notice;  // the place in the sender's window, then the header
    MPI_Request notified = MPI_REQUEST_NULL;
    MPI_Request acknowledged = MPI_REQUEST_NULL;
    bool copied = false;
  };
  void copy_from_peer(Pending& pending);

  PeerWindow& window_;
  int tag_;
  std::list<Pending> pending_;
};

}  // namespace glinpack
