#include "solvers/lu_study/factorize_on_backend.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace glinpack {
namespace {

/// The row moves that are equivalent to interchanges in order.
std::vector<RowMove> moves_of(std::span<const Index> pivots, Index rows) {
  std::vector<Index> row_at(static_cast<std::size_t>(rows));
  std::iota(row_at.begin(), row_at.end(), Index{0});
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(row_at[k], row_at[static_cast<std::size_t>(pivots[k])]);
  std::vector<RowMove> moves;
  for (Index to = 0; to < rows; ++to) {
    const Index from = row_at[static_cast<std::size_t>(to)];
    if (from != to) moves.push_back({from, to});
  }
  return moves;
}

template <class Real>
class BlockedLu {
 public:
  BlockedLu(Backend<Real>& backend, DeviceMatrix<Real>& a, Index nb, DeviceUse panels)
      : backend_(backend),
        a_(a),
        nb_(std::min(nb, a.rows())),
        device_panel_(backend.make_tournament_panel(a.rows(), nb_, panels)),
        l_transposed_(backend.allocate(nb_, a.rows())),
        u_(backend.allocate(nb_, a.columns())),
        host_(backend.allocate_host(device_panel_ ? 0 : nb_ * a.rows())) {
    backend.reserve_moves(2 * nb_, a.columns());
  }

  std::optional<Index> factorize(std::span<Index> pivots) {
    for (Index k = 0; k < a_.rows(); k += nb_) {
      const Index width = std::min(nb_, a_.rows() - k);
      const auto block_pivots = pivots.subspan(static_cast<std::size_t>(k), static_cast<std::size_t>(width));
      if (const std::optional<Index> zero = step(k, width, block_pivots)) return k + *zero;
      for (Index& pivot : block_pivots) pivot += k;
    }
    backend_.wait_all();
    return std::nullopt;
  }

 private:
  // Factorises columns k ... k + width - 1 and updates the columns to their right.
  std::optional<Index> step(Index k, Index width, std::span<Index> pivots) {
    const Index rows = a_.rows() - k, behind = rows - width;
    const DeviceBlock<Real> a = whole(a_).block(k, k, rows, rows);
    const DeviceBlock<Real> l = whole(*l_transposed_).block(0, 0, width, rows);
    // P, L11, L21, U11 <- A(k:, k)
    backend_.copy_transposed(a.block(0, 0, rows, width), l);
    if (const std::optional<Index> zero = factorize_panel(l, pivots)) return zero;
    backend_.move_rows(whole(a_).block(k, 0, rows, a_.columns()), moves_of(pivots, rows));
    backend_.copy_transposed(l, a.block(0, 0, rows, width));
    if (behind == 0) return std::nullopt;
    // U12 <- L11^-1 A12; A22 <- A22 - L21 U12
    const DeviceBlock<Real> a12 = a.block(0, width, width, behind);
    const DeviceBlock<Real> u12 = whole(*u_).block(0, 0, width, behind);
    backend_.solve_unit_lower(l.block(0, 0, width, width), a12);
    backend_.copy(a12, u12);
    backend_.update(l.block(0, width, width, behind), u12, a.block(width, width, behind, behind));
    return std::nullopt;
  }

  std::optional<Index> factorize_panel(DeviceBlock<Real> l, std::span<Index> pivots) {
    if (device_panel_) {
      device_panel_->factorize(l);
      return device_panel_->outcome(pivots);
    }
    const HostBlock<Real> on_host{host_.get(), 0, l.rows, l.columns, l.columns};
    backend_.wait(backend_.download(l, on_host));
    const std::optional<Index> zero = backend_.panel().factorize_partial(on_host.view().transposed(), pivots);
    backend_.wait(backend_.upload(on_host, l));
    return zero;
  }

  Backend<Real>& backend_;
  DeviceMatrix<Real>& a_;
  Index nb_;
  std::unique_ptr<DevicePanel<Real>> device_panel_;
  std::unique_ptr<DeviceMatrix<Real>> l_transposed_;
  std::unique_ptr<DeviceMatrix<Real>> u_;
  std::unique_ptr<HostBuffer<Real>> host_;
};

}  // namespace

template <class Real>
std::optional<Index> factorize_on_backend(Backend<Real>& backend, DeviceMatrix<Real>& a, Index nb,
                                          std::span<Index> pivots, DeviceUse panels) {
  if (a.rows() != a.columns() || static_cast<Index>(pivots.size()) != a.rows() || nb < 1) {
    throw std::invalid_argument("a matrix to be factorised is not square, or has not a pivot for every row");
  }
  if (a.rows() == 0) return std::nullopt;
  return BlockedLu<Real>(backend, a, nb, panels).factorize(pivots);
}

template std::optional<Index> factorize_on_backend(Backend<float>&, DeviceMatrix<float>&, Index, std::span<Index>,
                                                   DeviceUse);
template std::optional<Index> factorize_on_backend(Backend<double>&, DeviceMatrix<double>&, Index, std::span<Index>,
                                                   DeviceUse);

}  // namespace glinpack
