#include "app/input/hpl_dat.hpp"

#include <limits>

namespace glinpack::app {

std::vector<HplCombination> combinations(const HplDat& hpl_dat) {
  std::vector<HplCombination> all;
  for (const int depth : hpl_dat.depth) {
    for (const BroadcastKind broadcast : hpl_dat.broadcast) {
      for (const char rfact : hpl_dat.rfact) {
        for (const char pfact : hpl_dat.pfact) {
          for (const int nbmin : hpl_dat.nbmin) {
            for (const int ndiv : hpl_dat.ndiv) {
              all.push_back(
                  {depth,
                   broadcast,
                   {.given = hpl_dat.has_variant, .nbmin = nbmin, .ndiv = ndiv, .pfact = pfact, .rfact = rfact}});
            }
          }
        }
      }
    }
  }
  return all;
}

std::int64_t run_count(const HplDat& hpl_dat) {
  std::int64_t count = 1;
  for (const std::size_t size :
       {hpl_dat.grids.size(), hpl_dat.n.size(), hpl_dat.nb.size(), hpl_dat.depth.size(), hpl_dat.broadcast.size(),
        hpl_dat.rfact.size(), hpl_dat.pfact.size(), hpl_dat.nbmin.size(), hpl_dat.ndiv.size()}) {
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(size), &count)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return count;
}

std::string unused_parameters_note(const std::string& path) {
  return path + ": L1, U, equilibration and alignment are accepted; glinpack has no use for them";
}

}  // namespace glinpack::app
