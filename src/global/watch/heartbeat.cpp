#include "watch/heartbeat.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace glinpack {

namespace {

sockaddr_in socket_address(const WatchAddress& address) {
  sockaddr_in converted{};
  converted.sin_family = AF_INET;
  converted.sin_addr.s_addr = address.ipv4;
  converted.sin_port = address.port;
  return converted;
}

// The destination of a datagram that the host there has refused: no process has the port. ip(7), IP_RECVERR.
std::optional<WatchAddress> next_refusal(int descriptor) {
  sockaddr_in to{};
  alignas(cmsghdr) char control[512];
  msghdr message{};
  message.msg_name = &to;
  message.msg_namelen = sizeof to;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  while (recvmsg(descriptor, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
      sock_extended_err error{};
      if (part->cmsg_level != IPPROTO_IP || part->cmsg_type != IP_RECVERR) continue;
      std::memcpy(&error, CMSG_DATA(part), sizeof error);
      if (error.ee_errno == ECONNREFUSED) return WatchAddress{to.sin_addr.s_addr, to.sin_port};
    }
    message.msg_controllen = sizeof control;
  }
  return std::nullopt;
}

}  // namespace

std::string text_of(const WatchAddress& address) {
  char text[INET_ADDRSTRLEN] = {};
  const in_addr ipv4{address.ipv4};
  inet_ntop(AF_INET, &ipv4, text, sizeof text);
  return std::string(text) + ":" + std::to_string(ntohs(address.port));
}

std::vector<std::uint32_t> own_addresses(std::size_t max) {
  std::vector<std::uint32_t> addresses;
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) return addresses;
  for (const ifaddrs* one = interfaces; one != nullptr && addresses.size() < max; one = one->ifa_next) {
    const bool usable = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
    if (!usable || one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    addresses.push_back(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
  }
  freeifaddrs(interfaces);
  return addresses;
}

std::uint32_t loopback_address() { return htonl(INADDR_LOOPBACK); }

HeartbeatSocket::HeartbeatSocket(bool on_this_host)
    : descriptor_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  sockaddr_in own = socket_address({on_this_host ? loopback_address() : htonl(INADDR_ANY), 0});
  socklen_t size = sizeof own;
  auto* address = reinterpret_cast<sockaddr*>(&own);
  if (descriptor_ < 0 || bind(descriptor_, address, size) != 0 || getsockname(descriptor_, address, &size) != 0) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) close(descriptor_);
    throw std::runtime_error("no UDP port can be opened: " + why);
  }
  port_ = own.sin_port;
  const int on = 1, bytes = 8 << 20;  // for the heartbeats of thousands of ranks
  setsockopt(descriptor_, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
  setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

HeartbeatSocket::~HeartbeatSocket() { close(descriptor_); }

void HeartbeatSocket::send(const Heartbeat& heartbeat, const WatchAddress& to) const {
  const sockaddr_in address = socket_address(to);
  const auto once = [&] {
    return sendto(descriptor_, &heartbeat, sizeof heartbeat, 0, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address);
  };
  if (once() < 0) once();  // the first may report the error of an earlier one
}

std::vector<HeartbeatSocket::Received> HeartbeatSocket::receive(double seconds) const {
  pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
  poll(&waiting, 1, static_cast<int>(seconds * 1000));
  std::vector<WatchAddress> refusals;
  while (const auto address = next_refusal(descriptor_)) refusals.push_back(*address);
  std::vector<Received> received;
  for (;;) {
    Heartbeat heartbeat;
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t bytes =
        recvfrom(descriptor_, &heartbeat, sizeof heartbeat, MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &size);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (bytes == sizeof heartbeat) received.push_back({{from.sin_addr.s_addr, from.sin_port}, heartbeat});
  }
  for (const WatchAddress& address : refusals) received.push_back({address, std::nullopt});
  return received;
}

}  // namespace glinpack
