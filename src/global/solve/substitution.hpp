// Forward and backward substitution over the grid, with the factors in place.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "base/memory_count.hpp"
#include "matrix/pass.hpp"
#include "transport/row_exchange.hpp"
#include "transport/transport.hpp"

namespace glinpack {

/// Solves with the factors, block by block (HPL_pdtrsv.c). The right-hand side is the sum of shares, one of each rank
/// of a process row, in the memory of the backend. The process row of block k sums its shares, and the owner of the
/// diagonal block solves for x_k. Its process column receives x_k and subtracts its block column's part. The host sees
/// only blocks that are sent.
template <class Real>
class Substitution {
 public:
  /// Allocates; the shares are zero. `a`: this rank's part of the factors. Not collective.
  Substitution(const RankContext<Real>& context, DeviceMatrix<Real>& a)
      : context_(context),
        distribution_(context.distribution),
        at_(context.position()),
        backend_(context.backend),
        a_(a),
        shares_(backend_.allocate(a.rows(), 1)),
        x_block_(backend_.allocate(distribution_.nb, 1)),
        shares_host_(backend_.allocate_host(a.rows())),
        zeros_(backend_.allocate_host(distribution_.nb)),
        sum_host_(backend_.allocate_host(distribution_.nb)),
        x_host_(backend_.allocate_host(distribution_.nb)) {
    if (!MemoryCount::only_counts()) std::fill_n(zeros_->data(), zeros_->size(), Real{0});
  }
  /// Allocates what run(r) needs besides. Not collective.
  void reserve_for_any_right_hand_side() {
    exchange_.emplace(backend_, context_.transport, distribution_.shape.rows > 1 ? distribution_.nb : 0, 1);
    backend_.reserve_moves(2 * distribution_.nb, 1);
  }

  /// U x = y, with y = L^-1 P b in the last column, where the factorisation stores it. Collective over the grid.
  /// Returns x for this rank's local columns of A: the same on all ranks of a process column. Valid once, while the
  /// shares of ranks without that column are zero, as the constructor leaves them.
  std::vector<Real> run() {
    const GlobalIndex column = distribution_.right_hand_side();
    if (distribution_.columns.owner(column) == at_.column) {
      backend_.copy({&a_, 0, distribution_.columns.local(column).value, a_.rows(), 1}, whole(*shares_));
    }
    return solve_upper();
  }

  /// The interchanges of the factorisation. Before run(r). Not collective.
  void set_interchanges(const Interchanges& interchanges) {
    exchange_plans_.assign(static_cast<std::size_t>(distribution_.passes()), {});
    for (Index k = 0; k < distribution_.passes(); ++k) {
      // with local pivoting, only the pivot's process row knows the pivots and exchanges rows
      const PassPlan pass = plan_pass(distribution_, k, at_);
      if (!interchanges.across_process_rows && !pass.in_pivot_row) continue;
      const GlobalIndex first = distribution_.rows.first(BlockIndex(k));
      const auto pivots = std::span(interchanges.pivots)
                              .subspan(static_cast<std::size_t>(first.value), static_cast<std::size_t>(pass.width));
      exchange_plans_[static_cast<std::size_t>(k)] =
          plan_row_exchange(distribution_.rows, at_.row, net_row_moves(first, pivots));
    }
  }
  /// L U x = P r. r: this rank's local rows, the same on all ranks of a process row. Collective over the grid. Returns
  /// x as run() does.
  std::vector<Real> run(const std::vector<Real>& r) {
    const std::span<Real> shares = shares_on_host();
    std::fill(shares.begin(), shares.end(), Real{0});
    if (at_.column == 0) std::copy(r.begin(), r.end(), shares.begin());
    backend_.wait(backend_.upload({shares_host_.get(), 0, shares_->rows(), 1, 1}, whole(*shares_)));
    solve_lower();
    return solve_upper();
  }

 private:
  // y = L^-1 P r, in the shares, as the factorisation does for b. Rows of L's columns are not interchanged after their
  // pass. Therefore each pass interchanges the rest of r before it subtracts (LAPACK's getf2 with an appended
  // right-hand side).
  void solve_lower() {
    for (Index pass = 0; pass < distribution_.passes(); ++pass) {
      const PassPlan plan = plan_pass(distribution_, pass, at_);
      exchange_->start(plan, exchange_plans_[static_cast<std::size_t>(pass)], whole(*shares_));
      exchange_->finish();

      // y_k  <-  L11^-1 r_k            on the pivot's rank
      if (plan.in_pivot_row) solve_block(plan, Triangle::unit_lower);

      // r  <-  r - L21 y_k             on its process column
      if (!plan.in_pivot_column || pass + 1 == distribution_.passes()) continue;
      send_down(plan);
      subtract(plan, plan.trailing_row.value, plan.trailing_rows);
    }
  }

