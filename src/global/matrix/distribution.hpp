// Two-dimensional block-cyclic distribution (ScaLAPACK's, HPL's): all index arithmetic of the global algorithm.
//
// Along one dimension, with extent n, block size nb and P processes, process 0 holding the first block:
//
//   global g     ->  block b = g / nb, offset o = g mod nb
//   block b      ->  process p = b mod P, that process's block number l = b / P
//   global g     ->  local i = (b / P) nb + o   on process b mod P
//   local i, p   ->  global g = ((i / nb) P + p) nb + i mod nb
//
//   A quantity          | function                        | LAPACK / HPL name
//   owner of g          | owner(g)                        | INDXG2P
//   local of g          | local(g)                        | INDXG2L
//   global of (i, p)    | global(i, p)                    | INDXL2G
//   local extent of p   | local_extent(p)                 | NUMROC
//   first local row at or after g on p | lower_bound(g, p) | NUMROC(g, ...)
#pragma once

#include <algorithm>
#include <compare>
#include <stdexcept>

#include "base/matrix_view.hpp"
#include "matrix/grid.hpp"

namespace glinpack {

/// Positions in the global matrix, in a rank's local matrix and in the sequence of blocks are three types. Only
/// BlockCyclic converts between them.
template <class Tag>
struct TaggedIndex {
  Index value = 0;

  constexpr TaggedIndex() = default;
  constexpr explicit TaggedIndex(Index v) : value(v) {}
  friend constexpr auto operator<=>(const TaggedIndex&, const TaggedIndex&) = default;
  constexpr TaggedIndex& operator++() {
    ++value;
    return *this;
  }
  friend constexpr TaggedIndex operator+(TaggedIndex a, Index distance) { return TaggedIndex(a.value + distance); }
  friend constexpr Index operator-(TaggedIndex a, TaggedIndex b) { return a.value - b.value; }
};

using GlobalIndex = TaggedIndex<struct GlobalTag>;  // a row or column of A
using LocalIndex = TaggedIndex<struct LocalTag>;    // a row or column of a rank's part
using BlockIndex = TaggedIndex<struct BlockTag>;    // a block row or block column: nb rows or columns of A

class BlockCyclic {
 public:
  /// extent >= 0, nb >= 1, processes >= 1; throws std::invalid_argument otherwise.
  BlockCyclic(Index extent, Index nb, int processes);

  Index extent() const { return extent_; }
  Index nb() const { return nb_; }
  int processes() const { return processes_; }

  Index blocks() const { return (extent_ + nb_ - 1) / nb_; }
  BlockIndex block(GlobalIndex g) const { return BlockIndex(g.value / nb_); }
  GlobalIndex first(BlockIndex b) const { return GlobalIndex(b.value * nb_); }
  Index width(BlockIndex b) const;  // nb, or less for the last block
  int owner(BlockIndex b) const { return static_cast<int>(b.value % processes_); }
  int owner(GlobalIndex g) const { return owner(block(g)); }

  LocalIndex local(GlobalIndex g) const;
  GlobalIndex global(LocalIndex i, int process) const;
  /// The number of the rows or columns 0 ... extent-1 on a process.
  Index local_extent(int process) const { return lower_bound(GlobalIndex(extent_), process).value; }
  /// The local position of the first element at or after g on a process; its local extent if there is none.
  LocalIndex lower_bound(GlobalIndex g, int process) const;

 private:
  Index extent_;
  Index nb_;
  int processes_;
};

inline BlockCyclic::BlockCyclic(Index extent, Index nb, int processes)
    : extent_(extent), nb_(nb), processes_(processes) {
  if (extent < 0 || nb < 1 || processes < 1) {
    throw std::invalid_argument("block-cyclic distribution: extent >= 0, block size >= 1 and processes >= 1 needed");
  }
}

inline Index BlockCyclic::width(BlockIndex b) const { return std::clamp<Index>(extent_ - b.value * nb_, 0, nb_); }

inline LocalIndex BlockCyclic::local(GlobalIndex g) const {
  return LocalIndex(block(g).value / processes_ * nb_ + g.value % nb_);
}

inline GlobalIndex BlockCyclic::global(LocalIndex i, int process) const {
  return GlobalIndex((i.value / nb_ * processes_ + process) * nb_ + i.value % nb_);
}

inline LocalIndex BlockCyclic::lower_bound(GlobalIndex g, int process) const {
  const Index position = std::min(g.value, extent_);
  const Index block = position / nb_;
  const Index owner = block % processes_;
  const Index own_full_blocks = block / processes_ + (process < owner ? 1 : 0);
  return LocalIndex(own_full_blocks * nb_ + (process == owner ? position % nb_ : 0));
}

/// The augmented matrix [A | b], N x (N+1), over a grid: b is global column N, as in HPL; or A alone.
struct Distribution {
  Distribution(Index n, Index nb, GridShape grid, Index right_hand_sides = 1)
      : rows(n, nb, grid.rows), columns(n + right_hand_sides, nb, grid.columns), n(n), nb(nb), shape(grid) {}

  BlockCyclic rows;
  BlockCyclic columns;
  Index n;
  Index nb;
  GridShape shape;
  /// More columns at the end of every rank's matrix, which take part in every pass as b does (abft/checksums.hpp).
  Index checksum_columns = 0;

  /// Passes of the factorisation: block columns of A without b.
  Index passes() const { return rows.blocks(); }
  Index pass_width(Index pass) const { return rows.width(BlockIndex(pass)); }
  GlobalIndex right_hand_side() const { return GlobalIndex(n); }
  Index local_rows(GridPosition at) const { return rows.local_extent(at.row); }
  Index local_columns(GridPosition at) const { return columns.local_extent(at.column); }
  /// Those of A alone: local_columns() without b.
  Index local_columns_of_a(GridPosition at) const { return columns.lower_bound(right_hand_side(), at.column).value; }
  /// Columns of the rank's matrix: local_columns() and the checksums.
  Index stored_columns(GridPosition at) const { return local_columns(at) + checksum_columns; }
};

}  // namespace glinpack
