#include "global/node_window.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "global/communication.hpp"

namespace glinpack {

namespace {

// Small enough that those who read are not far behind, and in cache still.
constexpr std::size_t slice_bytes = std::size_t{1} << 16;
// To wake threads takes as long as one of them copies a few hundred kilobytes.
constexpr std::size_t least_for_team = std::size_t{1} << 20;
constexpr std::size_t cache_line = 64;
constexpr std::size_t page = 4096;

// At least one, which tells that even an empty message is there.
std::size_t slices_of(std::size_t bytes) { return std::max<std::size_t>(1, (bytes + slice_bytes - 1) / slice_bytes); }

std::size_t rounded_to_page(std::size_t bytes) { return (bytes + page - 1) / page * page; }

// A slot's head: in a cache line of its own how often the slot has been read, then for each slice the turn that it is
// of.
using Word = std::atomic_ref<std::uint64_t>;
Word word_at(char* address) { return Word(*reinterpret_cast<std::uint64_t*>(address)); }
Word reads_of(char* slot) { return word_at(slot); }
Word turn_of_slice(char* slot, std::size_t slice) { return word_at(slot + cache_line + slice * sizeof(std::uint64_t)); }

}  // namespace

NodeWindow::NodeWindow(MPI_Comm communicator, std::vector<int> nodes, std::size_t largest, ThreadTeam& team)
    : nodes_(std::move(nodes)),
      readers_(static_cast<std::uint64_t>(
          std::count(nodes_.begin(), nodes_.end(), nodes_[static_cast<std::size_t>(rank_in(communicator))]) - 1)),
      largest_(largest),
      head_bytes_(rounded_to_page(cache_line + slices_of(largest) * sizeof(std::uint64_t))),
      slot_bytes_(head_bytes_ + rounded_to_page(largest)),
      memory_(communicator, nodes_, 2 * slot_bytes_),
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
  if (bytes < least_for_team) return copy_some(0);
  team_.run(copy_some);
}

void NodeWindow::copy_in(std::uint64_t message, const void* data, std::size_t bytes) {
  if (readers_ == 0) return;
  char* const slot = slot_of(message);
  for_each_slice(bytes, [&](std::size_t slice, std::size_t first, std::size_t count) {
    if (count > 0) std::memcpy(slot + head_bytes_ + first, static_cast<const char*>(data) + first, count);
    turn_of_slice(slot, slice).store(turn_of(message), std::memory_order_release);
  });
}

void NodeWindow::copy_out(std::uint64_t message, void* data, std::size_t bytes) {
  char* const slot = slot_of(message);
  for_each_slice(bytes, [&](std::size_t slice, std::size_t first, std::size_t count) {
    const Word turn = turn_of_slice(slot, slice);
    spin_until([&] { return turn.load(std::memory_order_acquire) == turn_of(message); });
    if (count > 0) std::memcpy(static_cast<char*>(data) + first, slot + head_bytes_ + first, count);
  });
  reads_of(slot).fetch_add(1, std::memory_order_acq_rel);
}

}  // namespace glinpack
