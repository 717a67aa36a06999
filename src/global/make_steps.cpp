#include "global/make_steps.hpp"

#include "global/blocked_steps.hpp"
#include "global/row_by_row_steps.hpp"

namespace glinpack {

template <class Real>
std::unique_ptr<FactorizationSteps> make_steps(const RunParameters& parameters, const Distribution& distribution,
                                               const ProcessGrid& grid, Backend<Real>& backend, Timeline& timeline,
                                               DeviceMatrix<Real>& a, NodeWindows* windows) {
  // row by row there is a pivot for every row: no tournament
  const bool rows_stay = parameters.pivoting == Pivoting::local ||
                         (parameters.pivoting == Pivoting::partial && distribution.shape.rows == 1);
  if (backend.row_by_row() != nullptr && rows_stay) {
    return std::make_unique<RowByRowSteps<Real>>(parameters, distribution, grid, backend, timeline, a, windows);
  }
  return std::make_unique<BlockedSteps<Real>>(parameters, distribution, grid, backend, timeline, a, windows);
}

template std::unique_ptr<FactorizationSteps> make_steps(const RunParameters&, const Distribution&, const ProcessGrid&,
                                                        Backend<float>&, Timeline&, DeviceMatrix<float>&, NodeWindows*);
template std::unique_ptr<FactorizationSteps> make_steps(const RunParameters&, const Distribution&, const ProcessGrid&,
                                                        Backend<double>&, Timeline&, DeviceMatrix<double>&,
                                                        NodeWindows*);

}  // namespace glinpack
