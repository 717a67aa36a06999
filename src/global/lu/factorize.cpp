// The global algorithm by blocks (white paper, section 3.1; HPL_pdgesv0.c), right-looking, with HPL's look-ahead
// (HPL_pdgesvK2.c). In pass k, block column k and block row k become L and U:
//
// [ L11 ]            [ A11 ]
// [ L21 ] U11  =   P [ A21 ]     the panel, factorised on the pivot's process column, broadcast along process rows
//                                (HPL_pdfact, HPL_bcast)
// [ A12 ]          [ A12 ]
// [ A22 ]  <-    P [ A22 ]       rows exchanged within process columns; the right-hand side is the last column
//                                (HPL_pdlaswp)
//   U12    <-  L11^-1 A12        on the pivot's process row, then broadcast; or on every process row, if U's rows
//                                come with the exchanged rows
//   A22    <-  A22 - L21 U12     the trailing update, on every rank (HPL_pdupdate)
//
// The white paper's roles: pivot and eliminate ranks factorise the panel (lu/panel/), pivot and normalize ranks compute
// U12 (lu/u12.cpp), all ranks reduce A22 (update_trailing).
#include "lu/factorize.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lu/panel/panels.hpp"
#include "lu/u12.hpp"
#include "transport/row_exchange.hpp"

namespace glinpack {

namespace {

// MPI progress: a host that computes the trailing update polls pending messages after this many rows. Bits must not
// depend on when messages arrive. So this is a multiple of what BLAS kernels take at once, 24 in OpenBLAS's for
// AVX-512, and no part is a small product, for which OpenBLAS has kernels that round differently.
constexpr Index rows_between_polls = 768;
constexpr Index largest_small_product = 1'000'000;  // rows x columns x depth

template <class Real>
class BlockedLu final : public LuFactorization {
 public:
  explicit BlockedLu(const LuWork<Real>& work)
      : LuFactorization(work.distribution.passes()),
        lookahead_(work.parameters.lookahead > 0),
        row_swap_(work.parameters.row_swap),
        checksums_(work.checksums),
        row_plans_(work.row_plans),
        pivots_across_processes_(pivots_across_processes(work.parameters.pivoting)),
        distribution_(work.distribution),
        position_(work.position),
        backend_(work.backend),
        transport_(work.transport),
        a_(work.a),
        panels_({work.parameters, distribution_, position_, backend_, transport_, work.timeline}, a_,
                rows_above_panels(work.parameters, distribution_)),
        row_exchange_(backend_, transport_, distribution_.shape.rows > 1 ? distribution_.nb : 0, a_.columns()),
        u12_(work.parameters, distribution_, backend_, transport_, a_) {
    backend_.reserve_moves(2 * distribution_.nb, a_.columns());  // nb rows, and as many that they replace
  }

  Factorization run(PassObserver& observer, PassRange passes, Interchanges so_far) override {
    end_ = passes.end;
    panels_.agree_on_order();
    if (checksums_ != nullptr && passes.first == 0) checksums_->start();

    Factorization result;
    result.interchanges = std::move(so_far);
    result.interchanges.across_process_rows = pivots_across_processes_;
    PanelFuture<Real> next;
    const auto run_pass = [&](const PassPlan& pass, bool is_saved) {
      if (!next) {  // the first pass, after one that was saved, or without look-ahead
        start_panel(pass);
        next = finish_panel(pass);
      }
      const Panel<Real>& panel = next.get();  // P, L11, L21
      auto& pivots = result.interchanges.pivots;
      pivots.insert(pivots.end(), panel.pivots.begin(), panel.pivots.end());
      result.zero_pivot = panel.zero_pivot;
      if (panel.zero_pivot) return false;
      // if the update's operand is stored, its sums are taken before the update (Checksums::sum_l)
      const bool stores_operand = pass.in_pivot_column && !panels_.are_factorized_in_matrix();
      if (checksums_ != nullptr && stores_operand) checksums_->sum_l(pass, panel.factors, panel.above());
      next = update_and_start_next_panel(pass, panel, is_saved);
      if (checksums_ != nullptr && !stores_operand) checksums_->sum_l(pass, panel.factors, panel.above());
      if (is_saved) panels_.wait();
      result.stopped = checksums_ != nullptr && !check_pass(pass, is_saved, observer);
      return !result.stopped;
    };
    result.ended_before = for_each_pass(passes, distribution_, position_, observer, result.interchanges, run_pass);
    if (early_rows_) {  // the observer has ended the passes
      early_rows_->rows.wait_into(u12_.destination(early_rows_->pass, early_rows_->columns));
      early_rows_.reset();
    }
    panels_.wait();  // the last panels may still be forwarded
    const bool complete = end_ == distribution_.passes() && !result.zero_pivot && !result.ended_before;
    if (checksums_ != nullptr && complete && !result.stopped) {
      checksums_->check_factors();
      result.stopped = !goes_on(observer);
    }
    return result;
  }

