// Faults for tests: one bit of one number flips, in memory of the device or of the host, or in a message.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>

#include "lu/factorize.hpp"
#include "lu/panel/panel.hpp"
#include "mpi/mpi_transport.hpp"

namespace glinpack::test {

/// Where a bit flips.
enum class FlipPlace {
  a_before_update,  // an element of the trailing matrix, in memory of the device
  a_after_update,
  a_between_passes,
  u12,            // the operand of the update, in memory of the device
  l21,            // likewise
  solved_u12,     // what the U12 solve has written
  panel,          // the panel in memory of the host, before its factorisation
  panel_message,  // L as another rank has received it
  rows_message,   // rows to be exchanged, in memory of the host
  stored_l,       // in the matrix, after the pass that computed it
  stored_u,
  solution,  // what the backward substitution has computed of a block
};
/// Those of a factorisation.
inline constexpr std::array all_flip_places{FlipPlace::a_before_update,
                                            FlipPlace::a_after_update,
                                            FlipPlace::a_between_passes,
                                            FlipPlace::u12,
                                            FlipPlace::l21,
                                            FlipPlace::solved_u12,
                                            FlipPlace::panel,
                                            FlipPlace::panel_message,
                                            FlipPlace::rows_message,
                                            FlipPlace::stored_l,
                                            FlipPlace::stored_u};
inline std::string_view name_of(FlipPlace place) {
  constexpr std::array<std::string_view, 12> names{
      "A before an update", "A after an update", "A between passes", "U12, operand", "L21, operand", "U12, solved",
      "panel, host",        "L, message",        "rows, message",    "L, as stored", "U, as stored", "solution"};
  return names[static_cast<std::size_t>(place)];
}

/// Flips a bit of an element of the first block offered at its place from a pass on, if its rank is this one; or of
/// every such block: of the largest of 32 elements, chosen at random. A flip in the mantissa is in proportion
/// to its element, the bound is not.
template <class Real>
class BitFlip {
 public:
  BitFlip(Backend<Real>& backend, FlipPlace place, int bit, Index pass, std::uint64_t seed)
      : backend_(backend), place_(place), bit_(bit), pass_(pass), random_(seed), one_(backend.allocate_host(1)) {}

  /// Disarmed on other ranks.
  void disarm() { armed_ = false; }
  void repeat() { repeats_ = true; }
  bool is_done() const { return done_; }
  void enter(Index pass) { now_ = pass; }

  void offer(FlipPlace place, DeviceBlock<Real> block) {
    if (!is_wanted(place) || block.empty()) return;
    DeviceBlock<Real> chosen;
    Real largest = 0;
    for (int i = 0; i < candidates; ++i) {
      const auto row = static_cast<Index>(random_() % static_cast<std::uint64_t>(block.rows));
      const auto column = static_cast<Index>(random_() % static_cast<std::uint64_t>(block.columns));
      const DeviceBlock<Real> element = block.block(row, column, 1, 1);
      backend_.wait(backend_.download(element, on_host()));
      choose(*one_->data(), element, largest, chosen);
    }
    if (chosen.empty()) return;
    *one_->data() = flipped(largest);
    backend_.wait(backend_.upload(on_host(), chosen));
  }
  void offer(FlipPlace place, RowMajorView<Real> view) {
    if (!is_wanted(place) || view.rows == 0 || view.columns == 0) return;
    Real* chosen = nullptr;
    Real largest = 0;
    for (int i = 0; i < candidates; ++i) {
      Real& element = view(static_cast<Index>(random_() % static_cast<std::uint64_t>(view.rows)),
                           static_cast<Index>(random_() % static_cast<std::uint64_t>(view.columns)));
      choose(element, &element, largest, chosen);
    }
    if (chosen != nullptr) *chosen = flipped(largest);
  }

 private:
  static constexpr int candidates = 32;

