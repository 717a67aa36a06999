#include "app/input/hpl_dat.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <limits>
#include <string_view>

#include "app/input/input_error.hpp"

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

namespace {

std::vector<std::size_t> factorisation_digits(const std::vector<char>& letters) {
  std::vector<std::size_t> digits;
  for (const char letter : letters) digits.push_back(std::string_view("LCR").find(letter));
  return digits;
}

std::vector<int> broadcast_digits(const std::vector<BroadcastKind>& kinds) {
  std::vector<int> digits;
  for (const BroadcastKind kind : kinds) {
    if (kind == BroadcastKind::ring_pipelined) {
      throw InputError("HPL.dat has no number for --broadcast ring-pipelined; use another broadcast");
    }
    digits.push_back(hpl_digit(kind));
  }
  return digits;
}

int swap_digit(RowSwapKind kind) {
  if (kind != RowSwapKind::direct) return static_cast<int>(kind) - static_cast<int>(RowSwapKind::binary_exchange);
  throw InputError("HPL.dat has no number for --row-swap direct; use another row swap");
}

}  // namespace

std::string text_of(const HplDat& hpl_dat) {
  std::string rows, columns;
  for (const GridShape& grid : hpl_dat.grids) {
    rows += fmt::format("{} ", grid.rows);
    columns += fmt::format("{} ", grid.columns);
  }
  const auto line = [](const auto& value, const char* meaning) { return fmt::format("{:<12} {}\n", value, meaning); };
  std::string text = "HPLinpack benchmark input file\nwritten by glinpack plu --write-hpl-dat\n";
  text += line("HPL.out", "output file") + line(hpl_dat.device, "6: stdout, 7: stderr, else the file");
  text += line(hpl_dat.n.size(), "number of N") + line(fmt::format("{}", fmt::join(hpl_dat.n, " ")), "N");
  text += line(hpl_dat.nb.size(), "number of NB") + line(fmt::format("{}", fmt::join(hpl_dat.nb, " ")), "NB");
  text += line(hpl_dat.order == RankOrder::row_major ? 0 : 1, "PMAP (0: row-major, 1: column-major)");
  text += line(hpl_dat.grids.size(), "number of process grids") + line(rows, "P") + line(columns, "Q");
  text += line(hpl_dat.threshold, "threshold");
  const auto list = [&line](const auto& values, const char* meaning) {
    return line(values.size(), "number of values") + line(fmt::format("{}", fmt::join(values, " ")), meaning);
  };
  text += list(factorisation_digits(hpl_dat.pfact), "PFACT (0: left, 1: Crout, 2: right)");
  text += list(hpl_dat.nbmin, "NBMIN") + list(hpl_dat.ndiv, "NDIV");
  text += list(factorisation_digits(hpl_dat.rfact), "RFACT (0: left, 1: Crout, 2: right)");
  text += list(broadcast_digits(hpl_dat.broadcast), "BCAST (0: 1ring ... 5: LonM)") + list(hpl_dat.depth, "DEPTH");
  text += line(swap_digit(hpl_dat.row_swap.kind), "SWAP (0: binary-exchange, 1: long, 2: mix)");
  text += line(hpl_dat.row_swap.threshold, "threshold of mix");
  text += line(0, "L1 (0: transposed, 1: not)") + line(0, "U (0: transposed, 1: not)");
  return text + line(1, "equilibration (0: no, 1: yes)") + line(8, "alignment in doubles");
}

std::string unused_parameters_note(const std::string& path) {
  return path + ": L1, U, equilibration and alignment are accepted; glinpack has no use for them";
}

}  // namespace glinpack::app
