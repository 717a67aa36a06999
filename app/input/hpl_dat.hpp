// HPL.dat, the input file of netlib's HPL (HPL_pdinfo.c): 31 positional lines. Only the first tokens of a line are
// read; the rest is a comment.
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
// In a pair of lines, the first is the number of values on the second, at most 20. Lines after the 31st are ignored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/input/text_file.hpp"
#include "app/record/run_record.hpp"

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
  std::vector<char> pfact;  // L C R, as HPL prints it
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

/// Throws InputError ("FILE:LINE: ...") that names the value and the expected one.
HplDat read_hpl_dat(const std::string& path, TextFiles& files);

/// The 31 lines, the first two given; read_hpl_dat() reads the same again. Broadcasts must be HPL's; a row swap that
/// HPL does not have becomes mix.
std::string text_of(const HplDat& hpl_dat, const std::string& title, const std::string& comment);

/// The parameters of HPL's innermost loops, in HPL's order (HPL_pddriver.c): depth, broadcast, RFACT, PFACT, NBMIN,
/// NDIV. The last varies fastest. The outer loops are grid, N and NB.
struct HplCombination {
  int lookahead = 0;
  BroadcastKind broadcast = BroadcastKind::ring;
  HplVariant variant;
};
std::vector<HplCombination> combinations(const HplDat& hpl_dat);

/// The number of runs: grids x Ns x NBs x combinations.
std::int64_t run_count(const HplDat& hpl_dat);

/// One line with the parameters that glinpack reads but ignores. The report shows PFACT, NBMIN, NDIV and RFACT with the
/// results, so the line omits them.
std::string unused_parameters_note(const std::string& path);

}  // namespace glinpack::app