  bool is_wanted(FlipPlace place) const { return armed_ && (!done_ || repeats_) && place == place_ && now_ >= pass_; }
  HostBlock<Real> on_host() const { return {one_.get(), 0, 1, 1, 1}; }
  template <class Place>
  static void choose(Real value, const Place& at, Real& largest, Place& chosen) {
    if (std::fabs(value) <= std::fabs(largest)) return;
    largest = value;
    chosen = at;
  }
  Real flipped(Real value) {
    using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
    done_ = true;
    return std::bit_cast<Real>(std::bit_cast<Bits>(value) ^ (Bits{1} << bit_));
  }

  Backend<Real>& backend_;
  FlipPlace place_;
  int bit_;
  Index pass_;
  std::mt19937_64 random_;
  std::unique_ptr<HostBuffer<Real>> one_;
  Index now_ = 0;
  bool armed_ = true;
  bool repeats_ = false;
  bool done_ = false;
};

/// Another backend, with faults in elements of A and b, not in their checksums: only those change the result. `a`: the
/// matrix; null: the first one that is allocated, in passes of the timeline. `data_columns`: of A and b.
template <class Real>
class FaultyBackend final : public Backend<Real> {
 public:
  FaultyBackend(Backend<Real>& inner, Timeline& timeline, BitFlip<Real>& flip, const DeviceMatrix<Real>* a,
                Index data_columns)
      : Backend<Real>(timeline, inner.info(), {std::shared_ptr<void>(), &inner.panel()}),
        inner_(inner),
        passes_(a == nullptr ? &timeline : nullptr),
        flip_(flip),
        a_(a),
        data_columns_(data_columns) {}

  std::unique_ptr<DeviceTournamentPanel<Real>> make_tournament_panel(Index rows, Index columns,
                                                                     DeviceUse use) override {
    return inner_.make_tournament_panel(rows, columns, use);
  }
  std::unique_ptr<DevicePanel<Real>> make_partial_panel(Index rows, Index columns, DeviceUse use) override {
    return inner_.make_partial_panel(rows, columns, use);
  }
  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    auto matrix = inner_.allocate(rows, columns);
    if (a_ == nullptr) a_ = matrix.get();
    return matrix;
  }
  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override { return inner_.allocate_host(elements); }
  std::unique_ptr<Operand<Real>> make_operand(Index rows, Index columns) override {
    return inner_.make_operand(rows, columns);
  }
  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override { return inner_.upload(from, to); }
  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override { return inner_.download(from, to); }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override {
    const Fence fence = inner_.download_transposed(from, to);
    inner_.wait(fence);
    flip_.offer(FlipPlace::panel, to.view());
    return fence;
  }
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override { inner_.copy_transposed(from, to); }
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override { inner_.copy(from, to); }
  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override {
    const Fence fence = inner_.gather_rows(from, rows, to);
    inner_.wait(fence);
    flip_.offer(FlipPlace::rows_message, to.block(0, 0, to.rows, data_columns_of(from)).view());
    return fence;
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override {
    return inner_.scatter_rows(from, rows, to);
  }
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override { inner_.move_rows(block, moves); }
  void reserve_moves(Index moves, Index columns) override { inner_.reserve_moves(moves, columns); }
  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    inner_.solve_unit_lower(l11_transposed, a12);
    // elsewhere than in A, the last columns may be checksums
    const Index columns = a12.matrix == a_ ? data_columns_of(a12) : a12.columns - checksum_columns;
    flip_.offer(FlipPlace::solved_u12, a12.block(0, 0, a12.rows, columns));
  }
  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.matrix != a_) return inner_.update(l21_transposed, u12, a22);  // of the checks
    if (passes_ != nullptr) flip_.enter(passes_->pass());
    const Index columns = data_columns_of(a22);
    flip_.offer(FlipPlace::a_before_update, a22.block(0, 0, a22.rows, columns));
    flip_.offer(FlipPlace::u12, u12.block(0, 0, u12.rows, columns));
    if (columns > 0) flip_.offer(FlipPlace::l21, l21_transposed);
    inner_.update(l21_transposed, u12, a22);
    flip_.offer(FlipPlace::a_after_update, a22.block(0, 0, a22.rows, columns));
  }
  void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) override {
    inner_.solve_triangle(triangle, t, x);
    if (triangle == Triangle::upper) flip_.offer(FlipPlace::solution, x);
  }
  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    inner_.subtract_product(a, x, y);
  }
  Fence fence() override { return inner_.fence(); }
  void wait(Fence fence) override { inner_.wait(fence); }
  void collect_timings() override { inner_.collect_timings(); }

 private:
  // The first of a block of A.
  Index data_columns_of(const DeviceBlock<Real>& block) const {
    return std::clamp<Index>(data_columns_ - block.column, 0, block.columns);
  }

  Backend<Real>& inner_;
  const Timeline* passes_;  // null: an observer of passes calls enter()
  BitFlip<Real>& flip_;
  const DeviceMatrix<Real>* a_;
  Index data_columns_;
};

