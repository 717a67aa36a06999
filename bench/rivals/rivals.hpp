// Routines of other libraries, each timed once.
#pragma once

#include <optional>
#include <string>

#include "matrix/distribution.hpp"

namespace glinpack::rivals {

struct Settings {
  Index n = 8000;
  Index nb = 64;         // ScaLAPACK's block
  GridShape grid{1, 2};  // ScaLAPACK's grid of processes
  int threads = 1;       // OpenBLAS's threads in each process
};

struct Measurement {
  std::string routine;
  double seconds = 0;  // of the slowest rank
  double flops = 0;
  std::optional<double> residual = {};  // HPL's scaled residual of the solution, where there is one
};

/// p?getrf and p?getrs of ScaLAPACK on settings.grid. Collective over MPI_COMM_WORLD, which must have as many ranks as
/// the grid. The same result on every rank.
template <class Real>
Measurement run_scalapack(const Settings& settings);

/// ?getrf and ?getrs of OpenBLAS, through LAPACKE; one process.
template <class Real>
Measurement run_getrf(const Settings& settings);

/// ?gemm of OpenBLAS on three n x n matrices: the most that a factorisation can reach; one process.
template <class Real>
Measurement run_gemm(const Settings& settings);

}  // namespace glinpack::rivals
