// The global algorithm by blocks (white paper, section 3.1; HPL_pdgesv0.c), right-looking, with HPL's look-ahead
// (HPL_pdgesvK2.c). In pass k, block column k and block row k become L and U:
//
// [ L11 ]            [ A11 ]
// [ L21 ] U11  =   P [ A21 ]     the panel, factorised on the pivot's process column (lu/panel/panels.cpp chooses on
//                                host or device; HPL_pdfact), broadcast along process rows (lu/panel/panels.hpp, its
//                                routes in transport/node_route.hpp; HPL_bcast)
// [ A12 ]          [ A12 ]
// [ A22 ]  <-    P [ A22 ]       rows exchanged within process columns; the right-hand side is the last column
//                                (lu/row_pipeline.hpp; HPL_pdlaswp)
//   U12    <-  L11^-1 A12        on the pivot's process row, then broadcast; or on every process row, if U's rows
//                                come with the exchanged rows (lu/row_pipeline.hpp)
//   A22    <-  A22 - L21 U12     the trailing update, on every rank (HPL_pdupdate)
//
// The white paper's roles: pivot and eliminate ranks factorise the panel, pivot and normalize ranks compute U12, all
// ranks reduce A22. LuFactorization::run() (lu/factorize.hpp) is the loop over passes.
#include "lu/factorize.hpp"

#include <utility>

#include "lu/panel/panels.hpp"
#include "lu/pass_checks.hpp"
#include "lu/row_by_row_lu.hpp"
#include "lu/row_pipeline.hpp"
#include "lu/update_and_poll.hpp"

namespace glinpack {

namespace {

template <class Real>
class BlockedLu final : public LuFactorization {
 public:
  BlockedLu(const RankContext<Real>& context, DeviceMatrix<Real>& a, Checksums<Real>* checksums, RowPlanCache* plans)
      : LuFactorization(context),
        context_(context),
        a_(a),
        panels_(context, a),
        rows_(context, a, plans),
        checks_(checksums, context.grid.all()) {}

 private:
  void begin(PassRange passes) override {
    panels_.agree_on_order();
    checks_.start(passes);
  }

  bool run_pass(const PassPlan& pass, PassRange passes, bool is_saved, Factorization& result) override {
    const Panel<Real>& panel = panels_.take(pass);  // P, L11, L21, U11
    result.append(panel);
    if (result.zero_pivot) return false;
    const std::optional<PassPlan> next = next_of(pass, passes);
    checks_.before_update(pass, panel, panels_.are_factorized_in_matrix());
    update(pass, panel, next, is_saved);
    checks_.after_update(pass, panel);
    if (is_saved) panels_.wait_for_broadcasts();
    result.check_failed = !checks_.finish_pass(pass, next ? &*next : nullptr, is_saved);
    return !result.check_failed;
  }

  void end(PassRange passes, Factorization& result) override {
    rows_.finish_early();
    panels_.wait_for_broadcasts();  // the last panels may still be forwarded
    const bool complete = passes.end == context_.distribution.passes() && !result.zero_pivot && !result.ended_before;
    if (complete && !result.check_failed) result.check_failed = !checks_.check_factors();
  }

  // With look-ahead: pass k + 1, whose panel is factorised during pass k.
  std::optional<PassPlan> next_of(const PassPlan& pass, PassRange passes) const {
    if (context_.parameters.lookahead == 0 || pass.pass + 1 >= passes.end) return std::nullopt;
    return plan_pass(context_.distribution, pass.pass + 1, context_.position());
  }

  // A22 <- A22 - L21 U12, piece by piece. The columns of panel k + 1 come first: the panel is factorised and broadcast
  // during the rest of the update. A pass that is saved starts no panel. Its update has the same parts all the same,
  // since BLAS kernels may round other parts differently.
  void update(const PassPlan& pass, const Panel<Real>& panel, const std::optional<PassPlan>& next, bool is_saved) {
    const std::vector<ColumnRange>& pieces = rows_.start(pass, panel);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const DeviceBlock<Real> u12 = rows_.take(pass, panel, i);  // exchanged, solved, broadcast
      Index updated = 0;                                         // columns of this piece
      if (i == 0 && next) {
        updated = next->in_pivot_column ? next->width : 0;
        update_trailing(pass, {0, updated}, panel, u12.block(0, 0, pass.width, updated));
        checks_.next_panel_updated(pass, *next);
        if (!is_saved) panels_.start(*next, pieces.size() - 1);
      }
      const bool next_is_sent = next && panels_.run_steps_before(i);
      if (next_is_sent && !checks_.are_due(pass)) {  // a check reads the matrix before rows of the next pass move
        rows_.start_early(*next, panels_.take(*next), pass.trailing_column + pieces[i].first);
      }
      const Index rest = pieces[i].count - updated;
      update_trailing(pass, {pieces[i].first + updated, rest}, panel, u12.block(0, updated, pass.width, rest));
    }
    if (pass.in_pivot_column) panels_.store(pass);  // L11, L21, U11 into A; a device does it beside the next panel
    panels_.run_remaining_steps();                  // of panel k + 1, and its broadcast
  }

  // A22 <- A22 - L21 U12 in some trailing columns.
  void update_trailing(const PassPlan& pass, ColumnRange columns, const Panel<Real>& panel, DeviceBlock<Real> u12) {
    const DeviceBlock<Real> a22{&a_, pass.trailing_row.value, pass.trailing_column.value + columns.first,
                                pass.trailing_rows, columns.count};
    update_and_poll(context_.backend, panel.l21_transposed(pass), u12, a22, [this] {
      const bool rows_in_flight = !rows_.test(), panels_in_flight = !panels_.test();
      return rows_in_flight || panels_in_flight;
    });
  }

  RankContext<Real> context_;
  DeviceMatrix<Real>& a_;
  Panels<Real> panels_;
  RowPipeline<Real> rows_;
  PassChecks<Real> checks_;
};

}  // namespace

template <class Real>
std::unique_ptr<LuFactorization> make_lu(const RankContext<Real>& context, DeviceMatrix<Real>& a,
                                         Checksums<Real>* checksums, RowPlanCache* plans) {
  const LuAlgorithm algorithm =
      lu_algorithm(context.backend.row_by_row() != nullptr, context.parameters.pivoting, context.distribution.shape);
  if (algorithm == LuAlgorithm::row_by_row) return std::make_unique<RowByRowLu<Real>>(context, a);
  return std::make_unique<BlockedLu<Real>>(context, a, checksums, plans);
}

template std::unique_ptr<LuFactorization> make_lu(const RankContext<float>&, DeviceMatrix<float>&, Checksums<float>*,
                                                  RowPlanCache*);
template std::unique_ptr<LuFactorization> make_lu(const RankContext<double>&, DeviceMatrix<double>&, Checksums<double>*,
                                                  RowPlanCache*);

}  // namespace glinpack
