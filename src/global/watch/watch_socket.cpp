#include "watch/watch_socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace glinpack {

namespace {

using Clock = std::chrono::steady_clock;

class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  int milliseconds_left() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(0, left));
  }

 private:
  Clock::time_point end_;
};

// Whether the descriptor is ready before the deadline.
bool ready(int descriptor, short events, const Deadline& deadline) {
  pollfd waiting{.fd = descriptor, .events = events, .revents = 0};
  for (;;) {
    const int count = poll(&waiting, 1, deadline.milliseconds_left());
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

void send_short_messages_at_once(int descriptor) {
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

// The first message, before the deadline.
std::optional<WatchMessage> first_message(WatchLink& link, const Deadline& deadline) {
  while (link.open() && ready(link.descriptor(), POLLIN, deadline)) {
    if (const std::vector<WatchMessage> messages = link.receive(); !messages.empty()) return messages.front();
  }
  return std::nullopt;
}

// The error; empty once the connection is open.
std::string connect_before(int descriptor, const WatchAddress& address, const Deadline& deadline) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = address.ipv4;
  to.sin_port = address.port;
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return "";
  if (errno != EINPROGRESS) return std::strerror(errno);
  if (!ready(descriptor, POLLOUT, deadline)) return "no answer";
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void Socket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void WatchLink::send(const WatchMessage& message) {
  if (!open()) return;
  if (unsent_.empty()) unsent_.assign(reinterpret_cast<const char*>(&message), sizeof message);
  const ssize_t sent = ::send(descriptor(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));
}

std::vector<WatchMessage> WatchLink::receive() {
  for (int pieces = 0; pieces < 16 && open(); ++pieces) {
    char piece[4096];
    const ssize_t size = recv(descriptor(), piece, sizeof piece, MSG_DONTWAIT);
    if (size > 0) {
      received_.append(piece, static_cast<std::size_t>(size));
    } else if (size < 0 && errno == EINTR) {
      continue;
    } else {
      if (size == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) close();
      break;
    }
  }
  std::vector<WatchMessage> messages(received_.size() / sizeof(WatchMessage));
  const std::size_t whole = messages.size() * sizeof(WatchMessage);
  if (whole > 0) std::memcpy(messages.data(), received_.data(), whole);
  received_.erase(0, whole);
  return messages;
}

std::string text_of(const WatchAddress& address) {
  char text[INET_ADDRSTRLEN] = {};
  const in_addr ipv4{address.ipv4};
  inet_ntop(AF_INET, &ipv4, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(address.port));
}

std::vector<std::uint32_t> own_addresses(std::size_t most) {
  std::vector<std::uint32_t> addresses;
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) == 0) {
    for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
      const bool usable = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
      if (!usable || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      addresses.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
    }
    freeifaddrs(interfaces);
  }
  if (addresses.size() >= most) addresses.resize(most - 1);
  addresses.push_back(htonl(INADDR_LOOPBACK));
  return addresses;
}

WatchListener::WatchListener(bool on_this_host)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(on_this_host ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t size = sizeof any;
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  if (!socket_.open() || bind(socket_.descriptor(), address, size) != 0 ||
      listen(socket_.descriptor(), SOMAXCONN) != 0 || getsockname(socket_.descriptor(), address, &size) != 0) {
    throw std::runtime_error(std::string("no TCP port to listen at: ") + std::strerror(errno));
  }
  port_ = any.sin_port;
}

std::map<int, WatchLink> WatchListener::accept(std::uint64_t token, std::size_t count, double seconds) {
  struct Caller {
    WatchLink link;
    Deadline for_hello{1};
  };
  std::vector<Caller> callers;
  std::map<int, WatchLink> accepted;
  for (const Deadline deadline(seconds); accepted.size() < count && deadline.milliseconds_left() > 0;) {
    std::vector<pollfd> waiting{{.fd = socket_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const Caller& caller : callers)
      waiting.push_back({.fd = caller.link.descriptor(), .events = POLLIN, .revents = 0});
    poll(waiting.data(), waiting.size(), std::min(deadline.milliseconds_left(), 100));
    Socket connection(accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.open()) {
      send_short_messages_at_once(connection.descriptor());
      callers.push_back({.link = WatchLink(std::move(connection))});
    }
    std::erase_if(callers, [&](Caller& caller) {
      const std::vector<WatchMessage> messages = caller.link.receive();
      if (messages.empty()) return !caller.link.open() || caller.for_hello.milliseconds_left() == 0;
      const WatchMessage& hello = messages.front();
      if (hello.token == token && hello.kind == WatchMessage::Kind::hello) {
        caller.link.send({.token = token, .kind = WatchMessage::Kind::welcome, .progress = {}});
        accepted.insert_or_assign(hello.rank, std::move(caller.link));  // the last one, if it called again
      }
      return true;
    });
  }
  return accepted;
}

WatchLink connect_to(std::span<const WatchAddress> addresses, std::uint64_t token, int rank, double seconds) {
  std::string refusals;
  for (const WatchAddress& address : addresses) {
    const Deadline deadline(seconds);
    Socket connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    std::string why = connection.open() ? connect_before(connection.descriptor(), address, deadline)
                                        : std::string(std::strerror(errno));
    if (why.empty()) {
      send_short_messages_at_once(connection.descriptor());
      WatchLink link(std::move(connection));
      link.send({.token = token, .rank = rank, .kind = WatchMessage::Kind::hello, .progress = {}});
      const auto welcome = first_message(link, deadline);
      if (welcome && welcome->token == token && welcome->kind == WatchMessage::Kind::welcome) return link;
      why = "it does not belong to this job";
    }
    refusals += (refusals.empty() ? "" : ", ") + text_of(address) + " (" + why + ")";
  }
  throw std::runtime_error("cannot be reached by TCP at " + refusals);
}

void allow_many_connections() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace glinpack
