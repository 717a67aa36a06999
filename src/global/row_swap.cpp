#include "global/row_swap.hpp"

namespace glinpack {

namespace {

struct KindNames {
  RowSwapKind kind;
  std::string_view name;
  std::string_view hpl_name;
  std::string_view digit;
};

constexpr std::array<KindNames, 4> kinds{{{RowSwapKind::direct, "direct", "direct", ""},
                                          {RowSwapKind::binary_exchange, "binary-exchange", "bin-exch", "0"},
                                          {RowSwapKind::spread_roll, "spread-roll", "long", "1"},
                                          {RowSwapKind::mix, "mix", "mix", "2"}}};

}  // namespace

std::string_view name_of(RowSwapKind kind) { return kinds[static_cast<std::size_t>(kind)].name; }

std::optional<RowSwapKind> row_swap_from_name(std::string_view name) {
  for (const KindNames& entry : kinds) {
    if (!name.empty() && (name == entry.name || name == entry.hpl_name || name == entry.digit)) return entry.kind;
  }
  return std::nullopt;
}

RowSwapKind kind_for(const RowSwap& swap, Index columns) {
  if (swap.kind != RowSwapKind::mix) return swap.kind;
  return columns <= swap.threshold ? RowSwapKind::binary_exchange : RowSwapKind::spread_roll;
}

}  // namespace glinpack
