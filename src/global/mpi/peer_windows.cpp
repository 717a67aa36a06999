#include "mpi/peer_windows.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <utility>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

constexpr std::size_t pattern_words = 4096;

[[noreturn]] void fail_to_pass(const std::string& what) {
  throw std::runtime_error("passing GPU memory to other processes: " + what);
}
[[noreturn]] void fail_in(const char* system_call) {
  fail_to_pass(std::string(system_call) + ": " + std::strerror(errno));
}

// A datagram socket with a name that the kernel chooses, in no file system.
class DescriptorSocket {
 public:
  struct Name {
    sockaddr_un address{};
    socklen_t length = 0;
  };

  DescriptorSocket() {
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    const timeval patience{.tv_sec = 10, .tv_usec = 0};
    name_.address.sun_family = AF_UNIX;
    name_.length = sizeof name_.address;
    auto* const address = reinterpret_cast<sockaddr*>(&name_.address);
    if (bind(socket_, address, sizeof name_.address.sun_family) != 0 ||
        getsockname(socket_, address, &name_.length) != 0 ||
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
      name_.length = 0;
    }
  }
  DescriptorSocket(const DescriptorSocket&) = delete;
  DescriptorSocket& operator=(const DescriptorSocket&) = delete;
  ~DescriptorSocket() {
    if (socket_ >= 0) close(socket_);
  }
  /// Its length is 0 if there is no socket.
  const Name& name() const { return name_; }

