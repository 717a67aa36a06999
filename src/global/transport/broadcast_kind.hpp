// Broadcasts along process rows and columns, chosen by name as HPL's BCAST values are.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace glinpack {

enum class BroadcastKind {
  ring,                // HPL 0, 1rg: increasing ring
  ring_modified,       // HPL 1, 1rM: the root's neighbour receives first and does not forward
  two_rings,           // HPL 2, 2rg
  two_rings_modified,  // HPL 3, 2rM
  long_,               // HPL 4, Lng: scatter, then roll
  long_modified,       // HPL 5, LnM
  ibcast,              // MPI_Ibcast
  ring_pipelined,      // the ring, with the message in pieces; HPL has none
};

inline constexpr std::array all_broadcasts{
    BroadcastKind::ring,  BroadcastKind::ring_modified, BroadcastKind::two_rings, BroadcastKind::two_rings_modified,
    BroadcastKind::long_, BroadcastKind::long_modified, BroadcastKind::ibcast,    BroadcastKind::ring_pipelined};

/// An MPI collective: it needs all ranks of a communicator, and MPI chooses its messages.
constexpr bool is_mpi_collective(BroadcastKind kind) { return kind == BroadcastKind::ibcast; }

/// HPL's digit; those that HPL does not have are 6, ibcast, and 7, ring_pipelined.
constexpr int hpl_digit(BroadcastKind kind) { return static_cast<int>(kind); }

struct BroadcastNames {
  std::string_view name;
  std::string_view hpl_name;
};

inline constexpr std::array<BroadcastNames, all_broadcasts.size()> broadcast_names{
    {{"ring", "1rg"},
     {"ring-modified", "1rM"},
     {"two-rings", "2rg"},
     {"two-rings-modified", "2rM"},
     {"long", "Lng"},
     {"long-modified", "LnM"},
     {"ibcast", "MPI_Ibcast"},
     {"ring-pipelined", "ring-pipelined"}}};

constexpr std::string_view name_of(BroadcastKind kind) { return broadcast_names[static_cast<std::size_t>(kind)].name; }

/// By name, by HPL's name (1rg 1rM 2rg 2rM Lng LnM) or digit (0 ... 5).
inline std::optional<BroadcastKind> broadcast_from_name(std::string_view name) {
  for (const BroadcastKind kind : all_broadcasts) {
    const BroadcastNames& names = broadcast_names[static_cast<std::size_t>(kind)];
    const bool is_digit = kind <= BroadcastKind::long_modified && name == std::to_string(hpl_digit(kind));
    if (name == names.name || name == names.hpl_name || is_digit) return kind;
  }
  return std::nullopt;
}

}  // namespace glinpack
