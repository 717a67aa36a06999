#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lu/factorize.hpp"
#include "lu/no_transport.hpp"

namespace glinpack {

namespace {

// The driver does not apply interchanges to L of earlier passes; LAPACK does.
template <class Real>
void interchange_rows_of_l(Arithmetic<Real>& arithmetic, DeviceMatrix<Real>& a, const Distribution& distribution,
                           std::span<const GlobalIndex> pivots) {
  for (Index pass = 1; pass < distribution.passes(); ++pass) {
    const GlobalIndex first = distribution.rows.first(BlockIndex(pass));
    const auto of_pass =
        pivots.subspan(static_cast<std::size_t>(first.value), static_cast<std::size_t>(distribution.pass_width(pass)));
    std::vector<RowMove> moves;
    for (const GlobalRowMove& move : net_row_moves(first, of_pass)) moves.push_back({move.from.value, move.to.value});
    arithmetic.move_rows({&a, 0, 0, a.rows(), first.value}, moves);
  }
}

}  // namespace

template <class Real>
std::optional<Index> factorize_on_one_rank(Backend<Real>& backend, DeviceMatrix<Real>& a, RunParameters parameters,
                                           std::span<Index> pivots) {
  if (a.rows() != a.columns() || static_cast<Index>(pivots.size()) != a.rows() || parameters.nb < 1) {
    throw std::invalid_argument("a matrix to be factorised is not square, or has not a pivot for every row");
  }
  if (a.rows() == 0) return std::nullopt;
  parameters.n = a.rows();
  const Distribution distribution(parameters.n, std::min(parameters.nb, parameters.n), {1, 1}, 0);
  NoTransport<Real> transport(distribution, {0, 0}, parameters.pivoting, 0);
  const LoneGrid grid;
  const auto lu = make_lu<Real>({parameters, distribution, grid, backend, transport}, a);
  AllPasses observer(backend.timeline());
  const Factorization factors = lu->run(observer);
  backend.timeline().leave_passes();
  if (factors.zero_pivot) return factors.zero_pivot->value;
  const std::vector<GlobalIndex>& rows = factors.interchanges.pivots;
  interchange_rows_of_l<Real>(backend, a, distribution, rows);
  std::ranges::transform(rows, pivots.begin(), &GlobalIndex::value);
  backend.wait_all();
  return std::nullopt;
}

template std::optional<Index> factorize_on_one_rank(Backend<float>&, DeviceMatrix<float>&, RunParameters,
                                                    std::span<Index>);
template std::optional<Index> factorize_on_one_rank(Backend<double>&, DeviceMatrix<double>&, RunParameters,
                                                    std::span<Index>);

}  // namespace glinpack
