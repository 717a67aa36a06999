// HPL.dat, the input file of netlib's HPL (HPL_pdinfo.c): positional, 31 lines, the first tokens of each count and
// what follows them is a comment.
//
//    1-2  free text                     14-15  panel factorisations, PFACT
//      3  output file                   16-17  recursion ends at NBMIN columns
//      4  device: 6 stdout, 7 stderr,   18-19  panels in the recursion, NDIV
//         any other number: the file    20-21  recursive factorisations, RFACT
//    5-6  orders N                      22-23  broadcasts, 0 ... 5
//    7-8  block sizes NB                24-25  look-ahead depths
//      9  PMAP: 0 row-, 1 column-major  26-27  SWAP and its threshold
//  10-12  grids: how many, Ps, Qs       28-29  L1 and U: 0 transposed, 1 not
//     13  threshold of the residual;    30-31  equilibration, alignment
//         negative: no check
//
// Of a pair of lines the first says how many values the second holds, 20 at most. Lines after the 31st are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/input/text_file.hpp"
#include "app/report/run_record.hpp"

namespace glinpack::app {

struct HplDat {
  static constexpr int longest_list = 20;

  std::string output_file;
  int device = 6;
  std::vector<Index> n;
  std::vector<Index> nb;
  RankOrder order = RankOrder::row_major;
  std::vector<GridShape> grids;
  double threshold = 16.0;
  std::vector<char> pfact;  // L C R, as HPL prints them
  std::vector<int> nbmin;
  std::vector<int> ndiv;
  std::vector<char> rfact;
  std::vector<BroadcastKind> broadcast;
  std::vector<int> depth;                     // of look-ahead
  RowSwap row_swap{RowSwapKind::mix, 64, 1};  // SWAP and its threshold
  int l1_form = 0;
  int u_form = 0;
  int equilibration = 1;
  int alignment = 8;

  bool to_stdout() const { return device == 6; }
  bool to_stderr() const { return device == 7; }
};

/// Throws InputError, "FILE:LINE: ...", naming the value and what is expected in its place.
HplDat read_hpl_dat(const std::string& path, TextFiles& files);

/// The parameters that HPL's innermost loops run over, in HPL's order (HPL_pddriver.c: depth, broadcast, RFACT, PFACT,
/// NBMIN, NDIV, the last fastest; around them grid, N and NB).
struct HplCombination {
  int lookahead = 0;
  BroadcastKind broadcast = BroadcastKind::ring;
  HplVariant variant;
};
std::vector<HplCombination> combinations(const HplDat& hpl_dat);

/// How many runs the file asks for: grids x Ns x NBs x combinations.
std::int64_t run_count(const HplDat& hpl_dat);

/// One line that names the parameters which glinpack reads and has no use for, but for those that it shows with the
/// results (PFACT, NBMIN, NDIV, RFACT): the report names these.
std::string unused_parameters_note(const std::string& path);

}  // namespace glinpack::app
