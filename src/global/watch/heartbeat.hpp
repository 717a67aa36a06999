// Heartbeats of ranks, independent of MPI: datagrams of UDP over IPv4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress_record.hpp"

namespace glinpack {

/// What a rank reports: fixed size, between processes of the same program.
struct Heartbeat {
  enum class Kind : std::uint8_t { state, farewell, verdict };
  std::uint64_t token = 0;  // identifies the job; other datagrams are ignored
  std::int32_t rank = 0;
  Kind kind = Kind::state;
  ProgressSnapshot progress;
  double stuck = 0;  // seconds without progress
};

/// The network address of a process.
struct WatchAddress {
  std::uint32_t ipv4 = 0;  // in network byte order, as `port`
  std::uint16_t port = 0;
  friend bool operator==(const WatchAddress&, const WatchAddress&) = default;
};
std::string text_of(const WatchAddress& address);

/// The addresses of this host's interfaces that are up but the loopback, at most `max`.
std::vector<std::uint32_t> own_addresses(std::size_t max);
/// 127.0.0.1
std::uint32_t loopback_address();

class HeartbeatSocket {
 public:
  /// At a port that the system chooses. `on_this_host`: open at the loopback address alone. Throws std::runtime_error.
  explicit HeartbeatSocket(bool on_this_host);
  HeartbeatSocket(const HeartbeatSocket&) = delete;
  HeartbeatSocket& operator=(const HeartbeatSocket&) = delete;
  ~HeartbeatSocket();
  std::uint16_t port() const { return port_; }  // in network byte order

  /// Never waits; the network may lose it.
  void send(const Heartbeat& heartbeat, const WatchAddress& to) const;
  struct Received {
    WatchAddress from;
    std::optional<Heartbeat> heartbeat;  // empty: no process has the port any more
  };
  /// All that has come; waits up to `seconds` for the first. Heartbeats precede ended processes.
  std::vector<Received> receive(double seconds) const;

 private:
  int descriptor_;
  std::uint16_t port_ = 0;
};

}  // namespace glinpack
