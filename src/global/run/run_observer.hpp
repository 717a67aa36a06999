// What happens between the passes of a run: timeline, signals, progress, log and checkpoints.
#pragma once

#include "lu/factorize.hpp"
#include "run/pass_agreement.hpp"
#include "run/run.hpp"
#include "run/state_saver.hpp"
#include "run/workspace.hpp"

namespace glinpack {

template <class Real>
class RunObserver final : public PassObserver {
 public:
  /// `saver` may be null. Without messages, ranks finish the passes independently and cannot agree on an earlier end.
  RunObserver(const LuWorkspace<Real>& workspace, const ProgressObserver& progress, PassRange passes,
              StateSaver<Real>* saver);

  NextPass before(const PassPlan& pass) override;
  void after(const PassPlan& pass) override;
  bool save(const PassPlan& pass, const Interchanges& so_far) override;
  /// After a mismatch of checksums has ended the passes: they continue from this one.
  void roll_back(Index pass) { agreement_.continue_from(pass); }
  /// After the passes. A pending checkpoint is not needed any more, and nothing waits for it.
  void finish();

 private:
  NextPass next_pass(const PassRequests& agreed);
  void trace(const PassPlan& pass) const;

  const RankContext<Real>& context_;
  Timeline& timeline_;
  ProgressObserver progress_;  // empty on other ranks than the root
  Index first_;                // pass of this run
  StateSaver<Real>* saver_;    // null: saves nothing
  PassAgreement agreement_;
  double begun_ = 0;  // when the pass began, on the timeline
  bool ends_after_save_ = false;
};

}  // namespace glinpack
