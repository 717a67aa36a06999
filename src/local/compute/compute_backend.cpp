#include "compute/compute_backend.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_count.hpp"
#include "compute/ceilings.hpp"
#include "compute/compute_panel.hpp"
#include "compute/copy_queue.hpp"
#include "compute/device_backend.hpp"
#include "kernels/compute_memory.hpp"
#include "kernels/kernels.hpp"
#include "kernels/tuning.hpp"

namespace glinpack {
namespace compute {
namespace {

template <class Real>
class ComputeBackend final : public DeviceBackend<Real>, public ComputePrograms {
 public:
  ComputeBackend(std::shared_ptr<ComputeDevice> opened, std::string_view name, const BackendOptions& options,
                 Timeline& timeline, const ComputeLimits& limits)
      : DeviceBackend<Real>(std::move(opened), name, options, timeline, OperationClock::Source::host),
        is_tested_as_gpu_(limits.queued_bytes > 0),
        is_validated_(options.debug),
        queued_bytes_(limits.queued_bytes > 0 ? limits.queued_bytes : min_queued_bytes),
        stripe_width_(limits.stripe_width),
        buffer_bytes_(limits.buffer_bytes),
        rows_per_group_(limits.rows_per_group),
        partial_panel_limits_(limits.partial_panel),
        sources_(options.value("shader-dir"), "compute/"),
        kernels_(device(), sources_, precision_of<Real>,
                 limits.window_bytes > 0 ? limits.window_bytes : device()->description().storage_block, stripe_width_,
                 chosen_tile(options.value("tile"), device()->description(), precision_of<Real>)) {
    make_products(options, limits.inverse_elements);
    if (is_tested_as_gpu_) kernels_.set_strip(sources_, 1);
    this->info_.asynchronous |= is_tested_as_gpu_;
    if (!this->info_.asynchronous) return;
    try {
      copies_.emplace(device(), timeline);
    } catch (const std::runtime_error&) {
      // the driver has no second queue: kernels make all transfers, in order
    }
  }

  std::unique_ptr<DeviceTournamentPanel<Real>> make_tournament_panel(Index rows, Index columns,
                                                                     DeviceUse use) override {
    if (!can_factorize(rows, columns, use)) return nullptr;
    begin();
    fences().note_commands();
    return std::make_unique<TournamentPanel>(*this, rows, columns);
  }
  std::unique_ptr<DevicePanel<Real>> make_partial_panel(Index rows, Index columns, DeviceUse use) override {
    if (!can_factorize(rows, columns, use)) return nullptr;
    begin();
    fences().note_commands();
    if (!partial_panel_programs_) {
      partial_panel_programs_.emplace(sources_, precision_of<Real>, kernels_, partial_panel_limits_);
    }
    auto panel = PartialPanel::make(*partial_panel_programs_, rows, columns);
    return panel ? std::make_unique<OneDispatchPanel>(*this, std::move(panel)) : nullptr;
  }

  std::unique_ptr<DeviceMatrix<Real>> allocate(Index rows, Index columns) override {
    begin();
    fences().note_commands();
    count(rows, columns);
    packed_ = nullptr;  // a new matrix may have an old one's address
    return std::make_unique<ComputeMatrix<Real>>(*device(), rows, columns, stripe_width_, buffer_bytes_);
  }

  std::unique_ptr<HostBuffer<Real>> allocate_host(Index elements) override {
    begin();
    MemoryCount::add_host(bytes_of(elements));
    const bool overlaps = copies_ && bytes_of(elements) >= queued_bytes_;
    return MappedBuffer<Real>::create(device(), elements, overlaps ? Twin::if_possible : Twin::none);
  }
  PeerMemory* open_peers() override { return device()->open_peers(); }
  std::unique_ptr<HostBuffer<Real>> allocate_message(Index elements) override {
    begin();
    MemoryCount::add_host(bytes_of(elements));
    MemoryCount::add_device(bytes_of(elements));
    return MappedBuffer<Real>::create(device(), elements, Twin::message);
  }

