// Routines of other libraries, each timed once; the linear system that all solve, and the check of its answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "matrix/distribution.hpp"
#include "mpi/process_grid.hpp"

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

/// What HPL counts for factors and solution: 2/3 n^3 + 3/2 n^2.
double solve_flops(Index n);

/// This rank's part of HPL's A, rounded to Real; column-major without gaps, as LAPACK and ScaLAPACK have it.
/// Throws std::runtime_error where it has more elements than their 32-bit integers can count.
template <class Real>
std::vector<Real> local_matrix(const Distribution& distribution, GridPosition at);

/// HPL's b, all n elements, rounded to Real.
template <class Real>
std::vector<Real> right_hand_side(Index n);

/// Columns of A, without b, that a process column holds.
Index local_columns_of_a(const Distribution& distribution, int process_column);

/// HPL's scaled residual of x, all n elements, the same on every rank. Collective.
template <class Real>
double scaled_residual(const Distribution& distribution, const ProcessGrid& grid, const std::vector<Real>& x);

}  // namespace glinpack::rivals
