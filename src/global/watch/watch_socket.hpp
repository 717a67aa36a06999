// Connections between the ranks and the watchdog, independent of MPI: TCP over IPv4.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/progress_record.hpp"

namespace glinpack {

/// A file descriptor, closed at the end. Move-only.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { close(); }

  bool open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close();

 private:
  int descriptor_ = -1;
};

/// The message format: fixed size, between processes of the same program.
struct WatchMessage {
  enum class Kind : std::uint8_t { hello, welcome, state, farewell, verdict };
  std::uint64_t token = 0;  // identifies the job; other connections are rejected
  std::int32_t rank = 0;
  Kind kind = Kind::state;
  ProgressSnapshot progress;
  double stuck = 0;  // seconds without progress
};

/// One end of a connection. Neither sending nor receiving waits.
class WatchLink {
 public:
  WatchLink() = default;
  explicit WatchLink(Socket socket) : socket_(std::move(socket)) {}

  bool open() const { return socket_.open(); }
  int descriptor() const { return socket_.descriptor(); }
  void close() { socket_.close(); }
  /// Drops the message if the receiver has not read earlier ones: a later message will be newer.
  void send(const WatchMessage& message);
  /// The received messages; closes if the other end has closed.
  std::vector<WatchMessage> receive();

 private:
  Socket socket_;
  std::string unsent_;
  std::string received_;
};

/// The network address of a process.
struct WatchAddress {
  std::uint32_t ipv4 = 0;  // in network byte order, as `port`
  std::uint16_t port = 0;
};
std::string text_of(const WatchAddress& address);

/// The addresses of this host's interfaces that are up, the loopback last, at most `most`.
std::vector<std::uint32_t> own_addresses(std::size_t most);

/// Takes connections at a port that the system chooses. Throws std::runtime_error.
class WatchListener {
 public:
  /// `on_this_host`: the callers; the port is then open at the loopback address alone.
  explicit WatchListener(bool on_this_host);
  std::uint16_t port() const { return port_; }  // in network byte order
  /// Accepts `count` processes with this token, and returns their connections by rank; after `seconds`, fewer. Silent
  /// callers delay no others.
  std::map<int, WatchLink> accept(std::uint64_t token, std::size_t count, double seconds);

 private:
  Socket socket_;
  std::uint16_t port_ = 0;
};

/// Tries the addresses in turn, each for at most `seconds`, until one welcomes this rank. Throws std::runtime_error
/// with every address and its error.
WatchLink connect_to(std::span<const WatchAddress> addresses, std::uint64_t token, int rank, double seconds);

/// Raises the limit of open files to the system's maximum.
void allow_many_connections();

}  // namespace glinpack
