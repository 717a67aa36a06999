#include "mpi/peer_windows.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/memory_count.hpp"
#include "mpi/communication.hpp"
#include "mpi/session.hpp"

namespace glinpack {

namespace {

constexpr std::size_t alignment = 256;  // of areas and messages in a window
constexpr std::size_t pattern_words = 4096;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

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

  void send(Name to, int rank, int descriptor) const {
    Datagram datagram(&rank);
    datagram.message.msg_name = &to.address;
    datagram.message.msg_namelen = to.length;
    cmsghdr* const header = CMSG_FIRSTHDR(&datagram.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(socket_, &datagram.message, 0) != sizeof rank) fail_in("sendmsg");
  }
  /// The sender's rank and a duplicate of its descriptor.
  std::pair<int, int> receive() const {
    int rank = -1, descriptor = -1;
    Datagram datagram(&rank);
    if (recvmsg(socket_, &datagram.message, MSG_CMSG_CLOEXEC) != sizeof rank) fail_in("recvmsg");
    const cmsghdr* const header = CMSG_FIRSTHDR(&datagram.message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) fail_to_pass("a descriptor is missing");
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return {rank, descriptor};
  }

 private:
  struct Datagram {
    explicit Datagram(int* rank) : part{rank, sizeof *rank} {
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = control.size();
    }
    iovec part;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
  };

  int socket_ = -1;
  Name name_;
};

// The descriptors of all ranks of a line on one node, by rank; this rank's own is -1. Collective, also if it throws.
std::vector<int> exchange_descriptors(const MpiCommunicator& line, int descriptor) {
  const DescriptorSocket own;
  const std::vector<DescriptorSocket::Name> names = all_gathered(line, own.name());
  const auto size = static_cast<int>(names.size());
  std::vector<int> descriptors(names.size(), -1);
  std::exception_ptr failure;
  try {
    const bool any_missing = std::ranges::any_of(names, [](const auto& name) { return name.length == 0; });
    if (any_missing) fail_to_pass("a rank has no socket");
    for (int distance = 1; distance < size; ++distance) {
      own.send(names[static_cast<std::size_t>((line.rank() + distance) % size)], line.rank(), descriptor);
      const auto [rank, received] = own.receive();
      const bool is_expected = rank >= 0 && rank < size && rank != line.rank();
      if (!is_expected || descriptors[static_cast<std::size_t>(rank)] >= 0) {
        close(received);
        fail_to_pass("a descriptor of an unknown sender");
      }
      descriptors[static_cast<std::size_t>(rank)] = received;
    }
  } catch (const std::runtime_error&) {
    failure = std::current_exception();
  }
  line.barrier();  // all datagrams have been received before a socket is closed
  if (failure) {
    for (const int received : descriptors) {
      if (received >= 0) close(received);
    }
    std::rethrow_exception(failure);
  }
  return descriptors;
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

}  // namespace

PeerWindow::PeerWindow(PeerMemory& memory, MpiCommunicator line, std::span<const std::size_t> areas)
    : memory_(&memory), line_(line), windows_(static_cast<std::size_t>(line.size())) {
  const std::uint64_t bytes = place(areas);
  PeerMemory::Window& own = windows_[static_cast<std::size_t>(line.rank())];
  try {
    own = memory.make_window(bytes);
  } catch (const std::runtime_error& failure) {
    error_ = failure.what();
  }
  const std::vector<std::uint64_t> sizes = all_gathered(line_, own.address == 0 ? std::uint64_t{0} : bytes);
  if (std::ranges::find(sizes, std::uint64_t{0}) != sizes.end()) return;
  try {
    const std::vector<int> descriptors = exchange_descriptors(line_, own.descriptor);
    for (std::size_t rank = 0; rank < windows_.size(); ++rank) {
      if (descriptors[rank] < 0) continue;
      if (error_.empty()) try {
          windows_[rank] = memory.map_window(descriptors[rank], sizes[rank]);
        } catch (const std::runtime_error& failure) {
          error_ = failure.what();
        }
      close(descriptors[rank]);
    }
  } catch (const std::runtime_error& failure) {
    error_ = failure.what();
  }
  if (all_agree(line_, error_.empty())) check_copies();
}

PeerWindow::PeerWindow(std::span<const std::size_t> areas) {
  MemoryCount::add_device(static_cast<std::int64_t>(place(areas)));
}

PeerWindow::~PeerWindow() {
  for (const PeerMemory::Window& window : windows_) memory_->free_window(window);
}

// The bytes of all areas.
std::uint64_t PeerWindow::place(std::span<const std::size_t> areas) {
  std::uint64_t bytes = 0;
  for (const std::size_t area : areas) {
    areas_.push_back({bytes, bytes + aligned(area)});
    bytes += aligned(area);
  }
  return std::max<std::uint64_t>(bytes, 2 * sizeof(Pattern));
}

// Every GPU copies a pattern from every other one's window to its own: some hosts lose what GPUs copy to each other,
// such as those whose IOMMU is on, without an error of the driver. Copies to other memory of the receiver are not
// tried.
void PeerWindow::check_copies() {
  const PeerAddress own = address_in(line_.rank(), 0), copied = own + sizeof(Pattern);
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
      memory_->copy(address_in(rank, 0), copied, sizeof(Pattern));
      memory_->wait();
      memory_->read(copied, std::as_writable_bytes(std::span(arrived)));
      if (arrived != pattern_of(rank)) error_ = "what GPUs copy to each other arrives wrong on this host";
    } catch (const std::runtime_error& failure) {
      error_ = failure.what();
    }
  }
}

