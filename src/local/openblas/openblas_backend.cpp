#include "openblas/openblas_backend.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/scope_exit.hpp"
#include "host/host_backend.hpp"
#include "openblas/blas.hpp"
#include "openblas/blas_library.hpp"
#include "openblas/panel_kernels.hpp"
#include "openblas/slab_panel.hpp"

namespace glinpack {
namespace {

// A <- L^-1 A, L^T given, recursive down to this: OpenBLAS's trsm for AVX-512 runs at a quarter of its gemm's rate.
constexpr Index solved_at_once = 16;

template <class Real>
void solve_unit_lower(RowMajorView<const Real> lt, RowMajorView<Real> a) {
  const Index k = a.rows;
  if (k <= solved_at_once) {
    blas::trsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasUnit, k, a.columns, lt.data, lt.leading_dimension,
               a.data, a.leading_dimension);
    return;
  }
  const Index half = round_up(k / 2, solved_at_once);
  const RowMajorView<Real> upper = a.block(0, 0, half, a.columns), lower = a.block(half, 0, k - half, a.columns);
  solve_unit_lower<Real>(lt.block(0, 0, half, half), upper);
  blas::gemm(CblasRowMajor, CblasTrans, k - half, a.columns, half, Real{-1}, lt.row(0) + half, lt.leading_dimension,
             upper.data, upper.leading_dimension, Real{1}, lower.data, lower.leading_dimension);
  solve_unit_lower<Real>(lt.block(half, half, k - half, k - half), lower);
}

template <class Real>
void update(RowMajorView<const Real> lt, RowMajorView<const Real> u, RowMajorView<Real> a) {
  blas::gemm(CblasRowMajor, CblasTrans, a.rows, a.columns, u.rows, Real{-1}, lt.data, lt.leading_dimension, u.data,
             u.leading_dimension, Real{1}, a.data, a.leading_dimension);
}

template <class Real>
void subtract_product(RowMajorView<const Real> a, RowMajorView<const Real> x, RowMajorView<Real> y) {
  blas::routine<Real>(cblas_sgemv, cblas_dgemv)(
      CblasRowMajor, CblasNoTrans, blas::to_int(a.rows), blas::to_int(a.columns), Real{-1}, a.data,
      blas::to_int(a.leading_dimension), x.data, blas::to_int(x.leading_dimension), Real{1}, y.data,
      blas::to_int(y.leading_dimension));
}

// With more threads, barriers wait for a preempted thread. Of a host's 64 cores, 8, 16, 32 and 64 took 0.87,
// 0.66, 0.70 and 3.15 s for the panels of N = 32768, NB 512 (results/runs.md, h200-x4, panel-threads-*).
constexpr int max_threads_of_a_panel = 16;
constexpr Index min_rows_of_a_thread = 512;  // for a step of a few dozen columns

template <class Real>
class OpenblasPanelArithmetic final : public PanelArithmetic<Real> {
 public:
  OpenblasPanelArithmetic(int threads, TournamentShape shape)
      : threads_(threads),
        team_(std::min(threads, max_threads_of_a_panel)),
        slab_panel_(team_),
        tournament_panel_(team_, shape) {
    set_blas_threads(threads);
    reserve_blas_buffers(threads, team_.members());
  }

  std::optional<Index> factorize_partial(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    if (a.rows <= 0 || a.columns <= 0) return std::nullopt;
    if (slab_panel_.pays(a.rows, a.columns)) {
      // getrf redistributes rows among its threads at every step: a third of the speed on tall panels
      const auto one = one_blas_thread();
      return slab_panel_.factorize(a, pivots);
    }
    lapack_pivots_.resize(static_cast<std::size_t>(std::min(a.rows, a.columns)));
    const lapack_int info = blas::getrf(a.rows, a.columns, a.data, a.leading_dimension, lapack_pivots_.data());
    if (info < 0) {
      throw std::runtime_error("LAPACK getrf: argument " + std::to_string(-info) + " is not valid for a panel of " +
                               std::to_string(a.rows) + " x " + std::to_string(a.columns));
    }
    std::transform(lapack_pivots_.begin(), lapack_pivots_.end(), pivots.begin(),
                   [](lapack_int row) { return Index{row} - 1; });
    if (info > 0) return Index{info} - 1;
    return std::nullopt;
  }

  std::optional<Index> factorize_tournament(ColumnMajorView<Real> a, std::span<Index> pivots) override {
    // tournament pivoting with one thread is partial pivoting
    if (!tournament_panel_.pays(a.rows, a.columns)) return factorize_partial(a, pivots);
    const auto one = one_blas_thread();
    return tournament_panel_.factorize(a, pivots);
  }

  std::optional<Index> choose_rows(ColumnMajorView<const Real> a, std::span<Index> rows,
                                   ColumnMajorView<Real> factors) override {
    const auto one = one_blas_thread();
    return tournament_panel_.choose_rows(a, rows, factors);
  }

