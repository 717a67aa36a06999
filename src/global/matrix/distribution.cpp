#include "matrix/distribution.hpp"

#include <algorithm>
#include <stdexcept>

namespace glinpack {

BlockCyclic::BlockCyclic(Index extent, Index nb, int processes) : extent_(extent), nb_(nb), processes_(processes) {
  if (extent < 0 || nb < 1 || processes < 1) {
    throw std::invalid_argument("block-cyclic distribution: extent >= 0, block size >= 1 and processes >= 1 needed");
  }
}

Index BlockCyclic::width(BlockIndex b) const { return std::clamp<Index>(extent_ - b.value * nb_, 0, nb_); }

LocalIndex BlockCyclic::local(GlobalIndex g) const {
  return LocalIndex(block(g).value / processes_ * nb_ + g.value % nb_);
}

GlobalIndex BlockCyclic::global(LocalIndex i, int process) const {
  return GlobalIndex((i.value / nb_ * processes_ + process) * nb_ + i.value % nb_);
}

LocalIndex BlockCyclic::lower_bound(GlobalIndex g, int process) const {
  const Index position = std::min(g.value, extent_);
  const Index block = position / nb_;
  const Index owner = block % processes_;
  const Index own_full_blocks = block / processes_ + (process < owner ? 1 : 0);
  return LocalIndex(own_full_blocks * nb_ + (process == owner ? position % nb_ : 0));
}

}  // namespace glinpack
