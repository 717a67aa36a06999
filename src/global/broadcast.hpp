// Broadcasts along process rows and columns, chosen by name as HPL's BCAST values are.
#pragma once

#include <mpi.h>

#include <optional>
#include <string_view>
#include <vector>

#include "local/matrix_view.hpp"

namespace glinpack {

enum class BroadcastKind {
  ring,               // HPL 0, 1rg: increasing ring
  ring_modified,      // HPL 1, 1rM: the root's neighbour receives first and does not forward
  two_rings,          // HPL 2, 2rg
  two_rings_modified, // HPL 3, 2rM
  long_,              // HPL 4, Lng: scatter, then roll
  long_modified,      // HPL 5, LnM
  ibcast,             // MPI_Ibcast: what the MPI library chooses
};

/// "ring", "ring-modified", "two-rings", "two-rings-modified", "long", "long-modified", "ibcast".
std::string_view name_of(BroadcastKind kind);
/// By name, by HPL's name (1rg 1rM 2rg 2rM Lng LnM) or digit (0 ... 5).
std::optional<BroadcastKind> broadcast_from_name(std::string_view name);
/// HPL's digit; ibcast, which HPL does not have, is 6.
int hpl_digit(BroadcastKind kind);

}  // namespace glinpack
