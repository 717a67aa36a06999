// Panels of several process rows on one device: the pivot's rank gathers the rows of its process column, its device
// factorises the whole panel, and the rows of L return. Messages of a node's ranks go through its shared memory, or
// its GPUs copy them (PanelMethod::gathered).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "lu/panel/panels.hpp"

namespace glinpack {

// The staging buffer: the panel's rows, rank by rank from the pivot's on, each rank's transposed; then the header of a
// panel message and L11 \ U11. If GPUs copy messages to each other, also along process rows, L returns as the panel
// messages of the other ranks, which take the place of all that.
template <class Real>
class GatheredPanels final : public PanelFactorizer<Real> {
 public:
  GatheredPanels(const RankContext<Real>& context, std::unique_ptr<DevicePanel<Real>> device)
      : context_(context),
        device_(std::move(device)),
        tail_(context.distribution.n * context.distribution.nb),
        staging_(context.transport.allocate_buffer(
            Line::column, context.backend,
            tail_ + (context.distribution.shape.rows - 1) *
                        panel_message_elements<Real>(context.distribution.nb + max_padding, context.distribution.nb))) {
  }

  using typename PanelFactorizer<Real>::Step;

  bool is_gathered() const override { return true; }

  std::vector<Step> steps(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) override {
    return {[this, pass, a, &panel] { copy_own_rows(pass, a, panel); }, [this, pass] { gather_and_factorize(pass); },
            [this, pass, &panel] { download_l(pass, panel); }, [this, pass, &panel] { return_l(pass, panel); }};
  }

  void store(const Panel<Real>& panel, DeviceBlock<Real> a) override {
    context_.backend.copy_transposed(panel.factors.block(0, panel.l11_rows(), panel.width(), panel.rows()), a);
  }

 private:
  static constexpr Index max_padding = 32;  // more than padded_panel_rows() adds

  // A rank's rows of the panel, `first` of them before it.
  struct Share {
    int row = 0;  // of the process grid
    LocalIndex panel_row;
    Index first = 0;
    Index rows = 0;
    Index message = 0;  // of another rank: its first element in the staging buffer
  };

  void copy_own_rows(const PassPlan& pass, DeviceBlock<Real> a, Panel<Real>& panel) {
    list_shares(pass);
    if (pass.in_pivot_row) {
      gathered_ = panel.operand().storage(pass.width, rows_in_all());
      panel.factors = gathered_.block(0, 0, pass.width, pass.panel_rows);
      context_.backend.copy_transposed(a, panel.factors);
    } else {
      context_.backend.wait(std::exchange(staging_free_, {}));
      downloaded_ = a.empty() ? Fence{} : context_.backend.download_transposed(a, staged(own_share()));
    }
  }

  void gather_and_factorize(const PassPlan& pass) {
    context_.backend.wait(std::exchange(pass.in_pivot_row ? staging_free_ : downloaded_, {}));
    exchange(pass, pass.in_pivot_row);
    if (!pass.in_pivot_row) return;
    for (const Share& share : shares_) {
      if (share.row == context_.position().row || share.rows == 0) continue;
      staging_free_ = context_.backend.upload(staged(share), gathered_.block(0, share.first, pass.width, share.rows));
    }
    device_->factorize(gathered_);
  }

  void download_l(const PassPlan& pass, Panel<Real>& panel) {
    own_downloaded_ = {};
    if (!pass.in_pivot_row) return;
    context_.backend.wait(std::exchange(staging_free_, {}));
    const DeviceBlock<Real> l11 = gathered_.block(0, 0, pass.width, pass.width);
    const bool as_messages = returns_messages(panel);
    downloaded_ = as_messages ? Fence{} : context_.backend.download(l11, staged_diagonal_block());
    rest_downloaded_ = {};
    for (const Share& share : shares_) {
      if (share.row == context_.position().row) continue;
      const DeviceBlock<Real> rows = gathered_.block(0, share.first, pass.width, share.rows);
      if (as_messages && rows_above() > 0) {
        downloaded_ = context_.backend.download(l11, in_message(share, 0, pass.width));
      }
      if (share.rows == 0) continue;
      rest_downloaded_ =
          context_.backend.download(rows, as_messages ? in_message(share, rows_above(), share.rows) : staged(share));
    }
    if (is_broadcast()) own_downloaded_ = context_.backend.download(panel.factors, panel.all_transposed());
  }

  void return_l(const PassPlan& pass, Panel<Real>& panel) {
    const bool as_messages = returns_messages(panel);
    if (pass.in_pivot_row) {
      std::vector<Index> rows(static_cast<std::size_t>(pass.width));
      const std::optional<Index> zero = device_->outcome(rows);
      std::transform(rows.begin(), rows.end(), panel.pivots.begin(), [this](Index row) { return global_row(row); });
      if (zero) panel.zero_pivot = global_row(*zero);
      context_.backend.wait(downloaded_);
      context_.backend.wait(rest_downloaded_);
      const auto write_header = [&](Index at) {
        write_panel_header(staging_->data() + at, panel.zero_pivot, panel.pivots);
      };
      if (as_messages) {
        for_each_exchange(pass, [&](const Share& share) { write_header(share.message); });
      } else {
        write_header(tail_);
      }
    }
    if (as_messages) {
      return_messages(pass, panel);
    } else {
      exchange(pass, !pass.in_pivot_row, {{tail_, panel_message_elements<Real>(width_, width_)}});
      if (!pass.in_pivot_row) {
        panel.unpack(staging_->data() + tail_);
        if (!panel.zero_pivot) take_share(panel);
      }
    }
    panel.pack();
    context_.backend.wait(own_downloaded_);
  }

