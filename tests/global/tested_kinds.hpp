// Every base, spectrum and modifier of --matrix.
#pragma once

#include <string>
#include <vector>

#include "matrix/matrix_source.hpp"
#include "matrix/spectrum.hpp"

namespace glinpack::test {

inline std::vector<MatrixKind> tested_kinds() {
  std::vector<MatrixKind> kinds{MatrixKind::hpl};
  for (const MatrixBase& base : matrix_bases()) kinds.push_back(MatrixKind::parse(std::string(base.name)));
  for (const std::string_view spectrum : all_spectra)
    kinds.push_back(MatrixKind::parse("svd_" + std::string(spectrum)));
  for (const char* name : {"diag", "poev_geo", "heev_arith_cond10", "spd", "syev", "rand_dominant", "minij_zerocol0",
                           "rands_zerocol0.5_ofl", "svd_zerohalf_ufl", "kms_small", "kms_large"}) {
    kinds.push_back(MatrixKind::parse(name));
  }
  for (int type = 1; type <= 11; ++type) kinds.push_back(MatrixKind::parse("dlatb4_" + std::to_string(type)));
  return kinds;
}

}  // namespace glinpack::test