  Fence upload(HostBlock<Real> from, DeviceBlock<Real> to) override {
    if (to.empty()) return {};
    begin();
    fences().poll();
    // a second thread costs time if the device is idle
    if (from.buffer->on_device() != 0) {
      operation(Phase::transfer, 0, 0, [&] { kernels_.copy(twin_region_of(from), written(to)); });
    } else if (is_queued(from) && (is_tested_as_gpu_ || !fences().all_passed())) {
      const MappedBuffer<Real>& buffer = mapped_buffer_of(from);
      copies_->upload(buffer.id(), buffer.twin(), bytes_of(from.offset), bytes_of(span_of(from)));
      operation(Phase::transfer, 0, 0, [&] { kernels_.copy(twin_region_of(from), written(to)); });
    } else {
      operation(Phase::transfer, 0, bytes_of(from), [&] { kernels_.copy(region_of(from), written(to)); });
    }
    return fences().take();
  }

  Fence download(DeviceBlock<Real> from, HostBlock<Real> to) override {
    return to_host(from, to, [&](const Region& target) { kernels_.copy(read(from), target); });
  }
  Fence download_transposed(DeviceBlock<Real> from, HostBlock<Real> to) override {
    return to_host(from, to, [&](const Region& target) { kernels_.copy_transposed(read(from), target); });
  }
  void copy_transposed(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { kernels_.copy_transposed(read(from), written(to)); });
  }
  void copy(DeviceBlock<Real> from, DeviceBlock<Real> to) override {
    if (from.empty()) return;
    operation(Phase::transfer, 0, 0, [&] { kernels_.copy(read(from), written(to)); });
  }

  Fence gather_rows(DeviceBlock<Real> from, std::span<const Index> rows, HostBlock<Real> to) override {
    if (rows.empty() || from.empty()) return {};
    check_rows(rows, from.rows);
    const std::vector<RowMove> moves = gathering(rows);
    operation(Phase::swap, 0, bytes_of(to), [&] { kernels_.copy_rows(read(from), transferred(to), moves); });
    return fences().take();
  }
  Fence scatter_rows(HostBlock<Real> from, std::span<const Index> rows, DeviceBlock<Real> to) override {
    if (rows.empty() || to.empty()) return {};
    check_rows(rows, to.rows);
    std::vector<RowMove> moves;
    for (const Index row : rows) moves.push_back({static_cast<Index>(moves.size()), row});
    operation(Phase::swap, 0, bytes_of(from), [&] { kernels_.copy_rows(transferred(from), written(to), moves); });
    return fences().take();
  }
  void move_rows(DeviceBlock<Real> block, std::span<const RowMove> moves) override {
    if (block.empty()) return;
    const std::vector<RowMove> real = this->moves_that_change(moves, block.rows);
    if (real.empty()) return;
    operation(Phase::swap, 0, 0, [&] {
      const Region region = written(block);
      if (kernels_.move_rows(region, real)) return;
      std::vector<RowMove> out, back;
      for (const RowMove& move : real) {
        const Index slot = static_cast<Index>(out.size());
        out.push_back({move.from, slot});
        back.push_back({slot, move.to});
      }
      const Region rows = scratch(static_cast<Index>(out.size()), block.columns);
      kernels_.copy_rows(region, rows, out);
      kernels_.copy_rows(rows, region, back);
    });
  }

  void reserve_moves(Index moves, Index columns) override {
    device()->make_current();
    scratch(moves, columns);
  }

  void reserve_update(Index depth, Index rows, Index columns) override {
    if (!products_ || rows == 0 || columns == 0) return;
    begin();
    fences().note_commands();
    products_->reserve(depth, rows, columns);
  }

  void solve_unit_lower(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12) override {
    if (a12.empty()) return;
    operation(Phase::normalize, solve_unit_lower_flops(a12.rows, a12.columns), 0,
              [&] { solve_u12(read(l11_transposed), written(a12)); });
  }
  // The two overlap unless U12 is a product: the solve has too few work groups to fill the device, and the copy waits
  // for the bus. A timestamp between them would prevent that, so both are in the solve's interval.
  Fence solve_unit_lower_and_gather(DeviceBlock<Real> l11_transposed, DeviceBlock<Real> a12, DeviceBlock<Real> from,
                                    std::span<const Index> rows, HostBlock<Real> to) override {
    if (a12.empty() || rows.empty() || from.empty()) {
      return Arithmetic<Real>::solve_unit_lower_and_gather(l11_transposed, a12, from, rows, to);
    }
    check_rows(rows, from.rows);
    const std::vector<RowMove> moves = gathering(rows);
    operation(Phase::normalize, solve_unit_lower_flops(a12.rows, a12.columns), 0, [&] {
      // Vulkan's validation layer does not distinguish the columns that the copy reads from those of the solve
      solve_u12(read(l11_transposed), written(a12), is_validated_);
      kernels_.copy_rows(read(from), transferred(to), moves);
    });
    return fences().take();
  }

