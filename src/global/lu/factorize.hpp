// The distributed factorisation.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "lu/panel/panel.hpp"
#include "lu/parameters.hpp"
#include "transport/transport.hpp"

namespace glinpack {

template <class Real>
class Checksums;

struct Factorization {
  /// P: known on the ranks of each pivot's process row, and with partial or tournament pivoting on all.
  Interchanges interchanges;
  std::optional<GlobalIndex> zero_pivot;  // the first one: A is singular
  std::optional<Index> ended_before;      // the pass before which the observer ended it
  bool check_failed = false;              // of checksums

  /// The pivots of a pass.
  template <class Real>
  void append(const Panel<Real>& panel) {
    interchanges.append(panel.pivots);
    zero_pivot = panel.zero_pivot;
  }
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
  /// Before a pass, in order. The same on all ranks. The pass's panel may already be factorised and under way.
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
  /// Collective over the grid. May be called again after a failed check.
  Factorization run(PassObserver& observer, PassRange passes, Interchanges so_far) {
    Factorization result;
    result.interchanges = std::move(so_far);
    result.interchanges.across_process_rows = across_process_rows_;
    begin(passes);
    for (Index k = passes.first; k < passes.end && !result.ended_before; ++k) {
      const PassPlan pass = plan_pass(distribution_, k, at_);
      const NextPass next = observer.before(pass);
      if (next == NextPass::none) {
        result.ended_before = k;
        break;
      }
      const bool is_saved = next == NextPass::run_and_save;
      if (!run_pass(pass, passes, is_saved, result)) break;
      observer.after(pass);
      if (is_saved && !observer.save(pass, result.interchanges)) result.ended_before = k + 1;
    }
    end(passes, result);
    return result;
  }
  Factorization run(PassObserver& observer, PassRange passes) { return run(observer, passes, {}); }
  Factorization run(PassObserver& observer) { return run(observer, {0, distribution_.passes()}); }

 protected:
  template <class Real>
  explicit LuFactorization(const RankContext<Real>& context)
      : distribution_(context.distribution),
        at_(context.position()),
        across_process_rows_(pivots_across_processes(context.parameters.pivoting)) {}

  virtual void begin(PassRange /*passes*/) {}
  /// Adds to the result. False at a zero pivot or a failed check: no pass follows. end() is called all the same.
  virtual bool run_pass(const PassPlan& pass, PassRange passes, bool is_saved, Factorization& result) = 0;
  virtual void end(PassRange /*passes*/, Factorization& /*result*/) {}

 private:
  const Distribution& distribution_;
  GridPosition at_;
  bool across_process_rows_;
};

/// By blocks, right-looking, with look-ahead; or row by row, the white paper's algorithm (sections 3.1 and 3.2), as
/// lu_algorithm() says. `a`: this rank's part of [A | b]. `checksums`: checks the passes of the former; null: none.
/// `plans`: of the ranks that are recorded before this one; null: none. Allocates all memory except the matrix. All
/// must outlive it. Not collective.
template <class Real>
std::unique_ptr<LuFactorization> make_lu(const RankContext<Real>& context, DeviceMatrix<Real>& a,
                                         Checksums<Real>* checksums = nullptr, RowPlanCache* plans = nullptr);

/// LAPACK's getrf by the driver of all runs on a 1x1 grid, of a matrix that one process has whole, without MPI. Factors
/// a square matrix in place: the unit lower triangle L below U, rows of all of it interchanged. pivots[k], as many as
/// rows, is the 0-based row that was exchanged with row k. `parameters`: NB, the pivoting, where panels are factorised;
/// N is the matrix's. Returns the first column whose pivot is exactly zero, if one is; the rest is then unspecified.
/// Waits for the device. Throws as Backend::allocate and make_lu() do, std::invalid_argument if the matrix is not
/// square or pivots are missing.
template <class Real>
std::optional<Index> factorize_on_one_rank(Backend<Real>& backend, DeviceMatrix<Real>& a, RunParameters parameters,
                                           std::span<Index> pivots);

}  // namespace glinpack