 private:
  // The trailing update of pass k, piece by piece. With look-ahead, it returns panel k + 1. A host that is idle during
  // the rest of the update factorises the panel then; otherwise the panel comes first. A pass that is saved starts no
  // panel. Its update has the same parts all the same, since BLAS kernels may round other parts differently.
  PanelFuture<Real> update_and_start_next_panel(const PassPlan& pass, const Panel<Real>& panel, bool is_saved) {
    PanelFuture<Real> next_panel;
    const bool starts_next_panel = looks_ahead(pass) && !is_saved;
    const PassPlan next_pass = looks_ahead(pass) ? plan_pass(distribution_, pass.pass + 1, position_) : PassPlan{};
    const std::vector<ColumnRange> pieces = pieces_of(pass.trailing_columns, distribution_.nb, row_swap_.pieces);

    RowsFuture<Real> rows = early_rows_ ? early_rows_->rows : exchange_rows(pass, pieces.front(), panel);
    early_rows_.reset();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const ColumnRange piece = pieces[i];
      const DeviceBlock<Real> a12 = u12_.destination(pass, piece);
      rows.wait_into(a12);
      rows = solve_and_exchange_rows(pass, panel, a12, i + 1 < pieces.size() ? pieces[i + 1] : ColumnRange{});
      const DeviceBlock<Real> u12 = u12_.broadcast_down_column(pass, piece, a12);

      Index updated = 0;  // columns of this piece
      if (i == 0 && looks_ahead(pass)) {
        updated = update_next_panel_first(pass, next_pass, panel, u12);
        if (is_check_due(pass)) checksums_->sum_next_panel(pass, next_pass);
        if (starts_next_panel) start_panel(next_pass);
        if (starts_next_panel && !panels_.host_overlaps_update()) next_panel = finish_panel(next_pass);
      }
      if (starts_next_panel && !next_panel && panels_.are_gathered()) {
        next_panel = advance_gathered_panel(next_pass, i, pieces.size());
        if (next_panel && !is_check_due(pass)) {
          start_next_rows(next_pass, pass.trailing_column + piece.first, next_panel.get());
        }
      }
      const Index rest = piece.count - updated;
      update_trailing(pass, {piece.first + updated, rest}, panel, u12.block(0, updated, pass.width, rest));
    }
    if (pass.in_pivot_column) panels_.store(pass);  // L11, L21, U11 into A, while the next panel is broadcast
    if (starts_next_panel && !next_panel) next_panel = finish_panel(next_pass);
    return next_panel;
  }

  bool looks_ahead(const PassPlan& pass) const { return lookahead_ && pass.pass + 1 < end_; }

  bool is_check_due(const PassPlan& pass) const { return checksums_ != nullptr && checksums_->is_due(pass); }

  // False, on all ranks alike: the factorisation ends here. What is saved has been checked.
  bool check_pass(const PassPlan& pass, bool is_saved, PassObserver& observer) {
    const PassPlan next = looks_ahead(pass) ? plan_pass(distribution_, pass.pass + 1, position_) : PassPlan{};
    checksums_->finish_pass(pass, looks_ahead(pass) ? &next : nullptr);
    if (is_saved) checksums_->check_state(pass);
    return (!is_saved && !is_check_due(pass)) || goes_on(observer);
  }
  bool goes_on(PassObserver& observer) {
    return transport_.all_agree(checksums_->mismatches().empty()) || observer.goes_on_after_mismatch();
  }

  // Panel k + 1, before piece `i` of `pieces` is updated. The device factorises it during the second piece; the rows of
  // L return to the other ranks during the third one. Returns the panel before the last piece, if that is a later one.
  PanelFuture<Real> advance_gathered_panel(const PassPlan& next_pass, std::size_t i, std::size_t pieces) {
    const std::size_t last = pieces - 1;
    if (next_pass.in_pivot_column) {
      if (i == std::min<std::size_t>(1, last)) panels_.factorize_gathered(next_pass);
      if (i == 2) panels_.start_return(next_pass);
    }
    return i == last && i > 2 ? finish_panel(next_pass) : PanelFuture<Real>{};
  }

  // The exchange of pass k + 1's first rows overlaps pass k's last update if its columns are updated before that.
  void start_next_rows(const PassPlan& next_pass, LocalIndex not_updated, const Panel<Real>& next) {
    const ColumnRange columns = pieces_of(next_pass.trailing_columns, distribution_.nb, row_swap_.pieces).front();
    if (next.zero_pivot || next_pass.trailing_column + columns.end() > not_updated) return;
    early_rows_ = EarlyRows{exchange_rows(next_pass, columns, next), next_pass, columns};
  }

  // Updates the columns of panel k + 1, the first trailing columns of their process column. Returns their number here.
  Index update_next_panel_first(const PassPlan& pass, const PassPlan& next_pass, const Panel<Real>& panel,
                                DeviceBlock<Real> u12) {
    const Index columns = next_pass.in_pivot_column ? next_pass.width : 0;
    update_trailing(pass, {0, columns}, panel, u12.block(0, 0, pass.width, columns));
    return columns;
  }

