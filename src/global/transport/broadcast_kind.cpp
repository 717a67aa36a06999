#include "transport/broadcast_kind.hpp"

#include <cstddef>
#include <string>

namespace glinpack {

namespace {

struct KindNames {
  std::string_view name;
  std::string_view hpl_name;
};

constexpr std::array<KindNames, all_broadcasts.size()> kinds{{{"ring", "1rg"},
                                                              {"ring-modified", "1rM"},
                                                              {"two-rings", "2rg"},
                                                              {"two-rings-modified", "2rM"},
                                                              {"long", "Lng"},
                                                              {"long-modified", "LnM"},
                                                              {"ibcast", "MPI_Ibcast"},
                                                              {"ring-pipelined", "ring-pipelined"}}};

}  // namespace

std::string_view name_of(BroadcastKind kind) { return kinds[static_cast<std::size_t>(kind)].name; }

std::optional<BroadcastKind> broadcast_from_name(std::string_view name) {
  for (const BroadcastKind kind : all_broadcasts) {
    const KindNames& names = kinds[static_cast<std::size_t>(kind)];
    const bool is_digit = kind <= BroadcastKind::long_modified && name == std::to_string(hpl_digit(kind));
    if (name == names.name || name == names.hpl_name || is_digit) return kind;
  }
  return std::nullopt;
}

}  // namespace glinpack