  void update(DeviceBlock<Real> l21_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    if (a22.empty() || u12.empty()) return;
    const double flops = product_flops(a22.rows, a22.columns, u12.rows);
    constexpr Index few_rows = 2;
    if (l21_transposed.matrix->columns() <= few_rows) {  // as of checksums: takes as long as U12 takes to be read
      operation(Phase::reduce, flops, 0,
                [&] { kernels_.update_few_rows(read(l21_transposed), read(u12), written(a22)); });
      return;
    }
    if (running_panel_ != nullptr && running_panel_ != l21_transposed.matrix && running_panel_ != u12.matrix &&
        running_panel_ != a22.matrix) {
      begin();
      // Overlaps the panel, which was dispatched first. Dispatched second, a panel starts after the update.
      multiply(l21_transposed, u12, a22);
      this->clock().finish_other(Phase::reduce, flops);
      running_panel_ = nullptr;
    } else {
      operation(Phase::reduce, flops, 0, [&] { multiply(l21_transposed, u12, a22); });
    }
    fences().take();    // polls whether the device has caught up
    device()->flush();  // start the device before the host waits for the network
  }

  void solve_triangle(Triangle triangle, DeviceBlock<Real> t, DeviceBlock<Real> x) override {
    if (x.empty()) return;
    operation(Phase::substitution, solve_triangle_flops(triangle, x.rows, x.columns), 0,
              [&] { kernels_.solve_triangle(triangle, read(t), written(x)); });
  }
  void subtract_product(DeviceBlock<Real> a, DeviceBlock<Real> x, DeviceBlock<Real> y) override {
    if (a.empty()) return;
    operation(Phase::substitution, substitute_flops(a.rows, a.columns), 0,
              [&] { kernels_.substitute(read(a), read(x), written(y)); });
  }

  ComputeDevice& device_of_programs() const override { return *device(); }
  const ShaderSource& sources_of_programs() const override { return sources_; }
  const Kernels& kernels_of_programs() const override { return kernels_; }
  void run(const std::function<void()>& commands) override {
    packed_ = nullptr;
    hold_kernels_for_panel();
    operation(Phase::reduce, 0, 0, commands);
  }

  Fence fence() override {
    begin();
    if (copies_) {
      copies_->hold_kernels();
      fences().note_commands();
    }
    return fences().take();
  }
  void wait(Fence fence) override {
    if (fence.queue != CopyQueue::number) return DeviceBackend<Real>::wait(fence);
    const auto scope = this->timeline().scope(Lane::cpu, Phase::wait);
    begin();
    copies_->wait(fence);
  }
  void collect_timings() override {
    DeviceBackend<Real>::collect_timings();
    if (copies_) copies_->collect();
  }

 private:
  using DeviceBackend<Real>::begin;
  using DeviceBackend<Real>::bytes_of;
  using DeviceBackend<Real>::check_rows;
  using DeviceBackend<Real>::device;
  using DeviceBackend<Real>::fences;

  /// Waits for a running panel first.
  template <class Commands>
  void operation(Phase phase, double flops, std::int64_t bytes, Commands commands) {
    finish_running_panel();
    DeviceBackend<Real>::operation(phase, flops, bytes, commands);
  }
  /// What is dispatched next sees the panel's factors.
  void finish_running_panel() {
    if (running_panel_ == nullptr) return;
    running_panel_ = nullptr;
    device()->make_current();
    hold_kernels_for_panel();
    kernels_.finish_dispatches();
    this->clock().finish_alone();
  }
  /// Later kernels wait for a panel on a queue of its own.
  void hold_kernels_for_panel() {
    if (panel_beside_ != nullptr) device()->wait_for(*panel_queue_->insert_sync());
    panel_beside_ = nullptr;
  }
  bool can_factorize(Index rows, Index columns, DeviceUse use) const {
    // the panel, A^T, must fit one window of the shaders
    const Index elements = columns * round_up(rows, stripe_width_);
    return this->is_wanted(use) && rows >= columns && elements <= kernels_.window_elements() &&
           bytes_of(elements) <= buffer_bytes_;
  }

