#include <cblas.h>
#include <lapacke.h>
#include <mpi.h>

#include <stdexcept>

#include "rivals.hpp"

namespace glinpack::rivals {
namespace {

lapack_int getrf(lapack_int n, float* a, lapack_int* pivots) {
  return LAPACKE_sgetrf(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int getrf(lapack_int n, double* a, lapack_int* pivots) {
  return LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, a, n, pivots);
}
lapack_int getrs(lapack_int n, const float* a, const lapack_int* pivots, float* b) {
  return LAPACKE_sgetrs(LAPACK_COL_MAJOR, 'N', n, 1, a, n, pivots, b, n);
}
lapack_int getrs(lapack_int n, const double* a, const lapack_int* pivots, double* b) {
  return LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', n, 1, a, n, pivots, b, n);
}
void subtract_product(blasint n, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1.0F, a, n, b, n, 1.0F, c, n);
}
void subtract_product(blasint n, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, -1.0, a, n, b, n, 1.0, c, n);
}

/// The whole matrix in one process.
Distribution undivided(Index n) { return {n, n, GridShape{1, 1}}; }

}  // namespace

template <class Real>
Measurement run_getrf(const Settings& settings) {
  const ProcessGrid grid(MPI_COMM_WORLD, {1, 1}, RankOrder::row_major);
  const Distribution distribution = undivided(settings.n);
  std::vector<Real> a = local_matrix<Real>(distribution, grid.position());
  std::vector<Real> b = right_hand_side<Real>(settings.n);
  std::vector<lapack_int> pivots(b.size());
  const auto n = static_cast<lapack_int>(settings.n);

  const double start = MPI_Wtime();
  lapack_int info = getrf(n, a.data(), pivots.data());
  if (info == 0) info = getrs(n, a.data(), pivots.data(), b.data());
  const double seconds = MPI_Wtime() - start;
  if (info != 0) throw std::runtime_error("OpenBLAS returned info = " + std::to_string(info));

  return {.routine = sizeof(Real) == 4 ? "sgetrf" : "dgetrf",
          .seconds = seconds,
          .flops = solve_flops(settings.n),
          .residual = scaled_residual(distribution, grid, b)};
}

template <class Real>
Measurement run_gemm(const Settings& settings) {
  const Distribution distribution = undivided(settings.n);
  const std::vector<Real> a = local_matrix<Real>(distribution, {}), b = a;
  std::vector<Real> c = a;
  const auto n = static_cast<blasint>(settings.n);

  const double start = MPI_Wtime();
  subtract_product(n, a.data(), b.data(), c.data());
  const double seconds = MPI_Wtime() - start;

  const auto order = static_cast<double>(settings.n);
  return {.routine = sizeof(Real) == 4 ? "sgemm" : "dgemm", .seconds = seconds, .flops = 2.0 * order * order * order};
}

template Measurement run_getrf<float>(const Settings&);
template Measurement run_getrf<double>(const Settings&);
template Measurement run_gemm<float>(const Settings&);
template Measurement run_gemm<double>(const Settings&);

}  // namespace glinpack::rivals