std::unique_ptr<PeerWindows> count_peer_windows(std::span<const int> nodes_of_row, std::span<const int> nodes_of_column,
                                                const PeerAreas& areas) {
  auto windows = std::make_unique<PeerWindows>();
  if (is_on_one_node(nodes_of_row)) windows->row = std::make_unique<PeerWindow>(areas.row);
  if (is_on_one_node(nodes_of_column)) windows->column = std::make_unique<PeerWindow>(areas.column);
  return windows;
}

std::unique_ptr<PeerWindows> make_peer_windows(const ProcessGrid& grid, const std::function<PeerMemory*()>& open_peers,
                                               const PeerAreas& areas) {
  const bool row = is_on_one_node(nodes_of(grid.row())), column = is_on_one_node(nodes_of(grid.column()));
  PeerMemory* memory = nullptr;
  std::string error;
  try {
    try {
      if (row || column) memory = open_peers();
    } catch (const std::runtime_error& failure) {
      error = failure.what();
    }
    agree_or_throw(grid.all(), error);
    if (!all_agree(grid.all(), memory != nullptr || !(row || column))) return nullptr;
    auto windows = std::make_unique<PeerWindows>();
    const auto make = [&](bool is_shared, const MpiCommunicator& line, std::span<const std::size_t> sizes) {
      auto window = is_shared ? std::make_unique<PeerWindow>(*memory, line, sizes) : nullptr;
      if (window && error.empty()) error = window->error();
      return window;
    };
    windows->row = make(row, grid.row(), areas.row);
    windows->column = make(column, grid.column(), areas.column);
    agree_or_throw(grid.all(), error);
    spdlog::debug("GPUs copy messages to each other: along the process row {}, down the process column {}",
                  row ? "yes" : "no", column ? "yes" : "no");
    return windows;
  } catch (const AgreedError& failure) {
    static bool warned = false;
    if (grid.is_root() && !std::exchange(warned, true)) {
      spdlog::warn("{}; GPUs exchange panels and rows through the host's memory", failure.what());
    }
    return nullptr;
  } catch (const std::exception& failure) {
    abort_job(failure.what());  // the other ranks wait in the collective call that failed
  }
}

PeerExchange::PeerExchange(PeerWindow& window, std::size_t area, int tag, const std::vector<PeerMessage>& messages)
    : window_(window), tag_(tag) {
  std::uint64_t place = 0, next = window.areas_[area].first;
  const PeerMessage* last_sent = nullptr;
  for (const PeerMessage& message : messages) {
    Pending& pending = pending_.emplace_back();
    pending.message = message;
    pending.notice.resize(sizeof place + message.header.size());
    if (message.receives) {
      GLINPACK_MPI(MPI_Irecv(pending.notice.data(), static_cast<int>(pending.notice.size()), MPI_BYTE, message.peer,
                             tag_, window_.line(), &pending.notified));
      continue;
    }
    if (last_sent == nullptr || last_sent->parts != message.parts) {
      place = next;
      for (const PeerMessage::Part& part : message.parts) {
        if (next + part.bytes > window.areas_[area].end) throw std::logic_error("a message does not fit its window");
        window_.memory().copy(part.address, window_.address_in(rank_in(window_.line()), next), part.bytes);
        next += part.bytes;
      }
    }
    last_sent = &message;
    std::memcpy(pending.notice.data(), &place, sizeof place);
    std::ranges::copy(message.header, pending.notice.begin() + sizeof place);
  }
  if (last_sent == nullptr) return;
  window_.memory().wait();
  for (Pending& sent : pending_) {
    if (sent.message.receives) continue;
    const int peer = sent.message.peer;
    GLINPACK_MPI(
        MPI_Irecv(nullptr, 0, MPI_BYTE, peer, tag_ + tags::acknowledgement, window_.line(), &sent.acknowledged));
    GLINPACK_MPI(MPI_Isend(sent.notice.data(), static_cast<int>(sent.notice.size()), MPI_BYTE, peer, tag_,
                           window_.line(), &sent.notified));
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
  if (!copied.empty()) window_.memory().wait();
  for (Pending* const pending : copied) {
    pending->copied = true;
    GLINPACK_MPI(MPI_Isend(nullptr, 0, MPI_BYTE, pending->message.peer, tag_ + tags::acknowledgement, window_.line(),
                           &pending->acknowledged));
  }
  bool done = true;
  for (Pending& pending : pending_) {
    done = (!pending.message.receives || pending.copied) && is_done(pending.notified) &&
           is_done(pending.acknowledged) && done;
  }
  return done;
}

void PeerExchange::copy_from_peer(Pending& pending) {
  std::uint64_t place = 0;
  std::memcpy(&place, pending.notice.data(), sizeof place);
  std::copy(pending.notice.begin() + sizeof place, pending.notice.end(), pending.message.header.begin());
  for (const PeerMessage::Part& part : pending.message.parts) {
    window_.memory().copy(window_.address_in(pending.message.peer, place), part.address, part.bytes);
    place += part.bytes;
  }
}

}  // namespace glinpack
