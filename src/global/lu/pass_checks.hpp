// The checks of checksums during a factorisation (abft/checksums.hpp).
#pragma once

#include "abft/checksums.hpp"
#include "lu/panel/panel.hpp"

namespace glinpack {

/// Calls of Checksums at their places in a pass. Without checksums, every call does nothing and every check passes.
template <class Real>
class PassChecks {
 public:
  /// `checksums` may be null. Both must outlive it.
  PassChecks(Checksums<Real>* checksums, const Communicator& grid) : checksums_(checksums), grid_(grid) {}

  /// Before the first pass to run. Later passes continue from restored sums.
  void start(PassRange passes) {
    if (checksums_ != nullptr && passes.first == 0) checksums_->start();
  }
  bool are_due(const PassPlan& pass) const { return checksums_ != nullptr && checksums_->is_due(pass); }

  /// Around the update. If its operand is stored as L, L is summed before the update, otherwise after it
  /// (Checksums::sum_l).
  void before_update(const PassPlan& pass, const Panel<Real>& panel, bool panel_is_in_matrix) {
    stores_operand_ = pass.in_pivot_column && !panel_is_in_matrix;
    if (checksums_ != nullptr && stores_operand_) checksums_->sum_l(pass, panel.factors, panel.l11_rows());
  }
  void after_update(const PassPlan& pass, const Panel<Real>& panel) {
    if (checksums_ != nullptr && !stores_operand_) checksums_->sum_l(pass, panel.factors, panel.l11_rows());
  }
  /// The columns of panel k + 1 are updated, and it is not factorised yet.
  void next_panel_updated(const PassPlan& pass, const PassPlan& next) {
    if (are_due(pass)) checksums_->sum_next_panel(pass, next);
  }

  /// After a pass. What is saved has been checked. False, on all ranks alike: the factorisation ends here.
  bool finish_pass(const PassPlan& pass, const PassPlan* next, bool is_saved) {
    if (checksums_ == nullptr) return true;
    checksums_->finish_pass(pass, next);
    if (is_saved) checksums_->check_state(pass);
    return (!is_saved && !are_due(pass)) || all_match();
  }
  /// After the last pass: L and U.
  bool check_factors() {
    if (checksums_ == nullptr) return true;
    checksums_->check_factors();
    return all_match();
  }

 private:
  bool all_match() const { return all_agree(grid_, checksums_->mismatches().empty()); }

  Checksums<Real>* checksums_;
  const Communicator& grid_;
  bool stores_operand_ = false;
};

}  // namespace glinpack