  void send(Name to, int rank, std::span<const int> descriptors) const {
    Datagram datagram(&rank, descriptors.size());
    datagram.message.msg_name = &to.address;
    datagram.message.msg_namelen = to.length;
    cmsghdr* const header = CMSG_FIRSTHDR(&datagram.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
    if (sendmsg(socket_, &datagram.message, 0) != sizeof rank) fail_in("sendmsg");
  }
  /// The sender's rank and duplicates of its descriptors, of which there are at most `max`.
  std::pair<int, std::vector<int>> receive(std::size_t max) const {
    int rank = -1;
    Datagram datagram(&rank, max);
    if (recvmsg(socket_, &datagram.message, MSG_CMSG_CLOEXEC) != sizeof rank) fail_in("recvmsg");
    const cmsghdr* const header = CMSG_FIRSTHDR(&datagram.message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) fail_to_pass("a descriptor is missing");
    std::vector<int> descriptors((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(descriptors.data(), CMSG_DATA(header), descriptors.size() * sizeof(int));
    return {rank, descriptors};
  }

 private:
  struct Datagram {
    Datagram(int* rank, std::size_t descriptors)
        : part{rank, sizeof *rank}, control(CMSG_SPACE(descriptors * sizeof(int)) / sizeof(cmsghdr) + 1) {
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
    }
    iovec part;
    std::vector<cmsghdr> control;  // aligned
    msghdr message{};
  };

  int socket_ = -1;
  Name name_;
};

// The windows of all ranks of a line on one node, whose descriptors are duplicates; this rank's own have no others.
// Collective, also if it throws.
std::vector<PeerMemory::Windows> exchange_windows(const MpiCommunicator& line, const PeerMemory::Windows& own) {
  constexpr std::size_t max_windows = 16;  // descriptors of a datagram
  struct Sizes {
    std::size_t count = 0;
    std::array<std::size_t, max_windows> bytes{};
  };
  Sizes sizes{.count = own.size() > max_windows ? 0 : own.size()};
  std::vector<int> descriptors;
  for (std::size_t i = 0; i < sizes.count; ++i) {
    sizes.bytes[i] = own[i].bytes;
    descriptors.push_back(own[i].descriptor);
  }
  const DescriptorSocket socket;
  const std::vector<Sizes> sizes_of = all_gathered(line, sizes);
  const std::vector<DescriptorSocket::Name> names = all_gathered(line, socket.name());
  std::vector<PeerMemory::Windows> windows(names.size());
  std::exception_ptr failure;
  try {
    const bool has_all = std::ranges::all_of(names, [](const auto& name) { return name.length > 0; }) &&
                         std::ranges::all_of(sizes_of, [](const Sizes& one) { return one.count > 0; });
    if (!has_all) fail_to_pass("a rank has no socket, no window, or too many");
    for (int distance = 1; distance < line.size(); ++distance) {
      socket.send(names[static_cast<std::size_t>((line.rank() + distance) % line.size())], line.rank(), descriptors);
      const auto [rank, received] = socket.receive(max_windows);
      const bool is_expected = rank >= 0 && rank < line.size() && rank != line.rank() &&
                               windows[static_cast<std::size_t>(rank)].empty() &&
                               received.size() == sizes_of[static_cast<std::size_t>(rank)].count;
      if (!is_expected) {
        std::ranges::for_each(received, close);
        fail_to_pass("descriptors of an unknown sender");
      }
      for (std::size_t i = 0; i < received.size(); ++i) {
        const std::size_t bytes = sizes_of[static_cast<std::size_t>(rank)].bytes[i];
        windows[static_cast<std::size_t>(rank)].push_back({.bytes = bytes, .descriptor = received[i]});
      }
    }
  } catch (const std::runtime_error&) {
    failure = std::current_exception();
  }
  line.barrier();  // all datagrams have been received before a socket is closed
  if (failure) {
    for (const PeerMemory::Windows& of_rank : windows) {
      for (const PeerMemory::Window& window : of_rank) close(window.descriptor);
    }
    std::rethrow_exception(failure);
  }
  return windows;
}

using Pattern = std::array<std::uint32_t, pattern_words>;
Pattern pattern_of(int rank) {
  Pattern pattern;
  std::mt19937 random(static_cast<unsigned>(rank));
  std::ranges::generate(pattern, std::ref(random));
  return pattern;
}

bool is_on_one_node(std::span<const int> nodes) {
  return nodes.size() > 1 && std::ranges::count(nodes, nodes.front()) == std::ssize(nodes);
}

// Whether no rank has an error. Collective over the grid.
bool agree_or_warn(const ProcessGrid& grid, const std::string& error) {
  try {
    agree_or_throw(grid.all(), error);
    return true;
  } catch (const AgreedError& failure) {
    static bool warned = false;
    if (grid.is_root() && !std::exchange(warned, true)) {
      spdlog::warn("{}; GPUs exchange panels and rows through the host's memory", failure.what());
    }
    return false;
  }
}

// Ends the job if `work` throws: the other ranks wait in the collective call that failed.
template <class Work>
void or_abort(Work work) {
  try {
    work();
  } catch (const std::exception& failure) {
    abort_job(failure.what());
  }
}

std::string error_of(const PeerLines& lines) {
  if (lines.row && !lines.row->error().empty()) return lines.row->error();
  return lines.column ? lines.column->error() : "";
}

}  // namespace

PeerLine::PeerLine(PeerMemory& memory, MpiCommunicator line) : memory_(&memory), line_(line) {
  Windows own;
  try {
    own.push_back(memory.make_window(2 * sizeof(Pattern)));
  } catch (const std::runtime_error& failure) {
    error_ = failure.what();
  }
  const std::vector<Windows> windows = map(own);
  if (all_agree(line_, error_.empty())) try_copies(windows);
  for (const Windows& of_rank : windows) {
    for (const PeerMemory::Window& window : of_rank) memory.free_window(window);
  }
}

PeerLine::~PeerLine() {
  for (std::size_t rank = 0; rank < windows_.size(); ++rank) {
    if (static_cast<int>(rank) == line_.rank()) continue;
    for (const PeerMemory::Window& window : windows_[rank]) memory_->free_window(window);
  }
}

void PeerLine::map() { windows_ = map(memory_->own_windows()); }

// The windows of all ranks, this one's included.
std::vector<PeerLine::Windows> PeerLine::map(const Windows& own) {
  std::vector<Windows> windows(static_cast<std::size_t>(line_.size()));
  windows[static_cast<std::size_t>(line_.rank())] = own;
  if (!all_agree(line_, error_.empty())) return windows;
  try {
    const std::vector<Windows> exchanged = exchange_windows(line_, own);
    for (std::size_t rank = 0; rank < exchanged.size(); ++rank) {
      for (const PeerMemory::Window& window : exchanged[rank]) {
        if (error_.empty()) try {
            windows[rank].push_back(memory_->map_window(window.descriptor, window.bytes));
          } catch (const std::runtime_error& failure) {
            error_ = failure.what();
          }
        close(window.descriptor);
      }
    }
  } catch (const std::runtime_error& failure) {
    error_ = failure.what();
  }
  return windows;
}

PlaceInWindows PeerLine::place_of(PeerAddress address, std::size_t bytes) const {
  const Windows& own = windows_[static_cast<std::size_t>(line_.rank())];
  const auto found = std::ranges::find_if(own, [&](const PeerMemory::Window& window) {
    return address >= window.address && address + bytes <= window.address + window.bytes;
  });
  if (found == own.end()) throw std::logic_error("a message is not in a window");
  return {static_cast<std::uint64_t>(found - own.begin()), address - found->address};
}

// Every GPU copies a pattern from every other one's window to its own: some hosts lose what GPUs copy to each other,
// such as those whose IOMMU is on, without an error of the driver.
void PeerLine::try_copies(const std::vector<Windows>& windows) {
  const auto first_of = [&](int rank) { return windows[static_cast<std::size_t>(rank)].front().address; };
  const PeerAddress own = first_of(line_.rank()), copied = own + sizeof(Pattern);
  const Pattern mine = pattern_of(line_.rank()), nothing{};
  try {
    memory_->write(std::as_bytes(std::span(mine)), own);
    memory_->write(std::as_bytes(std::span(nothing)), copied);
  } catch (const std::runtime_error& failure) {
    error_ = failure.what();
  }
  line_.barrier();
  for (int rank = 0; rank < line_.size() && error_.empty(); ++rank) {
    if (rank == line_.rank()) continue;
    Pattern arrived{};
    try {
      memory_->copy(first_of(rank), copied, sizeof(Pattern));
      memory_->wait();
      memory_->read(copied, std::as_writable_bytes(std::span(arrived)));
      if (arrived != pattern_of(rank)) error_ = "what GPUs copy to each other arrives wrong on this host";
    } catch (const std::runtime_error& failure) {
      error_ = failure.what();
    }
  }
  line_.barrier();  // no rank frees a window that another one still reads
}

std::unique_ptr<PeerLines> count_peer_lines(std::span<const int> nodes_of_row, std::span<const int> nodes_of_column) {
  auto lines = std::make_unique<PeerLines>();
  if (is_on_one_node(nodes_of_row)) lines->row = std::make_unique<PeerLine>();
  if (is_on_one_node(nodes_of_column)) lines->column = std::make_unique<PeerLine>();
  return lines;
}

std::unique_ptr<PeerLines> open_peer_lines(const ProcessGrid& grid, const std::function<PeerMemory*()>& open_peers) {
  const bool row = is_on_one_node(nodes_of(grid.row())), column = is_on_one_node(nodes_of(grid.column()));
  PeerMemory* memory = nullptr;
  std::string error;
  try {
    if (row || column) memory = open_peers();
  } catch (const std::runtime_error& failure) {
    error = failure.what();
  }
  if (!agree_or_warn(grid, error)) return nullptr;
  if (!all_agree(grid.all(), memory != nullptr || !(row || column))) return nullptr;
  auto lines = std::make_unique<PeerLines>();
  or_abort([&] {
    if (row) lines->row = std::make_unique<PeerLine>(*memory, grid.row());
    if (column) lines->column = std::make_unique<PeerLine>(*memory, grid.column());
  });
  return agree_or_warn(grid, error_of(*lines)) ? std::move(lines) : nullptr;
}

bool map_windows(const ProcessGrid& grid, const PeerLines& lines) {
  or_abort([&] {
    if (lines.row) lines.row->map();
    if (lines.column) lines.column->map();
  });
  if (!agree_or_warn(grid, error_of(lines))) return false;
  spdlog::debug("GPUs copy messages to each other: along the process row {}, down the process column {}",
                lines.row ? "yes" : "no", lines.column ? "yes" : "no");
  return true;
}

PeerExchange::PeerExchange(PeerLine& line, int tag, const std::vector<PeerMessage>& messages) : line_(line), tag_(tag) {
  for (const PeerMessage& message : messages) {
    Pending& pending = pending_.emplace_back();
    pending.message = message;
    pending.notice.resize(sizeof(PlaceInWindows) + message.header.size());
    if (message.receives) {
      GLINPACK_MPI(MPI_Irecv(pending.notice.data(), static_cast<int>(pending.notice.size()), MPI_BYTE, message.peer,
                             tag_, line_.communicator(), &pending.notified));
      continue;
    }
    PlaceInWindows place;
    if (!message.parts.empty()) {
      const PeerAddress first = message.parts.front().address;
      place = line_.place_of(first, message.parts.back().address + message.parts.back().bytes - first);
    }
    std::memcpy(pending.notice.data(), &place, sizeof place);
    std::ranges::copy(message.header, pending.notice.begin() + sizeof place);
    GLINPACK_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, message.peer, tag_ + tags::acknowledgement, line_.communicator(),
                           &pending.acknowledged));
    GLINPACK_MPI(MPI_Isend(pending.notice.data(), static_cast<int>(pending.notice.size()), MPI_BYTE, message.peer, tag_,
                           line_.communicator(), &pending.notified));
  }
}

