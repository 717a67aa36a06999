#include "transport/broadcast_kind.hpp"

#include <cstddef>

namespace glinpack {

namespace {

struct KindNames {
  BroadcastKind kind;
  std::string_view name;
  std::string_view hpl_name;
  int digit;
};

constexpr std::array<KindNames, 8> kinds{{{BroadcastKind::ring, "ring", "1rg", 0},
                                          {BroadcastKind::ring_modified, "ring-modified", "1rM", 1},
                                          {BroadcastKind::two_rings, "two-rings", "2rg", 2},
                                          {BroadcastKind::two_rings_modified, "two-rings-modified", "2rM", 3},
                                          {BroadcastKind::long_, "long", "Lng", 4},
                                          {BroadcastKind::long_modified, "long-modified", "LnM", 5},
                                          {BroadcastKind::ibcast, "ibcast", "MPI_Ibcast", 6},
                                          {BroadcastKind::ring_pipelined, "ring-pipelined", "ring-pipelined", 7}}};

}  // namespace

std::string_view name_of(BroadcastKind kind) { return kinds[static_cast<std::size_t>(kind)].name; }

int hpl_digit(BroadcastKind kind) { return kinds[static_cast<std::size_t>(kind)].digit; }

std::optional<BroadcastKind> broadcast_from_name(std::string_view name) {
  for (const KindNames& entry : kinds) {
    const bool is_digit = name.size() == 1 && name[0] == '0' + entry.digit && entry.digit <= 5;
    if (name == entry.name || name == entry.hpl_name || is_digit) return entry.kind;
  }
  return std::nullopt;
}

}  // namespace glinpack