  // x = U^-1 y, from the last block to the first; y in the shares.
  std::vector<Real> solve_upper() {
    std::vector<Real> x(static_cast<std::size_t>(distribution_.local_columns_of_a(at_)));
    for (Index pass = distribution_.passes() - 1; pass >= 0; --pass) {
      const PassPlan plan = plan_pass(distribution_, pass, at_);
      if (plan.in_pivot_row) solve_block(plan, Triangle::upper);
      if (!plan.in_pivot_column) continue;
      const std::span<const Real> received = send_down(plan);
      std::copy(received.begin(), received.end(), x.begin() + plan.panel_column.value);
      // the rows above the block are the ones before its first local row
      subtract(plan, 0, plan.panel_row.value);
    }
    backend_.wait(backend_.download(whole(*shares_), {shares_host_.get(), 0, shares_->rows(), 1, 1}));
    for (Index pass = 0; pass < distribution_.passes(); ++pass) {
      const PassPlan plan = plan_pass(distribution_, pass, at_);
      if (plan.role != Role::pivot) continue;
      std::copy_n(shares_on_host().begin() + plan.panel_row.value, plan.width, x.begin() + plan.panel_column.value);
    }
    backend_.wait_all();
    return x;
  }

  // Solves for x_k in the shares of the pivot's rank; the other shares of the block become zero. Collective over the
  // pivot's process row.
  void solve_block(const PassPlan& plan, Triangle triangle) {
    if (distribution_.shape.columns > 1) sum_shares(plan);
    if (plan.role != Role::pivot) return;
    const DeviceBlock<Real> diagonal_block{&a_, plan.panel_row.value, plan.panel_column.value, plan.width, plan.width};
    backend_.solve_triangle(triangle, diagonal_block, share_of_block(plan));
  }

  // At the pivot's rank; the other shares become zero.
  void sum_shares(const PassPlan& plan) {
    const bool receives = plan.role == Role::pivot;
    const HostBlock<Real> sum{sum_host_.get(), 0, plan.width, 1, 1}, zeros{zeros_.get(), 0, plan.width, 1, 1};
    backend_.wait(sum_uploaded_);
    backend_.wait(backend_.download(share_of_block(plan), sum));
    {
      const auto scope = scope_of_message(plan);
      context_.grid.row().sum_at(plan.pivot.column, {sum_host_->data(), static_cast<std::size_t>(plan.width)});
    }
    sum_uploaded_ = backend_.upload(receives ? sum : zeros, share_of_block(plan));
  }

  // Sends x_k to all ranks of the pivot's process column. Returns it on those that receive it. Collective over that
  // column.
  std::span<const Real> send_down(const PassPlan& plan) {
    if (distribution_.shape.rows == 1) return {};
    const bool sends = plan.role == Role::pivot;
    const HostBlock<Real> x{x_host_.get(), 0, plan.width, 1, 1};
    backend_.wait(x_uploaded_);
    if (sends) backend_.wait(backend_.download(share_of_block(plan), x));
    const std::span<Real> message(x_host_->data(), static_cast<std::size_t>(plan.width));
    {
      const auto scope = scope_of_message(plan);
      context_.grid.column().broadcast(plan.pivot.row, message);
    }
    if (sends) return {};
    x_uploaded_ = backend_.upload(x, unknowns(plan));
    return message;
  }

  // shares <- shares - A(:, k) x_k in `rows` local rows from `first` on. After send_down().
  void subtract(const PassPlan& plan, Index first, Index rows) {
    const DeviceBlock<Real> a{&a_, first, plan.panel_column.value, rows, plan.width};
    if (a.empty()) return;
    backend_.subtract_product(a, unknowns(plan), whole(*shares_).block(first, 0, rows, 1));
  }

  Timeline::Scope scope_of_message(const PassPlan& plan) const {
    return context_.timeline().scope(Lane::net, Phase::substitution, plan.width * static_cast<Index>(sizeof(Real)));
  }
  std::span<Real> shares_on_host() { return {shares_host_->data(), static_cast<std::size_t>(shares_host_->size())}; }
  DeviceBlock<Real> share_of_block(const PassPlan& plan) {
    return whole(*shares_).block(plan.panel_row.value, 0, plan.width, 1);
  }
  // x_k on the device, after send_down().
  DeviceBlock<Real> unknowns(const PassPlan& plan) {
    return plan.role == Role::pivot ? share_of_block(plan) : whole(*x_block_).block(0, 0, plan.width, 1);
  }

  RankContext<Real> context_;
  const Distribution& distribution_;
  GridPosition at_;
  Backend<Real>& backend_;
  DeviceMatrix<Real>& a_;
  std::unique_ptr<DeviceMatrix<Real>> shares_;     // local rows x 1
  std::unique_ptr<DeviceMatrix<Real>> x_block_;    // nb x 1, received
  std::unique_ptr<HostBuffer<Real>> shares_host_;  // local rows
  std::unique_ptr<HostBuffer<Real>> zeros_;        // nb
  std::unique_ptr<HostBuffer<Real>> sum_host_;     // nb
  std::unique_ptr<HostBuffer<Real>> x_host_;       // nb
  Fence sum_uploaded_;
  Fence x_uploaded_;
  std::optional<RowExchange<Real>> exchange_;    // for any right-hand side
  std::vector<RowExchangePlan> exchange_plans_;  // of every pass
};

}  // namespace glinpack
