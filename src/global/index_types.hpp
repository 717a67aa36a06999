// Positions in the global matrix, in a rank's local matrix and in the sequence of blocks are three types: only
// BlockCyclic (distribution.hpp) turns one into another.
#pragma once

#include <compare>

#include "local/matrix_view.hpp"

namespace glinpack {

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

}  // namespace glinpack