  void solve_l21(ColumnMajorView<const Real> u11, ColumnMajorView<Real> a21) override {
    if (a21.rows <= 0 || a21.columns <= 0) return;
    const auto one = one_blas_thread();
    const auto shares = std::clamp<Index>(a21.rows / min_rows_of_a_thread, 1, team_.members());
    const auto eliminate_share = [&](Index share) {
      const Index begin = a21.rows * share / shares;
      eliminate_rows(u11, a21.block(begin, 0, a21.rows * (share + 1) / shares - begin, a21.columns));
    };
    if (shares == 1) return eliminate_share(0);
    team_.run([&](int thread) {
      if (thread < shares) eliminate_share(thread);
    });
  }

  void solve_unit_lower(ColumnMajorView<const Real> l11, ColumnMajorView<Real> a12) override {
    if (a12.rows <= 0 || a12.columns <= 0) return;
    blas::trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, a12.rows, a12.columns, l11.data,
               l11.leading_dimension, a12.data, a12.leading_dimension);
  }

  void update(ColumnMajorView<const Real> l21, ColumnMajorView<const Real> u12, ColumnMajorView<Real> a22) override {
    if (a22.rows <= 0 || a22.columns <= 0 || l21.columns <= 0) return;
    blas::gemm(CblasColMajor, CblasNoTrans, a22.rows, a22.columns, l21.columns, Real{-1}, l21.data,
               l21.leading_dimension, u12.data, u12.leading_dimension, Real{1}, a22.data, a22.leading_dimension);
  }

  PivotCandidate find_pivot(std::span<const Real> column) override {
    const Index row = index_of_largest_magnitude(column);
    if (row < 0) return {};
    return {row, std::fabs(static_cast<double>(column[static_cast<std::size_t>(row)]))};
  }

  void eliminate_column(Real pivot, std::span<Real> l, const Real* u, Index u_stride,
                        ColumnMajorView<Real> a) override {
    glinpack::eliminate_column(pivot, l, u, u_stride, a);
  }

  void solve_triangle(Triangle triangle, RowMajorView<const Real> t, RowMajorView<Real> x) override {
    if (x.rows <= 0 || x.columns <= 0) return;
    const CBLAS_UPLO uplo = triangle == Triangle::upper ? CblasUpper : CblasLower;
    const CBLAS_DIAG diagonal = triangle == Triangle::upper ? CblasNonUnit : CblasUnit;
    if (x.columns == 1) {  // trsm would pack T
      blas::routine<Real>(cblas_strsv, cblas_dtrsv)(CblasRowMajor, uplo, CblasNoTrans, diagonal, blas::to_int(x.rows),
                                                    t.data, blas::to_int(t.leading_dimension), x.data,
                                                    blas::to_int(x.leading_dimension));
      return;
    }
    blas::trsm(CblasRowMajor, CblasLeft, uplo, CblasNoTrans, diagonal, x.rows, x.columns, t.data, t.leading_dimension,
               x.data, x.leading_dimension);
  }

 private:
  // While our own threads call BLAS.
  [[nodiscard]] auto one_blas_thread() const {
    set_blas_threads(1);
    return ScopeExit([this] { set_blas_threads(threads_); });
  }

  int threads_;
  ThreadTeam team_;
  SlabPanel<Real> slab_panel_;
  TournamentPanel<Real> tournament_panel_;
  std::vector<lapack_int> lapack_pivots_;
};

}  // namespace

template <class Real>
std::unique_ptr<PanelArithmetic<Real>> make_openblas_panel_arithmetic(int threads, TournamentShape shape) {
  return std::make_unique<OpenblasPanelArithmetic<Real>>(threads, shape);
}

template std::unique_ptr<PanelArithmetic<float>> make_openblas_panel_arithmetic(int, TournamentShape);
template std::unique_ptr<PanelArithmetic<double>> make_openblas_panel_arithmetic(int, TournamentShape);

template <class Real>
std::unique_ptr<Backend<Real>> make_openblas_backend(const BackendOptions& options, Timeline& timeline) {
  auto panel = make_openblas_panel_arithmetic<Real>(options.threads);
  BackendInfo info;
  info.backend = openblas_record.name;
  info.device = processor_name();
  info.driver = blas_version();
  info.blas = blas_version();
  info.kernels = blas_kernels();
  info.threads = options.threads;
  info.free_bytes = available_memory();
  return make_host_backend<Real>(timeline, info, std::move(panel),
                                 HostKernels<Real>{solve_unit_lower<Real>, update<Real>, subtract_product<Real>},
                                 options.threads);
}

template std::unique_ptr<Backend<float>> make_openblas_backend(const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_openblas_backend(const BackendOptions&, Timeline&);

}  // namespace glinpack
