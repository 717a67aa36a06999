// Tridiagonal systems by compute shaders: a system, or a piece of one, an invocation.
#pragma once

#include "local/solvers/tridiagonal_batch.hpp"

namespace glinpack::solvers {

/// Thomas's elimination, a system an invocation (tridiagonal_whole.comp).
template <class Real>
class WholeSystems {
 public:
  /// normalized: the diagonal is 1 and not read.
  WholeSystems(const Device& device, bool normalized);
  /// `parts`: equations i of a system with equal i mod parts are a system, at most n. Reads bindings 0 to 3, writes 4
  /// and 6; `multipliers` is for its own use, as large as the solution.
  void solve(Device& device, const BatchLayout& layout, Index parts, const DeviceArray<Real>& multipliers) const;

 private:
  gl::Program program_;
};

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_whole_systems(Device& device, Index count, Index n,
                                                            const TridiagonalSettings& settings);

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_pieces(Device& device, Index count, Index n,
                                                     const TridiagonalSettings& settings);

template <class Real>
std::unique_ptr<TridiagonalSolver<Real>> make_cyclic_reduction(Device& device, Index count, Index n, Index steps,
                                                               const TridiagonalSettings& settings);

/// The steps of cyclic reduction that the settings stand for: at most until every part is one equation.
Index reduction_steps(const TridiagonalSettings& settings, Index count, Index n);

}  // namespace glinpack::solvers