bool PeerExchange::advance() {
  const auto is_done = [](MPI_Request& request) {
    int done = 1;
    GLINPACK_MPI(MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE));
    return done != 0;
  };
  std::vector<Pending*> copied;
  for (Pending& pending : pending_) {
    if (!pending.message.receives || pending.copied || !is_done(pending.notified)) continue;
    copy_from_peer(pending);
    copied.push_back(&pending);
  }
  if (!copied.empty()) line_.memory().wait();
  for (Pending* const pending : copied) {
    pending->copied = true;
    GLINPACK_MPI(MPI_Isend(nullptr, 0, MPI_BYTE, pending->message.peer, tag_ + tags::acknowledgement,
                           line_.communicator(), &pending->acknowledged));
  }
  bool done = true;
  for (Pending& pending : pending_) {
    done = (!pending.message.receives || pending.copied) && is_done(pending.notified) &&
           is_done(pending.acknowledged) && done;
  }
  return done;
}

void PeerExchange::copy_from_peer(Pending& pending) {
  PlaceInWindows place;
  std::memcpy(&place, pending.notice.data(), sizeof place);
  std::copy(pending.notice.begin() + sizeof place, pending.notice.end(), pending.message.header.begin());
  const std::vector<PeerMessage::Part>& parts = pending.message.parts;
  if (parts.empty()) return;
  const PeerAddress from = line_.address_in(pending.message.peer, place);
  for (const PeerMessage::Part& part : parts) {
    line_.memory().copy(from + (part.address - parts.front().address), part.address, part.bytes);
  }
}

}  // namespace glinpack