  // P, L11, L21, U11 <- A(k:, k), on the pivot's process column, in two halves: a device factorises in the first half,
  // a host in the second.
  void start_panel(const PassPlan& pass) {
    if (pass.in_pivot_column) panels_.start_factorization(pass);
  }

  // Also starts the broadcast of P, L11, L21 along every process row.
  PanelFuture<Real> finish_panel(const PassPlan& pass) {
    if (pass.in_pivot_column) panels_.finish_factorization(pass);
    return panels_.start_broadcast(pass);
  }

  // Exchanges rows of some trailing columns by P. U's rows go to the ranks that compute U12.
  RowsFuture<Real> exchange_rows(const PassPlan& pass, ColumnRange columns, const Panel<Real>& panel) {
    if (!rows_move(pass, columns)) return {};
    return row_exchange_.start(pass, row_plan(pass, columns, panel), columns_of(pass, columns));
  }
  // U12 <- L11^-1 A12 in one piece, and the exchange of the next piece's rows: a device gathers them during the solve.
  RowsFuture<Real> solve_and_exchange_rows(const PassPlan& pass, const Panel<Real>& panel, DeviceBlock<Real> a12,
                                           ColumnRange next) {
    if (!u12_.is_computed_here(pass)) return exchange_rows(pass, next, panel);
    if (!rows_move(pass, next)) {
      backend_.solve_unit_lower(panel.l11(), a12);
      return {};
    }
    return row_exchange_.solve_and_start(panel.l11(), a12, pass, row_plan(pass, next, panel), columns_of(pass, next));
  }
  // With local pivoting, only the pivot's process row knows the pivots and exchanges rows.
  bool rows_move(const PassPlan& pass, ColumnRange columns) const {
    return columns.count > 0 && (pass.in_pivot_row || pivots_across_processes_);
  }
  RowExchangePlan row_plan(const PassPlan& pass, ColumnRange columns, const Panel<Real>& panel) const {
    if (row_plans_ != nullptr) {
      return row_plans_->plan(row_swap_, u12_.all_process_rows_compute(), distribution_, position_, pass, panel.pivots,
                              columns);
    }
    return plan_row_swap(row_swap_, u12_.all_process_rows_compute(), distribution_, position_, pass, panel.pivots,
                         columns);
  }
  // All local rows of some trailing columns.
  DeviceBlock<Real> columns_of(const PassPlan& pass, ColumnRange columns) const {
    return {&a_, 0, pass.trailing_column.value + columns.first, a_.rows(), columns.count};
  }

  // A22 <- A22 - L21 U12 in some trailing columns.
  void update_trailing(const PassPlan& pass, ColumnRange columns, const Panel<Real>& panel, DeviceBlock<Real> u12) {
    const DeviceBlock<Real> l21 = panel.l21(pass);
    const DeviceBlock<Real> a22{&a_, pass.trailing_row.value, pass.trailing_column.value + columns.first,
                                pass.trailing_rows, columns.count};
    const bool may_divide = rows_between_polls * columns.count * pass.width > largest_small_product;
    for (Index i = 0; i < a22.rows && columns.count > 0;) {
      const bool in_flight = poll_messages();
      const Index left = a22.rows - i;
      const Index rows = in_flight && may_divide && left >= 2 * rows_between_polls ? rows_between_polls : left;
      backend_.update(l21.block(0, i, pass.width, rows), u12, a22.block(i, 0, rows, columns.count));
      i += rows;
    }
  }

  // True while messages are in flight.
  bool poll_messages() {
    const bool rows_done = row_exchange_.test();
    return !panels_.test() || !rows_done;
  }

  // The exchange of the next pass's first rows, started before that pass.
  struct EarlyRows {
    RowsFuture<Real> rows;
    PassPlan pass;
    ColumnRange columns;
  };

  bool lookahead_;
  std::optional<EarlyRows> early_rows_;
  Index end_ = 0;  // of the passes to run
  RowSwap row_swap_;
  Checksums<Real>* checksums_;  // null: none
  RowPlanCache* row_plans_;     // null: none
  bool pivots_across_processes_;
  const Distribution& distribution_;
  GridPosition position_;
  Backend<Real>& backend_;
  Transport<Real>& transport_;
  DeviceMatrix<Real>& a_;
  Panels<Real> panels_;
  RowExchange<Real> row_exchange_;
  U12<Real> u12_;
};

}  // namespace

template <class Real>
std::unique_ptr<LuFactorization> make_blocked_lu(const LuWork<Real>& work) {
  return std::make_unique<BlockedLu<Real>>(work);
}

template std::unique_ptr<LuFactorization> make_blocked_lu(const LuWork<float>&);
template std::unique_ptr<LuFactorization> make_blocked_lu(const LuWork<double>&);

}  // namespace glinpack
