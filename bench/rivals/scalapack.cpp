#include <mpi.h>

#include <stdexcept>

#include "mpi/communication.hpp"
#include "rivals.hpp"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row, int* column);
void Cblacs_gridexit(int context);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb, const int* nb, const int* first_row,
               const int* first_column, const int* context, const int* leading_dimension, int* info);
void psgetrf_(const int* m, const int* n, float* a, const int* ia, const int* ja, const int* desca, int* pivots,
              int* info);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca, int* pivots,
              int* info);
void psgetrs_(const char* trans, const int* n, const int* nrhs, const float* a, const int* ia, const int* ja,
              const int* desca, const int* pivots, float* b, const int* ib, const int* jb, const int* descb, int* info);
void pdgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* ia, const int* ja,
              const int* desca, const int* pivots, double* b, const int* ib, const int* jb, const int* descb,
              int* info);
}

namespace glinpack::rivals {
namespace {

constexpr int one = 1;  // ScaLAPACK counts from 1 and wants addresses

void getrf(int n, float* a, const int* descriptor, int* pivots, int* info) {
  psgetrf_(&n, &n, a, &one, &one, descriptor, pivots, info);
}
void getrf(int n, double* a, const int* descriptor, int* pivots, int* info) {
  pdgetrf_(&n, &n, a, &one, &one, descriptor, pivots, info);
}
void getrs(int n, const float* a, const int* desca, const int* pivots, float* b, const int* descb, int* info) {
  psgetrs_("N", &n, &one, a, &one, &one, desca, pivots, b, &one, &one, descb, info);
}
void getrs(int n, const double* a, const int* desca, const int* pivots, double* b, const int* descb, int* info) {
  pdgetrs_("N", &n, &one, a, &one, &one, desca, pivots, b, &one, &one, descb, info);
}

/// ScaLAPACK's own grid of processes, row by row as ProcessGrid's.
class BlacsGrid {
 public:
  explicit BlacsGrid(GridShape shape) {
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", shape.rows, shape.columns);
    int rows = 0, columns = 0;
    Cblacs_gridinfo(context_, &rows, &columns, &position_.row, &position_.column);
  }
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;
  ~BlacsGrid() { Cblacs_gridexit(context_); }

  int context() const { return context_; }
  GridPosition position() const { return position_; }

 private:
  int context_ = 0;
  GridPosition position_;
};

struct Descriptor {
  int values[9] = {};
  Descriptor(int n, int columns, int nb, int local_rows, const BlacsGrid& grid) {
    const int zero = 0, context = grid.context(), leading_dimension = local_rows < 1 ? 1 : local_rows;
    int info = 0;
    descinit_(values, &n, &columns, &nb, &nb, &zero, &zero, &context, &leading_dimension, &info);
    if (info != 0) throw std::runtime_error("ScaLAPACK's descinit returned " + std::to_string(info));
  }
};

/// The whole of x on every rank, from the rows that the first process column holds.
template <class Real>
std::vector<Real> gathered(const std::vector<Real>& local_x, const Distribution& distribution, GridPosition at) {
  std::vector<Real> x(static_cast<std::size_t>(distribution.n));
  if (at.column == 0) {
    for (std::size_t i = 0; i < local_x.size(); ++i) {
      const GlobalIndex row = distribution.rows.global(LocalIndex(static_cast<Index>(i)), at.row);
      x[static_cast<std::size_t>(row.value)] = local_x[i];
    }
  }
  GLINPACK_MPI(
      MPI_Allreduce(MPI_IN_PLACE, x.data(), message_count(distribution.n), mpi_type<Real>(), MPI_SUM, MPI_COMM_WORLD));
  return x;
}

}  // namespace

template <class Real>
Measurement run_scalapack(const Settings& settings) {
  const ProcessGrid grid(MPI_COMM_WORLD, settings.grid, RankOrder::row_major);
  const BlacsGrid blacs(settings.grid);
  const GridPosition at = grid.position();
  if (!(blacs.position() == at)) throw std::runtime_error("ScaLAPACK places this rank elsewhere in the grid");

  const Distribution distribution(settings.n, settings.nb, settings.grid);
  std::vector<Real> a = local_matrix<Real>(distribution, at);
  const auto n = static_cast<int>(settings.n), nb = static_cast<int>(settings.nb);
  const auto local_rows = static_cast<int>(distribution.local_rows(at));
  const Descriptor of_a(n, n, nb, local_rows, blacs), of_b(n, 1, nb, local_rows, blacs);
  const std::vector<Real> all_b = right_hand_side<Real>(settings.n);
  std::vector<Real> b(static_cast<std::size_t>(local_rows));
  for (std::size_t i = 0; i < b.size(); ++i) {
    b[i] = all_b[static_cast<std::size_t>(distribution.rows.global(LocalIndex(static_cast<Index>(i)), at.row).value)];
  }
  std::vector<int> pivots(static_cast<std::size_t>(local_rows + nb));

  int info = 0;
  GLINPACK_MPI(MPI_Barrier(MPI_COMM_WORLD));
  const double start = MPI_Wtime();
  getrf(n, a.data(), of_a.values, pivots.data(), &info);
  if (info == 0) getrs(n, a.data(), of_a.values, pivots.data(), b.data(), of_b.values, &info);
  double seconds = MPI_Wtime() - start;
  if (info != 0) throw std::runtime_error("ScaLAPACK returned info = " + std::to_string(info));
  GLINPACK_MPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));

  return {.routine = sizeof(Real) == 4 ? "psgetrf" : "pdgetrf",
          .seconds = seconds,
          .flops = solve_flops(settings.n),
          .residual = scaled_residual(distribution, grid, gathered(b, distribution, at))};
}

template Measurement run_scalapack<float>(const Settings&);
template Measurement run_scalapack<double>(const Settings&);

}  // namespace glinpack::rivals
