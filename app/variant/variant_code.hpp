// HPL's variant code, the T/V column of its reports: "WR11C2R4". HPL 2.3, HPL_pdtest.c, prints it as
// "W%c%1d%c%c%1d%c%1d" from PMAP, DEPTH, BCAST, RFACT, NDIV, PFACT and NBMIN.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace glinpack::app {

struct VariantCode {
  bool row_major = true;  // PMAP: R or C
  std::int64_t depth = 0;
  int broadcast = 0;  // HPL's digit; 6: MPI_Ibcast, 7: ring-pipelined, which HPL does not have
  char rfact = 'R';   // L C R
  std::int64_t ndiv = 2;
  char pfact = 'R';
  std::int64_t nbmin = 16;
  friend bool operator==(const VariantCode&, const VariantCode&) = default;
};

std::string text_of(const VariantCode& code);

/// Throws InputError that names the code, the position in it (from 1) and the expected value.
VariantCode parse_variant_code(std::string_view text);

/// One part of a code with its explanation.
struct VariantPart {
  std::string text;  // as in the code
  std::string name;  // HPL.dat's: PMAP, DEPTH, ...
  std::string meaning;
  std::string option;  // of glinpack plu; empty: no option, only shown
};

/// The parts in order.
std::vector<VariantPart> explain(const VariantCode& code);

}  // namespace glinpack::app
