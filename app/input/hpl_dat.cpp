#include "app/input/hpl_dat.hpp"

#include <spdlog/fmt/fmt.h>

#include <limits>
#include <string_view>

namespace glinpack::app {

std::string text_of(const HplDat& hpl_dat, const std::string& title, const std::string& comment) {
  std::string text = title + '\n' + comment + '\n';
  const auto line = [&](const auto& value, std::string_view what) { text += fmt::format("{:<12} {}\n", value, what); };
  const auto values = [&](const auto& list, std::string_view what) {
    line(fmt::format("{}", fmt::join(list, " ")), what);
  };
  const auto digits = [](const std::vector<char>& letters) {
    std::vector<std::size_t> result;
    for (const char letter : letters) result.push_back(std::string_view("LCR").find(letter));
    return result;
  };
  const auto list = [&](const auto& all, std::string_view count, std::string_view what) {
    line(all.size(), count);
    values(all, what);
  };
  std::vector<int> ps, qs, broadcasts;
  for (const GridShape& grid : hpl_dat.grids) {
    ps.push_back(grid.rows);
    qs.push_back(grid.columns);
  }
  for (const BroadcastKind kind : hpl_dat.broadcast) broadcasts.push_back(hpl_digit(kind));
  line(hpl_dat.output_file, "output file name (if any)");
  line(hpl_dat.device, "device out (6=stdout,7=stderr,file)");
  list(hpl_dat.n, "# of problems sizes (N)", "Ns");
  list(hpl_dat.nb, "# of NBs", "NBs");
  line(hpl_dat.order == RankOrder::column_major ? 1 : 0, "PMAP process mapping (0=Row-,1=Column-major)");
  list(ps, "# of process grids (P x Q)", "Ps");
  values(qs, "Qs");
  line(hpl_dat.threshold, "threshold");
  list(digits(hpl_dat.pfact), "# of panel fact", "PFACTs (0=left, 1=Crout, 2=Right)");
  list(hpl_dat.nbmin, "# of recursive stopping criterium", "NBMINs (>= 1)");
  list(hpl_dat.ndiv, "# of panels in recursion", "NDIVs");
  list(digits(hpl_dat.rfact), "# of recursive panel fact.", "RFACTs (0=left, 1=Crout, 2=Right)");
  list(broadcasts, "# of broadcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)");
  list(hpl_dat.depth, "# of lookahead depth", "DEPTHs (>=0)");
  const bool roll = hpl_dat.row_swap.kind == RowSwapKind::spread_roll;
  line(hpl_dat.row_swap.kind == RowSwapKind::binary_exchange ? 0 : roll ? 1 : 2, "SWAP (0=bin-exch,1=long,2=mix)");
  line(hpl_dat.row_swap.threshold, "swapping threshold");
  line(hpl_dat.l1_form, "L1 in (0=transposed,1=no-transposed) form");
  line(hpl_dat.u_form, "U  in (0=transposed,1=no-transposed) form");
  line(hpl_dat.equilibration, "Equilibration (0=no,1=yes)");
  line(hpl_dat.alignment, "memory alignment in double (> 0)");
  return text;
}

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
