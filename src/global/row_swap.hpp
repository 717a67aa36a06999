// How rows of the trailing matrix change places over a process column, chosen by name as HPL's SWAP values are.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "local/matrix_view.hpp"

namespace glinpack {

enum class RowSwapKind {
  direct,           // every row goes straight to where it belongs; U12 then goes down the process column by a broadcast
  binary_exchange,  // HPL 0, bin-exch: pairs of ranks exchange all rows of U that they know (HPL_pdlaswp00N.c)
  spread_roll,      // HPL 1, long: rows are spread, then U goes round in equal pieces (HPL_pdlaswp01N.c)
  mix,              // HPL 2: binary exchange up to a number of columns, spread-roll above it
};

inline constexpr std::array all_row_swaps{RowSwapKind::direct, RowSwapKind::binary_exchange, RowSwapKind::spread_roll,
                                          RowSwapKind::mix};

/// "direct", "binary-exchange", "spread-roll", "mix".
std::string_view name_of(RowSwapKind kind);
/// By name, by HPL's name (bin-exch, long) or digit (0 ... 2).
std::optional<RowSwapKind> row_swap_from_name(std::string_view name);

struct RowSwap {
  RowSwapKind kind = RowSwapKind::direct;
  Index threshold = 64;  // mix: the most columns of a rank that are exchanged by binary exchange
  Index pieces = 1;      // of the trailing columns: rows of one change places while the one before it is reduced
  friend bool operator==(const RowSwap&, const RowSwap&) = default;
};

/// The kind that so many columns of a rank are exchanged by: never mix.
RowSwapKind kind_for(const RowSwap& swap, Index columns);

}  // namespace glinpack