  /// The region of a block that is to be written.
  Region written(const DeviceBlock<Real>& block) {
    if (block.matrix == packed_) packed_ = nullptr;
    return read(block);
  }
  /// The region of a block that is to be read.
  Region read(const DeviceBlock<Real>& block) {
    if (block.matrix == panel_beside_) hold_kernels_for_panel();
    return region_of(block);
  }
  void make_products(const BackendOptions& options, Index inverse_elements) {
    std::string products = options.value("products");
    if (products.starts_with(auto_products)) {
      try {
        if (has_fast_matrices()) products_ = products_named(products.substr(auto_products.size()), inverse_elements);
        if (products_ && (!products_->failure().empty() || !are_products_faster())) products_.reset();
      } catch (const std::runtime_error& error) {
        spdlog::warn("--products auto takes plain products: {}", error.what());
        products_.reset();
      }
    } else {
      products_ = products_named(products, inverse_elements);
      if (products_ && !products_->failure().empty()) spdlog::warn("{}", products_->failure());
    }
    if (!products_) return;
    products_->describe(this->info_);
    if (device()->description().kernel_queues > 1) panel_queue_ = device()->open_queue(QueueUse::kernels);
  }

  /// Null for plain ones.
  std::unique_ptr<PackedProducts<Real>> products_named(const std::string& name,
                                                       [[maybe_unused]] Index inverse_elements) {
    if constexpr (precision_of<Real> == Precision::double_) {
      const int moduli = moduli_of(name);
      return moduli == 0 ? nullptr : make_residue_products(sources_, kernels_, moduli);
    } else {
      if (name != "half" && name != "split") return nullptr;
      return make_half_products(sources_, kernels_, name == "half" ? rounded_terms : split_terms, inverse_elements);
    }
  }
  /// For --products auto: whether the device has matrices for them, and no fast double precision of its own.
  bool has_fast_matrices() {
    const DeviceDescription& description = device()->description();
    if (description.software) return false;
    if (precision_of<Real> == Precision::single) return description.half_matrices.exists();
    if (!description.int8_matrices.exists()) return false;
    constexpr double fast = 0.25;
    const auto rate = [&](Precision precision) {
      return measure_device_fma(device(), sources_, precision, {.repeat = 1, .seconds = 0.01}).median;
    };
    const double part = rate(Precision::double_) / rate(Precision::single);
    spdlog::debug("--products auto: double precision is {:.3f} times as fast as single", part);
    return part < fast;
  }

  /// For --products auto: whether an update by products_ takes clearly less time than one in the device's own
  /// precision.
  bool are_products_faster() {
    constexpr Index order = 8192, depth = 512;
    constexpr double clearly = 0.9;
    constexpr int rounds = 2;  // in turn: an idle GPU raises its clock while it works
    device()->make_current();
    const ComputeMatrix<Real> l(*device(), depth, order, stripe_width_), u(*device(), depth, order, stripe_width_),
        c(*device(), order, order, stripe_width_);
    const auto seconds = [&](const auto& update) {
      const auto updates = [&](std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) update();
        device()->finish();
      };
      return measured_seconds({.repeat = 3, .seconds = 0.01}, updates).median;
    };
    double own = std::numeric_limits<double>::infinity(), other = own;
    for (int round = 0; round < rounds; ++round) {
      own = std::min(own, seconds([&] { kernels_.update(l.region(), u.region(), c.region()); }));
      other = std::min(other, seconds([&] { products_->update(l.region(), u.region(), c.region(), false); }));
    }
    spdlog::debug("--products auto: an update takes {:.3f} ms, {:.3f} in the device's own precision", 1e3 * other,
                  1e3 * own);
    return other < clearly * own;
  }

  void multiply(const DeviceBlock<Real>& l21_transposed, const DeviceBlock<Real>& u12, const DeviceBlock<Real>& a22) {
    const Region l21 = read(l21_transposed), u = read(u12), a = written(a22);
    if (products_) {
      const bool is_kept = packed_ == l21_transposed.matrix && l21.buffer == packed_region_.buffer &&
                           l21.first == packed_region_.first && l21.column == packed_region_.column &&
                           l21.rows == packed_region_.rows && l21.columns == packed_region_.columns;
      packed_ = l21_transposed.matrix;
      packed_region_ = l21;
      if (products_->update(l21, u, a, is_kept)) return;
      packed_ = nullptr;
    }
    kernels_.update(l21, u, a);
  }