/// MPI with a fault in what this rank receives of a panel.
template <class Real>
class FaultyTransport final : public MpiTransport<Real> {
 public:
  FaultyTransport(const ProcessGrid& grid, BroadcastKind broadcast, Timeline& timeline, BitFlip<Real>& flip)
      : MpiTransport<Real>(grid, broadcast, timeline), flip_(flip) {}

  std::unique_ptr<Transfer> start_broadcast(MessageKind kind, const PassPlan& pass, std::span<Real> message,
                                            Index column, MessagePlace on_device) override {
    auto transfer = MpiTransport<Real>::start_broadcast(kind, pass, message, column, on_device);
    if (kind != MessageKind::panel || pass.in_pivot_column || pass.panel_rows == 0) return transfer;
    // of the last column of the panel, below its header and any padding between columns
    const std::span<Real> rows = message.last(static_cast<std::size_t>(padded_panel_rows(pass.panel_rows)))
                                     .first(static_cast<std::size_t>(pass.panel_rows));
    return std::make_unique<Arrival>(std::move(transfer), flip_, rows);
  }

 private:
  class Arrival final : public Transfer {
   public:
    Arrival(std::unique_ptr<Transfer> transfer, BitFlip<Real>& flip, std::span<Real> rows)
        : transfer_(std::move(transfer)), flip_(flip), rows_(rows) {}
    bool test() override { return transfer_->test(); }
    void wait_until_arrived() override {
      transfer_->wait();  // it must not be forwarded with the fault
      const auto count = static_cast<Index>(rows_.size());
      flip_.offer(FlipPlace::panel_message, RowMajorView<Real>{rows_.data(), 1, count, count});
    }
    void wait() override { transfer_->wait(); }

   private:
    std::unique_ptr<Transfer> transfer_;
    BitFlip<Real>& flip_;
    std::span<Real> rows_;
  };

  BitFlip<Real>& flip_;
};

/// Faults in the matrix between passes.
template <class Real>
class FaultyPasses final : public PassObserver {
 public:
  FaultyPasses(BitFlip<Real>& flip, DeviceMatrix<Real>& a, Index data_columns)
      : flip_(flip), a_(a), columns_(data_columns) {}
  NextPass before(const PassPlan& pass) override {
    flip_.enter(pass.pass);
    return NextPass::run;
  }
  void after(const PassPlan& pass) override {
    const Index below = pass.trailing_row.value, behind = pass.trailing_column.value;
    // not the next panel's columns, which may be factors already
    const Index skipped = std::min(behind + pass.width, columns_);
    flip_.offer(FlipPlace::a_between_passes, {&a_, below, skipped, a_.rows() - below, columns_ - skipped});
    if (pass.in_pivot_column) {
      flip_.offer(FlipPlace::stored_l, {&a_, below, pass.panel_column.value, a_.rows() - below, pass.width});
    }
    if (pass.in_pivot_row) {
      flip_.offer(FlipPlace::stored_u, {&a_, pass.panel_row.value, behind, pass.width, columns_ - behind});
    }
  }

 private:
  BitFlip<Real>& flip_;
  DeviceMatrix<Real>& a_;
  Index columns_;
};

}  // namespace glinpack::test
