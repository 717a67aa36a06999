#include "local/openblas/tridiagonal.hpp"

#include <mutex>
#include <stdexcept>
#include <string>

#include "local/openblas/blas.hpp"
#include "local/parallel_for.hpp"

namespace glinpack {

template <class Real>
std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<Real>& systems, int threads) {
  const Index n = systems.n;
  if (n == 0) return std::nullopt;
  std::optional<solvers::ZeroPivot> first;
  std::mutex mutex;
  parallel_for(threads, systems.count, 1, [&](Index begin, Index end) {
    for (Index s = begin; s < end; ++s) {
      const auto at = [&](std::vector<Real>& vector) { return vector.data() + s * n; };
      const lapack_int info =
          blas::gtsv(n, at(systems.lower) + 1, at(systems.diagonal), at(systems.upper), at(systems.right));
      if (info < 0) throw std::logic_error("LAPACK's gtsv refuses its argument " + std::to_string(-info));
      if (info == 0) continue;
      const std::lock_guard lock(mutex);
      if (!first || s < first->system) first = solvers::ZeroPivot{s, info - 1};
    }
  });
  return first;
}

template std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<float>&, int);
template std::optional<solvers::ZeroPivot> solve_tridiagonal_on_host(solvers::TridiagonalSystems<double>&, int);

}  // namespace glinpack