  void solve_u12(const Region& l11_transposed, const Region& a12, bool finish = true) {
    if (!products_ || !products_->solve_unit_lower(l11_transposed, a12)) {
      kernels_.solve_u12(l11_transposed, a12, finish);
    }
  }

  static double panel_flops(const DeviceBlock<Real>& a_transposed) {
    return lu_flops(a_transposed.columns, a_transposed.rows);
  }
  static std::vector<RowMove> gathering(std::span<const Index> rows) {
    std::vector<RowMove> moves;
    for (const Index row : rows) moves.push_back({row, static_cast<Index>(moves.size())});
    return moves;
  }
  static std::int64_t bytes_of(Index elements) { return elements * static_cast<std::int64_t>(sizeof(Real)); }
  /// Number of elements from the first to the last of the block, including the gaps between rows.
  static Index span_of(const HostBlock<Real>& block) {
    return (block.rows - 1) * block.leading_dimension + block.columns;
  }
  /// Where kernels read and write the block.
  static Region transferred(const HostBlock<Real>& block) {
    return block.buffer->on_device() != 0 ? twin_region_of(block) : region_of(block);
  }
  /// Whether its transfer overlaps kernels. Such a transfer includes the padding between rows.
  bool is_queued(const HostBlock<Real>& block) const {
    const bool nothing_between = block.rows == 1 || block.leading_dimension - block.columns <= HostBlock<Real>::padding;
    return copies_ && nothing_between && bytes_of(block) >= queued_bytes_ && mapped_buffer_of(block).has_twin();
  }
  /// copy(region) writes the device's elements to the region.
  template <class Copy>
  Fence to_host(const DeviceBlock<Real>& from, const HostBlock<Real>& to, Copy copy) {
    if (from.empty()) return {};
    if (to.buffer->on_device() != 0 || !is_queued(to)) {
      operation(Phase::transfer, 0, bytes_of(to), [&] { copy(transferred(to)); });
      return fences().take();
    }
    operation(Phase::transfer, 0, 0, [&] { copy(twin_region_of(to)); });
    const MappedBuffer<Real>& buffer = mapped_buffer_of(to);
    return copies_->download(buffer.twin(), buffer.id(), bytes_of(to.offset), bytes_of(span_of(to)));
  }

  /// Device memory for rows x columns; reused by later calls.
  Region scratch(Index rows, Index columns) {
    if (!scratch_ || scratch_->rows() < rows || scratch_->columns() < columns) {
      const Index kept_rows = scratch_ ? scratch_->rows() : 0, kept_columns = scratch_ ? scratch_->columns() : 0;
      scratch_.reset();
      count(std::max(rows, kept_rows), std::max(columns, kept_columns));
      scratch_ = std::make_unique<ComputeMatrix<Real>>(*device(), std::max(rows, kept_rows),
                                                       std::max(columns, kept_columns), stripe_width_);
    }
    return scratch_->region().block(0, 0, rows, columns);
  }

  void count(Index rows, Index columns) const {
    MemoryCount::add_device(
        bytes_of(stripes_of(columns, stripe_width_) * elements_of_stripe(rows, columns, stripe_width_)));
  }

  class TournamentPanel;
  class OneDispatchPanel;

  bool is_tested_as_gpu_;
  bool is_validated_;
  std::int64_t queued_bytes_;
  std::optional<CopyQueue> copies_;  // none on a software device, except in tests
  Index stripe_width_;
  std::int64_t buffer_bytes_;
  Index rows_per_group_;
  PartialPanelLimits partial_panel_limits_;
  std::shared_ptr<ComputeDevice> panel_queue_;   // if the barriers of products would wait for a panel, else null
  DeviceMatrix<Real>* running_panel_ = nullptr;  // the matrix of a panel without a barrier after its dispatch
  DeviceMatrix<Real>* panel_beside_ = nullptr;   // of a panel on its own queue that kernels have not waited for
  ShaderSource sources_;
  Kernels kernels_;
  std::unique_ptr<PackedProducts<Real>> products_;  // null: they are plain
  DeviceMatrix<Real>* packed_ = nullptr;            // of the L21 that products_ has packed, unless it was written since
  Region packed_region_;
  std::optional<PartialPanelPrograms> partial_panel_programs_;  // once a panel was made
  std::unique_ptr<ComputeMatrix<Real>> scratch_;
};

template <class Real>
class ComputeBackend<Real>::TournamentPanel final : public DeviceTournamentPanel<Real> {
 public:
  TournamentPanel(ComputeBackend& backend, Index rows, Index columns)
      : backend_(backend),
        upper_(*backend.device(), ComputePanel::group, columns, backend.stripe_width_),
        panel_(backend.sources_, precision_of<Real>, backend.kernels_, rows, columns, backend.rows_per_group_,
               upper_.region()) {}