  bool is_broadcast() const { return context_.distribution.shape.columns > 1; }

  void list_shares(const PassPlan& pass) {
    width_ = pass.width;
    shares_.clear();
    const int ranks = context_.distribution.shape.rows;
    Index message = 0;
    for (int place = 0; place < ranks; ++place) {
      const int row = (pass.pivot.row + place) % ranks;
      const PassPlan plan = plan_pass(context_.distribution, pass.pass, {row, context_.position().column});
      shares_.push_back({row, plan.panel_row, rows_in_all(), plan.panel_rows, message});
      if (place > 0) message += message_elements(shares_.back());
    }
  }
  Index rows_above() const { return std::min(width_, rows_above_panels(context_.parameters, context_.distribution)); }
  Index message_elements(const Share& share) const {
    return panel_message_elements<Real>(rows_above() + share.rows, width_);
  }
  Index rows_in_all() const { return shares_.empty() ? 0 : shares_.back().first + shares_.back().rows; }
  const Share& own_share() const {
    return *std::ranges::find_if(shares_, [this](const Share& share) { return share.row == context_.position().row; });
  }
  HostBlock<Real> staged(const Share& share) const {
    return {staging_.get(), share.first * width_, width_, share.rows, share.rows};
  }
  HostBlock<Real> staged_diagonal_block() const {
    const Index l11 = tail_ + panel_header_elements<Real>(width_);
    return {staging_.get(), l11, width_, width_, padded_panel_rows(width_)};
  }
  // Rows of L11 and of L in the share's message.
  HostBlock<Real> in_message(const Share& share, Index first, Index rows) const {
    return {staging_.get(), share.message + panel_header_elements<Real>(width_) + first, width_, rows,
            padded_panel_rows(rows_above() + share.rows)};
  }
  bool returns_messages(const Panel<Real>& panel) const { return staging_->on_device() != 0 && panel.is_on_device(); }
  GlobalIndex global_row(Index gathered) const {
    const auto after = std::ranges::find_if(shares_, [gathered](const Share& share) { return share.first > gathered; });
    const Share& share = *(after - 1);
    return context_.distribution.rows.global(share.panel_row + (gathered - share.first), share.row);
  }

  // Calls add(share) for the ranks that this one exchanges messages with: the others, or the pivot's rank, with its own
  // share.
  template <class Add>
  void for_each_exchange(const PassPlan& pass, Add add) const {
    for (const Share& share : shares_) {
      if (pass.in_pivot_row ? share.row != context_.position().row : &share == &own_share()) add(share);
    }
  }

  // Every other rank's rows, behind the ranges, between it and the pivot's rank. The ranges begin with a header.
  void exchange(const PassPlan& pass, bool receives, const std::vector<RowRange>& ranges = {}) {
    TransferRound round;
    for_each_exchange(pass, [&](const Share& share) {
      std::vector<RowRange> all = ranges;
      if (share.rows > 0) all.push_back({share.first * width_, share.rows * width_});
      if (!all.empty()) round.push_back({pass.in_pivot_row ? share.row : pass.pivot.row, receives, std::move(all)});
    });
    const Index header = ranges.empty() ? 0 : panel_header_elements<Real>(width_);
    run(pass, std::move(round), staging_->data(), {staging_->on_device(), header});
  }

  // The messages of the other ranks, into their panels.
  void return_messages(const PassPlan& pass, Panel<Real>& panel) {
    TransferRound round;
    for_each_exchange(pass, [&](const Share& share) {
      const RowRange range{pass.in_pivot_row ? share.message : 0, message_elements(share)};
      round.push_back({pass.in_pivot_row ? share.row : pass.pivot.row, !pass.in_pivot_row, {range}});
    });
    if (pass.in_pivot_row) {
      run(pass, std::move(round), staging_->data(), {staging_->on_device(), panel_header_elements<Real>(width_)});
    } else {
      run(pass, std::move(round), panel.message().data(), panel.place());
      panel.unpack();
    }
  }

  void run(const PassPlan& pass, TransferRound round, Real* buffer, MessagePlace on_device) {
    if (round.empty()) return;
    RowExchangePlan plan;
    plan.rounds.push_back(std::move(round));
    const auto transfer = context_.transport.start_exchange(MessageKind::panel, pass, plan, 1, buffer, on_device);
    if (transfer) transfer->wait();
  }

  // Into the operand, and the message of the broadcast.
  void take_share(Panel<Real>& panel) {
    panel.factors = panel.operand().storage(width_, panel.l11_rows() + panel.rows());
    if (panel.l11_rows() > 0) {
      staging_free_ = context_.backend.upload(staged_diagonal_block(), panel.factors.block(0, 0, width_, width_));
    }
    if (panel.rows() > 0) {
      staging_free_ =
          context_.backend.upload(staged(own_share()), panel.factors.block(0, panel.l11_rows(), width_, panel.rows()));
    }
    // L11 included: gaps between the rows of a host block may be overwritten
    if (is_broadcast()) own_downloaded_ = context_.backend.download(panel.factors, panel.all_transposed());
  }

  RankContext<Real> context_;
  std::unique_ptr<DevicePanel<Real>> device_;
  Index tail_;  // of the staging buffer: its first element
  std::unique_ptr<HostBuffer<Real>> staging_;
  Index width_ = 0;
  std::vector<Share> shares_;   // by distance from the pivot's rank, downwards and cyclic
  DeviceBlock<Real> gathered_;  // the panel, transposed
  Fence downloaded_, rest_downloaded_, own_downloaded_;
  Fence staging_free_;  // until then the device may still read the staging buffer
};

}  // namespace glinpack
