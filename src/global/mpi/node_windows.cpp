#include "mpi/node_windows.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <utility>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

// Small enough for readers to follow closely, while the slice is in cache.
constexpr std::size_t slice_bytes = std::size_t{1} << 16;
constexpr std::size_t cache_line_bytes = 64;

std::size_t slices_of(std::size_t bytes) { return (bytes + slice_bytes - 1) / slice_bytes; }

std::size_t rounded_to_page(std::size_t bytes) {
  return (bytes + shared_page_bytes - 1) / shared_page_bytes * shared_page_bytes;
}

// A slot's head: the number of reads of the slot in a cache line of its own, then the turn of each slice.
using Word = std::atomic_ref<std::uint64_t>;
Word word_at(char* address) { return Word(*reinterpret_cast<std::uint64_t*>(address)); }
Word reads_of(char* slot) { return word_at(slot); }
Word turn_of_slice(char* slot, std::size_t slice) {
  return word_at(slot + cache_line_bytes + slice * sizeof(std::uint64_t));
}

std::unique_ptr<NodeWindow> window_of(MPI_Comm line, std::vector<int> nodes, int rank, std::size_t largest,
                                      ThreadTeam& team) {
  if (!any_node_shared(nodes)) return nullptr;
  return std::make_unique<NodeWindow>(line, std::move(nodes), rank, largest, team);
}

std::string description_of(const NodeWindow* window, int ranks) {
  if (ranks == 1) return "none, it has one rank";
  if (window == nullptr) return "messages, no two ranks share a node";
  return "shared memory within a node, for " + std::to_string(window->largest()) + " bytes at most";
}

void warn_once(const std::string& why) {
  static bool warned = false;
  if (warned) return;
  warned = true;
  spdlog::warn("{}; the processes of a node use messages", why);
}

}  // namespace

NodeWindow::NodeWindow(MPI_Comm communicator, std::vector<int> nodes, int rank, std::size_t largest, ThreadTeam& team)
    : nodes_(std::move(nodes)),
      readers_(static_cast<std::uint64_t>(
          std::count(nodes_.begin(), nodes_.end(), nodes_[static_cast<std::size_t>(rank)]) - 1)),
      largest_(largest),
      head_bytes_(rounded_to_page(cache_line_bytes + slices_of(largest) * sizeof(std::uint64_t))),
      slot_bytes_(head_bytes_ + rounded_to_page(largest)),
      memory_(communicator, nodes_, rank, 2 * slot_bytes_),
      team_(team) {}

bool NodeWindow::is_free(std::uint64_t message) const {
  if (readers_ == 0) return true;
  return reads_of(slot_of(message)).load(std::memory_order_acquire) == (turn_of(message) - 1) * readers_;
}

bool NodeWindow::has_begun(std::uint64_t message) const {
  return turn_of_slice(slot_of(message), 0).load(std::memory_order_acquire) == turn_of(message);
}

// copy(slice, its first byte, its bytes)
template <class Copy>
void NodeWindow::for_each_slice(std::size_t bytes, Copy copy) {
  const std::size_t slices = slices_of(bytes);
  std::atomic<std::size_t> next{0};
  const auto copy_some = [&](int) {
    for (std::size_t slice = next++; slice < slices; slice = next++) {
      const std::size_t first = slice * slice_bytes;
      copy(slice, first, std::min(slice_bytes, bytes - first));
    }
  };
  if (bytes < min_bytes_for_team) return copy_some(0);
  team_.run(copy_some);
}

void NodeWindow::copy_in(std::uint64_t message, const void* data, std::size_t bytes) {
  if (readers_ == 0) return;
  char* const slot = slot_of(message);
  for_each_slice(bytes, [&](std::size_t slice, std::size_t first, std::size_t count) {
    std::memcpy(slot + head_bytes_ + first, static_cast<const char*>(data) + first, count);
    turn_of_slice(slot, slice).store(turn_of(message), std::memory_order_release);
  });
}

void NodeWindow::copy_out(std::uint64_t message, void* data, std::size_t bytes) {
  char* const slot = slot_of(message);
  for_each_slice(bytes, [&](std::size_t slice, std::size_t first, std::size_t count) {
    const Word turn = turn_of_slice(slot, slice);
    spin_until([&] { return turn.load(std::memory_order_acquire) == turn_of(message); });
    std::memcpy(static_cast<char*>(data) + first, slot + head_bytes_ + first, count);
  });
  reads_of(slot).fetch_add(1, std::memory_order_acq_rel);
}

NodeWindows::NodeWindows(const ProcessGrid& grid, std::vector<int> nodes_of_row, std::vector<int> nodes_of_column,
                         const BroadcastSizes& largest, int threads)
    : team_(any_node_shared(nodes_of_row) || any_node_shared(nodes_of_column) ? threads : 1),
      row_(window_of(grid.row(), std::move(nodes_of_row), grid.position().column, largest.row, team_)),
      column_(window_of(grid.column(), nodes_of_column, grid.position().row, largest.column, team_)) {
  std::string error;
  const auto rings = [&](std::size_t bytes) -> std::unique_ptr<NodeRings> {
    if (bytes == 0 || !any_node_shared(nodes_of_column)) return nullptr;
    return std::make_unique<NodeRings>(grid.column(), nodes_of_column, grid.position().row, bytes, team_);
  };
  row_rings_ = rings(largest.row_ring);
  panel_rings_ = rings(largest.panel_ring);
  for (const NodeRings* made : {row_rings_.get(), panel_rings_.get()}) {
    if (made != nullptr && error.empty()) error = made->error();
  }
  for (const NodeWindow* window : {row_.get(), column_.get()}) {
    if (window != nullptr && error.empty()) error = window->error();
  }
  if (grid.active()) agree_or_throw(grid.all(), error);
}

std::unique_ptr<NodeWindows> make_node_windows(const ProcessGrid& grid, const BroadcastSizes& largest, int threads) {
  if (grid.shape().size() == 1) return nullptr;
  try {
    auto windows = std::make_unique<NodeWindows>(grid, nodes_of(grid.row()), nodes_of(grid.column()), largest, threads);
    spdlog::debug("broadcasts along the process row: {}; down the process column: {}",
                  description_of(windows->row(), grid.shape().columns),
                  description_of(windows->column(), grid.shape().rows));
    return windows;
  } catch (const AgreedError& failure) {
    if (grid.is_root()) warn_once(failure.what());
    return nullptr;
  } catch (const std::exception& failure) {
    abort_job(failure.what());  // the other ranks wait in the collective call that failed
  }
}

}  // namespace glinpack