  void factorize(DeviceBlock<Real> a_transposed) override {
    backend_.operation(Phase::panel, panel_flops(a_transposed), 0,
                       [&] { panel_.factorize(backend_.written(a_transposed)); });
    done_ = backend_.fences().take();
  }
  std::optional<Index> outcome(std::span<Index> pivots) override {
    backend_.wait(done_);
    return panel_.outcome(pivots);
  }
  void solve_l21_and_update(DeviceBlock<Real> a_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) override {
    const Index columns = a_transposed.rows, rows = a_transposed.columns - columns;
    const auto flops = static_cast<double>(rows * columns * (columns + 2 * a22.columns));
    backend_.operation(Phase::panel, flops, 0, [&] {
      panel_.solve_l21_and_update(backend_.written(a_transposed), a22.empty() ? Region{} : backend_.written(u12),
                                  a22.empty() ? Region{} : backend_.written(a22));
    });
  }

 private:
  ComputeBackend& backend_;
  ComputeMatrix<Real> upper_;
  ComputePanel panel_;
  Fence done_;
};

// Partial pivoting in one dispatch, which the next update overlaps.
template <class Real>
class ComputeBackend<Real>::OneDispatchPanel final : public DevicePanel<Real> {
 public:
  OneDispatchPanel(ComputeBackend& backend, std::unique_ptr<PartialPanel> panel)
      : backend_(backend), panel_(std::move(panel)) {}

  void factorize(DeviceBlock<Real> a_transposed) override {
    backend_.finish_running_panel();
    backend_.begin();
    backend_.clock().start_overlapped(Phase::panel, panel_flops(a_transposed));
    ComputeDevice* const own = backend_.panel_queue_.get();
    if (own != nullptr) own->wait_for(*backend_.device()->insert_sync());
    panel_->factorize(own != nullptr ? *own : *backend_.device(), backend_.written(a_transposed));
    if (own != nullptr) {
      own->flush();
      backend_.panel_beside_ = a_transposed.matrix;
    }
    backend_.running_panel_ = a_transposed.matrix;
    // a software device has no time to share
    if (!backend_.info_.asynchronous) backend_.finish_running_panel();
  }

  // The pivots arrive in host memory while the device updates. A fence would pass after the update only.
  std::optional<Index> outcome(std::span<Index> pivots) override {
    backend_.finish_running_panel();
    backend_.begin();
    {
      const auto scope = backend_.timeline().scope(Lane::cpu, Phase::wait);
      backend_.hold_kernels_for_panel();
      backend_.device()->barrier(Readers::host);
      backend_.fences().note_commands();
      const Fence all = backend_.fences().take();
      backend_.device()->flush();
      while (!panel_->has_outcome() && !backend_.fences().passed(all)) backend_.fences().poll();
    }
    backend_.clock().end_overlapped();
    backend_.device()->throw_error("the device reports a failed operation");
    return panel_->outcome(pivots);
  }

 private:
  ComputeBackend& backend_;
  std::unique_ptr<PartialPanel> panel_;
};

}  // namespace
}  // namespace compute

template <class Real>
std::unique_ptr<Backend<Real>> make_compute_backend(std::shared_ptr<ComputeDevice> device, std::string_view name,
                                                    const BackendOptions& options, Timeline& timeline,
                                                    const ComputeLimits& limits) {
  const DeviceDescription checked = for_precision(device->description(), precision_of<Real>);
  if (!checked.usable) throw std::runtime_error(checked.renderer + ": " + checked.why_unusable);
  return std::make_unique<compute::ComputeBackend<Real>>(std::move(device), name, options, timeline, limits);
}

template std::unique_ptr<Backend<float>> make_compute_backend(std::shared_ptr<ComputeDevice>, std::string_view,
                                                              const BackendOptions&, Timeline&, const ComputeLimits&);
template std::unique_ptr<Backend<double>> make_compute_backend(std::shared_ptr<ComputeDevice>, std::string_view,
                                                               const BackendOptions&, Timeline&, const ComputeLimits&);

}  // namespace glinpack
