// HPL.dat, the input file of netlib's HPL (HPL_pdinfo.c): 31 positional lines. Only the first words of a line are
// read; the rest is a comment.
//
//    1-2  free text                     14-15  panel factorisations, PFACT
//      3  output file                   16-17  recursion ends at NBMIN columns
//      4  device: 6 stdout, 7 stderr,   18-19  panels in the recursion, NDIV
//         any other number: the file    20-21  recursive factorisations, RFACT
//    5-6  orders N                      22-23  broadcasts, 0 ... 5; 6 is ibcast
//    7-8  block sizes NB                24-25  look-ahead depths
//      9  PMAP: 0 row-, 1 column-major  26-27  SWAP and its threshold
//  10-12  grids: how many, Ps, Qs       28-29  L1 and U: 0 transposed, 1 not
//     13  threshold of the residual;    30-31  equilibration, alignment
//         0 or less: no check
//
// In a pair of lines, the first is the number of values on the second. What follows the 31st line is ignored.
//
// HPL reads numbers by atoi() and atof(): 16.0 and "1," are whole numbers, a word is 0. It has a value for each number
// out of range but N, NB, P, Q, NBMIN, NDIV, DEPTH and the numbers of values. The reader takes the same, with a note.
// Three things differ: N may not be 0, a list may not be shorter than its number of values, and it may be longer than
// HPL's 20.
//
// The HPL.dat of HPL-MxP (rocHPL-MxP) has lines 1 to 9, one P, one Q, and the lines 13, 22 and 23.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/input/text_file.hpp"
#include "matrix/grid.hpp"
#include "transport/node_route.hpp"
#include "transport/row_exchange_plan.hpp"

namespace glinpack::app {

/// Parameters of HPL's variant code that glinpack does not use. They are echoed for parsers (HPL_pdtest.c). Values as
/// in HPL.dat.
struct HplVariant {
  bool given = false;  // set by an HPL.dat
  int nbmin = 16;
  int ndiv = 2;
  char pfact = 'R';  // L C R
  char rfact = 'R';
};

struct HplDat {
  std::string output_file = {};
  int device = 6;
  std::vector<Index> n = {};
  std::vector<Index> nb = {};
  RankOrder order = RankOrder::row_major;
  std::vector<GridShape> grids = {};
  double threshold = 16.0;
  bool has_variant = true;       // false: HPL-MxP's file, without PFACT, NBMIN, NDIV, RFACT and the lines after BCAST
  std::vector<char> pfact{'R'};  // L C R, as HPL prints it
  std::vector<int> nbmin{16};
  std::vector<int> ndiv{2};
  std::vector<char> rfact{'R'};
  std::vector<BroadcastKind> broadcast = {};
  std::vector<int> depth{1};                  // of look-ahead
  RowSwap row_swap{RowSwapKind::mix, 64, 1};  // SWAP and its threshold

  std::vector<std::string> notes = {};  // what was taken for each odd line, "FILE:LINE: ..."

  bool to_stdout() const { return device == 6; }
  bool to_stderr() const { return device == 7; }
};

/// The file that read_hpl_dat() reads these values from; HPL's usual values on the last lines, 28 to 31. Throws
/// InputError for a broadcast or row swap that HPL does not have.
std::string text_of(const HplDat& hpl_dat);

/// What the reader has to know about the command.
struct HplDatUse {
  std::function<bool(const std::string& option)> overridden = {};  // its lines are not read; their lists are empty
  bool mxp = false;                                                // a file of 14 lines is HPL-MxP's
};

/// Throws InputError ("FILE:LINE: ...") that names the value and the expected one.
HplDat read_hpl_dat(const std::string& path, TextFiles& files, const HplDatUse& use = {});

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
