// The distributed factorisation.
#pragma once

#include <memory>
#include <optional>

#include "abft/checksums.hpp"
#include "lu/parameters.hpp"
#include "transport/rank_context.hpp"

namespace glinpack {

struct Factorization {
  /// P: known on the ranks of each pivot's process row, and with partial or tournament pivoting on all.
  Interchanges interchanges;
  std::optional<GlobalIndex> zero_pivot;  // the first one: A is singular
  std::optional<Index> ended_before;      // the pass before which the observer ended it
  bool stopped = false;                   // at a mismatch of checksums
};

/// What the driver does with a pass.
enum class NextPass {
  run,
  run_and_save,  // runs it, then calls PassObserver::save()
  none,          // ends the factorisation before it
};

/// Observes the passes from outside: timing, progress, signals, checkpoints.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// Before a pass, in order. The same on all ranks.
  virtual NextPass before(const PassPlan& pass) = 0;
  virtual void after(const PassPlan& pass) = 0;
  /// After a pass that NextPass::run_and_save chose: the matrix and these interchanges are the state of the
  /// factorisation, and no message is in flight. False, on all ranks alike: the factorisation ends here.
  virtual bool save(const PassPlan& /*pass*/, const Interchanges& /*so_far*/) { return true; }
};

/// Runs all passes, and enters each on the timeline.
class AllPasses final : public PassObserver {
 public:
  explicit AllPasses(Timeline& timeline) : timeline_(timeline) {}
  NextPass before(const PassPlan& pass) override {
    timeline_.enter_pass(pass.pass, pass.role);
    return NextPass::run;
  }
  void after(const PassPlan&) override {}

 private:
  Timeline& timeline_;
};

/// P A = L U of the N x N part of a matrix, in place. The matrix holds this rank's part of [A | b]; b becomes L^-1 P b.
/// L is stored below the diagonal, U on and above it. Later interchanges are not applied to rows of L's columns, as in
/// HPL. Stops at the first zero pivot. Look-ahead, the broadcast and the row swap do not change the factors.
class LuFactorization {
 public:
  LuFactorization(const LuFactorization&) = delete;
  LuFactorization& operator=(const LuFactorization&) = delete;
  virtual ~LuFactorization() = default;
  /// Runs the passes. `so_far`: the interchanges of earlier passes, whose results are in the matrix. The factors are
  /// those of one run of all passes, bit for bit. The checksums must have their state after the earlier passes.
  /// Collective over the grid. May be called again after it has stopped.
  virtual Factorization run(PassObserver& observer, PassRange passes, Interchanges so_far) = 0;
  Factorization run(PassObserver& observer, PassRange passes) { return run(observer, passes, {}); }
  Factorization run(PassObserver& observer) { return run(observer, {0, passes_}); }

 protected:
  explicit LuFactorization(Index passes) : passes_(passes) {}

 private:
  Index passes_;
};

/// Blocked, right-looking, with look-ahead. `a`: this rank's part of [A | b]. `checksums`: checks the passes; null:
/// none. `plans`: of the ranks that are recorded before this one; null: none. Allocates all memory except the matrix.
/// All must outlive it. Not collective.
template <class Real>
std::unique_ptr<LuFactorization> make_blocked_lu(const RankContext<Real>& context, DeviceMatrix<Real>& a,
                                                 Checksums<Real>* checksums, RowPlanCache* plans);

/// Row by row, the white paper's algorithm (sections 3.1 and 3.2). The backend must have a row_by_row(), and pivoting
/// must not exchange rows between process rows.
template <class Real>
std::unique_ptr<LuFactorization> make_row_by_row_lu(const RankContext<Real>& context, DeviceMatrix<Real>& a);

/// The algorithm of lu_algorithm(), for make_blocked_lu()'s arguments.
template <class Real>
std::unique_ptr<LuFactorization> make_lu(const RankContext<Real>& context, DeviceMatrix<Real>& a,
                                         Checksums<Real>* checksums = nullptr, RowPlanCache* plans = nullptr) {
  const LuAlgorithm algorithm =
      lu_algorithm(context.backend.row_by_row() != nullptr, context.parameters.pivoting, context.distribution.shape);
  return algorithm == LuAlgorithm::row_by_row ? make_row_by_row_lu(context, a)
                                              : make_blocked_lu(context, a, checksums, plans);
}

/// Calls body(pass, is_saved) for every pass until it returns false or the observer ends the passes. `interchanges`:
/// those so far, which the body extends. Returns the pass before which the observer ended them.
template <class Real, class Body>
std::optional<Index> for_each_pass(const RankContext<Real>& context, PassRange passes, PassObserver& observer,
                                   const Interchanges& interchanges, Body body) {
  for (Index k = passes.first; k < passes.end; ++k) {
    const PassPlan pass = plan_pass(context.distribution, k, context.position());
    const NextPass next = observer.before(pass);
    if (next == NextPass::none) return k;
    if (!body(pass, next == NextPass::run_and_save)) break;
    observer.after(pass);
    if (next == NextPass::run_and_save && !observer.save(pass, interchanges)) return k + 1;
  }
  return std::nullopt;
}

}  // namespace glinpack
